//! Runs work beside the requests of a thread or in another task, and passes its panic on.

use std::panic::resume_unwind;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::{JoinError, block_in_place, spawn_blocking};

/// The process stops, and the work did not run to its end.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the service is shutting down")]
pub struct Stopping;

/// Begins `work`, which computes for long or blocks, on a thread that serves no requests, and returns its outcome. The work
/// runs to its end, even if nobody waits for it any more. Its panic goes on in whoever waits.
///
/// # Errors
/// [`Stopping`]
pub fn run_apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, Stopping>> {
    let job = spawn_blocking(work);
    async { job.await.map_err(pass_panic_on) }
}

/// Runs `work`, which computes for long, on this thread, while another one serves the requests of the thread. A runtime that has
/// one thread alone has no other.
pub fn run_in_place<T>(work: impl FnOnce() -> T) -> T {
    // `block_in_place` panics in a runtime of one thread.
    if Handle::try_current().is_ok_and(has_one_thread) { work() } else { block_in_place(work) }
}

/// Begins `work` in its own task, and returns its outcome as [`run_apart`] does. So a caller that goes away does not
/// cancel the work between two of its steps.
///
/// # Errors
/// [`Stopping`]
pub fn run_to_end<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Result<T, Stopping>> {
    let task = tokio::spawn(work);
    async { task.await.map_err(pass_panic_on) }
}

fn has_one_thread(runtime: Handle) -> bool {
    runtime.runtime_flavor() == RuntimeFlavor::CurrentThread
}

fn pass_panic_on(failed: JoinError) -> Stopping {
    match failed.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        // Nobody aborts the task, so the runtime cancelled it.
        Err(_) => Stopping,
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_runs_elsewhere_and_to_its_end_without_its_caller() {
        let here = std::thread::current().id();
        assert_ne!(run_apart(|| std::thread::current().id()).await.ok(), Some(here));
        let (done, ended) = oneshot::channel();
        drop(run_to_end(async { done.send(7) }));
        assert_eq!(ended.await, Ok(7));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn others_go_on_beside_work_in_place() {
        let (answer, answered) = std::sync::mpsc::channel();
        // The only thread of the runtime is busy until another task runs.
        let busy = tokio::spawn(async move {
            tokio::spawn(async move { answer.send(7) });
            run_in_place(|| answered.recv())
        });
        assert_eq!(busy.await.expect("no panic"), Ok(7));
    }

    #[tokio::test]
    async fn work_in_place_runs_on_the_only_thread() {
        let here = std::thread::current().id();
        assert_eq!(run_in_place(|| std::thread::current().id()), here);
    }

    #[tokio::test]
    async fn a_panic_goes_on_in_the_caller() {
        let apart = tokio::spawn(async { run_apart(|| panic!("a fault")).await });
        let task = tokio::spawn(run_to_end(async { panic!("a fault") }));
        let (apart, task) = tokio::join!(apart, task);
        let panics: [Result<Result<(), Stopping>, JoinError>; 2] = [apart, task];
        assert!(panics.into_iter().all(|ended| ended.is_err_and(|failed| failed.is_panic())));
    }
}
