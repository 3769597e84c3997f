//! The costs of the engine's decisions, against those bars of `docs/performance.md` that need no other crate.
//!
//! `cargo bench -p portcullis-engine --bench decisions -- [GROUP]… [--json FILE]`. Alternatives of one run are timed in turns, as
//! CPU time of the thread. A missed bar is reported; a wrong decision ends the run.

mod batch;
mod during;
mod items;
mod matrix;
mod memory;
mod named;
mod ours;
mod policies;
mod references;
mod rules;
mod search;
mod text;

use portcullis_workloads::report::Report;

fn main() -> anyhow::Result<()> {
    let mut report = Report::from_args(std::env::args())?;
    report.group("1 w1 w2", rules::against_the_limit)?;
    report.group("2 flat", rules::flat)?;
    report.group("3 w3", policies::w3)?;
    report.group("4 w4", policies::w4)?;
    report.group("5 w5", text::w5)?;
    report.group("7 memory", memory::memory)?;
    report.group("8 during", during::windows)?;
    report.group("9 matrix", matrix::matrix)?;
    report.group("10 search", search::search)?;
    report.group("11 batch", batch::batch)?;
    report.group("12 items", items::items)?;
    report.group("13 references", references::references)?;
    report.group("14 names", named::named)?;
    report.finish()
}
