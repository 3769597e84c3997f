//! The costs of attribute resolvers, against bar 10 of `docs/performance.md`.
//!
//! `cargo bench -p portcullis-resolver-host --bench resolver -- [GROUP]… [--json FILE]`. All groups but `threads` run on
//! one thread, so that its CPU time is the whole cost of a call. The component is `directory` of `tests/guests`.

mod call;
mod environment;
mod loading;
mod threads;
mod unneeded;

use portcullis_workloads::report::Report;

fn main() -> anyhow::Result<()> {
    let mut report = Report::from_args(std::env::args())?;
    report.group("10 call", call::call)?;
    report.group("10 unneeded", unneeded::unneeded)?;
    report.group("threads", threads::threads)?;
    report.group("load", loading::load)?;
    report.group("memory", loading::memory)?;
    report.finish()
}
