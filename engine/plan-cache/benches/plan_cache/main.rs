//! The costs of the plan cache, against the bars of `docs/performance.md`.
//!
//! `cargo bench -p portcullis-plan-cache --bench plan_cache -- [GROUP]… [--json FILE]`. Alternatives of one run are
//! timed in turns, as CPU time of the thread. A missed bar is reported; a wrong decision ends the run.

mod cache;
mod change;
mod lookup;
mod lookups;
#[expect(dead_code, reason = "the benchmark of decisions uses the rest")]
#[path = "../../../benches/decisions/ours.rs"]
mod ours;

use portcullis_workloads::report::Report;

fn main() -> anyhow::Result<()> {
    let mut report = Report::from_args(std::env::args())?;
    report.group("6 change", change::change)?;
    report.group("8 lookup", lookup::lookup)?;
    report.group("11 cache", cache::cache)?;
    report.finish()
}
