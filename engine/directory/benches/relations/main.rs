//! The costs of relations: checks, shapes, lists, memory, writes.
//!
//! `cargo bench -p portcullis-directory --bench relations -- [GROUP]… [--json FILE]`.

mod checks;
mod drive;
mod hostile;
mod lists;
mod shapes;
mod writes;

use portcullis_workloads::report::Report;

fn main() -> anyhow::Result<()> {
    let mut report = Report::from_args(std::env::args())?;
    let million = drive::drive(258_000)?;
    report.group("r5 size", |group| checks::size(&million, group))?;
    report.group("r2 check", |group| checks::checks(&million, group))?;
    report.group("r3 shapes", shapes::checks)?;
    report.group("r4 lists", |group| lists::lists(1_000_000, group))?;
    report.group("r6 writes", |group| writes::writes(&million, group))?;
    report.group("r7 hostile", hostile::hostile)?;
    report.finish()
}
