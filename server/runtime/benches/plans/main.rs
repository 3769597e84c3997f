//! Changes and loads of large plans, against the bars of `docs/performance.md`.
//!
//! `cargo bench -p portcullis-runtime --bench plans -- [GROUP]… [--json FILE]`. Each time is wall time of one check
//! from the store to the decision. A missed bar is reported; a wrong decision ends the run.

#![expect(
    clippy::expect_used,
    reason = "a measurement whose input cannot be made fails by a panic"
)]

mod large;
mod many;
mod named;
mod records;
mod service;
mod warm;

use portcullis_storage::testing::TestDatabase;
use portcullis_workloads::report::Report;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut report = Report::from_args(std::env::args())?;
    let databases = [("SQLite", TestDatabase::sqlite()), ("PostgreSQL", TestDatabase::postgres())];
    for (name, database) in databases {
        let Some(database) = database else { continue };
        if report.selects("large") {
            let measured = large::measure(&database).await;
            report.group("large", |group| large::report(group, name, &measured))?;
        }
        if report.selects("named") {
            let measured = named::measure(&database).await;
            report.group("named", |group| named::report(group, name, &measured))?;
        }
        if report.selects("warm") {
            let measured = warm::measure(&database).await?;
            report.group("warm", |group| warm::report(group, name, &measured))?;
        }
    }
    if report.selects("many") {
        let database = TestDatabase::sqlite().expect("a directory");
        let measured = many::measure(&database).await;
        report.group("many", |group| many::report(group, &measured))?;
    }
    report.finish()
}
