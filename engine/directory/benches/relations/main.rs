//! The costs of relations: checks, lists, memory, hostile shapes.
//!
//! `cargo bench -p portcullis-directory --bench relations -- [GROUP]… [--json FILE]`.

mod checks;
mod drive;

use portcullis_workloads::report::Report;

fn main() -> anyhow::Result<()> {
    let mut report = Report::from_args(std::env::args())?;
    let million = drive::drive(258_000)?;
    report.group("r5 size", |group| checks::size(&million, group))?;
    report.group("r2 check", |group| checks::checks(&million, group))?;
    report.finish()
}
