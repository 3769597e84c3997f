//! The costs of attribute resolvers, against bar 10 of `docs/performance.md`.
//!
//! `cargo bench -p portcullis-resolver-host --bench resolver -- [GROUP]… [--json FILE]`. A call runs on one thread, so that
//! its CPU time is the whole cost of the call. The component is `directory` of `tests/guests`.

mod call;
mod environment;
mod loading;
#[path = "../../tests/resolvers/no_endpoints.rs"]
mod no_endpoints;
mod threads;
mod unneeded;

use portcullis_workloads::report::Report;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // A process that `measure_two_processes` has started.
    if let [threads::ONE_THREAD, processor, component] =
        arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice()
    {
        return threads::print_rate(processor, component);
    }
    let mut report = Report::from_args(std::env::args())?;
    report.group("10 call", call::call)?;
    report.group("10 unneeded", unneeded::unneeded)?;
    report.group("threads", threads::threads)?;
    report.group("load", loading::load)?;
    report.group("memory", loading::memory)?;
    report.finish()
}
