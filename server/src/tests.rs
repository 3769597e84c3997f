//! Tests of the wired service inside one process.

mod judged_writes;
mod request_costs;
mod request_scaling;

use std::process::ExitCode;

use crate::on_runtime;

#[test]
fn a_thread_that_computes_does_not_hold_the_process() {
    let (_never, wait) = std::sync::mpsc::channel::<()>();
    let work = async move {
        tokio::task::spawn_blocking(move || wait.recv());
        Ok(ExitCode::SUCCESS)
    };
    assert!(on_runtime(work).is_ok());
}
