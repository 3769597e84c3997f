//! Requests with large bodies: once the body is read, everything that its handler computes runs beside the threads of
//! other requests. A tree of 8 MiB takes hundreds of milliseconds to parse, to check and to drop.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use portcullis_fairness::Turn;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::turns::WorkQueue;
use tokio::runtime::{Handle, RuntimeFlavor};

/// A body with more bytes is large. The tree of a smaller one takes some milliseconds.
pub(crate) const LARGE: usize = 256 * 1024;

tokio::task_local! {
    /// The turn that the request of this task has taken for its large body, until the request is polled again.
    static TURN: RefCell<Option<Turn>>;
}

/// Waits for the turn of `sender`, whose request has read a large body. What a request of [`beside_when_large`] does next
/// runs beside the threads of other requests.
///
/// # Errors
/// Too many large bodies of the sender wait, or the wait takes too long.
pub(crate) async fn take_turn(bodies: &WorkQueue, sender: &str) -> Result<(), OperationError> {
    let turn = bodies.begin(sender).await?;
    if TURN.try_with(|own| own.replace(Some(turn))).is_ok() {
        // Until `beside_when_large` polls again. A time limit in between may poll twice.
        poll_fn(|context| {
            if TURN.try_with(|own| own.borrow().is_none()).unwrap_or(true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
    Ok(())
}

/// Runs a request. When it has read a large body, its thread first hands the other requests over to another one. That and
/// the turn last until the request waits for something: what it computes later is short, or gives way by itself.
pub(crate) async fn beside_when_large<T>(request: impl Future<Output = T>) -> T {
    let mut request = pin!(request);
    let mut turn = None;
    let poll = poll_fn(|context| {
        if let Some(_turn) = turn.take() {
            return beside(|| request.as_mut().poll(context));
        }
        let polled = request.as_mut().poll(context);
        turn = TURN.with(RefCell::take);
        polled
    });
    TURN.scope(RefCell::new(None), poll).await
}

/// Runs `work` while another thread serves the tasks of this one.
fn beside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        // It has no other thread.
        RuntimeFlavor::CurrentThread => work(),
        _ => tokio::task::block_in_place(work),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_tenant_has_its_turns_until_its_request_waits_for_something() {
        let bodies = WorkQueue::for_large_bodies(1);
        let take = async || take_turn(&bodies, "acme").await.is_ok();
        let held = bodies.begin("acme").await.expect("the only turn");
        assert!(!beside_when_large(take()).await, "the wait takes too long");
        drop(held);
        let request = async {
            assert!(take().await);
            let others = tokio::time::timeout(Duration::from_secs(1), bodies.begin("acme")).await;
            // The request has waited, so that its turn is over.
            assert!(matches!(others, Ok(Ok(_))));
        };
        beside_when_large(request).await;
        assert!(beside_when_large(take()).await);
    }
}
