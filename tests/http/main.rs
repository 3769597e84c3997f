//! `cargo bench -p portcullis-server --bench http [-- NAME …]`
//!
//! Starts the release server and a bare axum echo in turn, each as its own process, loads both from a third
//! process, and prints CPU per request, throughput and latency in pairs with their ratios (`docs/performance.md`). The
//! names select the scenarios that contain one of them.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a measurement that cannot be made ends the run"
)]

/// The set-up of this binary.
mod setup {
    pub(crate) fn is_saas() -> bool {
        true
    }

    pub(crate) fn is_postgres() -> bool {
        false
    }
}

#[expect(unused_imports, reason = "the black-box tests use all of it")]
#[path = "../support/mod.rs"]
mod support;

mod child;
mod echo;
mod load;
mod peers;
mod report;
mod scenario;
mod signature;
mod tokens;
mod turn;

/// The first argument of the process that serves the echo.
const ECHO: &str = "echo-process";
/// The first argument of the process that sends the load.
const LOAD: &str = "load-process";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(ECHO) => echo::serve(),
        Some(LOAD) => load::run(),
        _ => {
            let wanted: Vec<_> =
                arguments.into_iter().filter(|name| !name.starts_with('-')).collect();
            report::print(&wanted);
        }
    }
}
