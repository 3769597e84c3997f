//! Tasks on the runtime that the service provides.

use std::time::Duration;

use futures_util::future::{BoxFuture, Either, FutureExt as _, select};
use tokio::sync::oneshot;

use crate::environment::Runtime;

/// Runs a job that occupies its thread too long for an asynchronous task. Returns `None` if it panics.
pub(crate) async fn run_blocking<T: Send + 'static>(
    runtime: &dyn Runtime,
    job: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = oneshot::channel();
    runtime.spawn_blocking(Box::new(move || {
        // The caller may have gone away.
        let _ = sender.send(job());
    }));
    receiver.await.ok()
}

/// Runs work in its own task. Returns `None` if it panics, which ends only that task. Ends the work if the caller
/// goes away.
pub(crate) async fn run<T: Send + 'static>(
    runtime: &dyn Runtime,
    work: BoxFuture<'static, T>,
) -> Option<T> {
    let (mut sender, receiver) = oneshot::channel();
    runtime.spawn(
        async move {
            let done = match select(work, sender.closed().boxed()).await {
                Either::Left((done, _)) => Some(done),
                Either::Right(_) => None,
            };
            if let Some(done) = done {
                // The caller may go away at this moment.
                let _ = sender.send(done);
            }
        }
        .boxed(),
    );
    receiver.await.ok()
}

/// Returns the result of `work`, or `None` if it takes longer than `most`.
pub(crate) async fn in_time<T>(
    runtime: &dyn Runtime,
    most: Duration,
    work: impl Future<Output = T> + Send,
) -> Option<T> {
    match select(work.boxed(), runtime.sleep(most)).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}
