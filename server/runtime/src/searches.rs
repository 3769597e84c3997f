//! The searches and reports that run and wait.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::error::OperationError;
use crate::machine::cores;
use crate::turns::WorkQueue;

/// The time after which a page of a search or report ends. The next page goes on where it ended.
pub const PAGE_TIME: Duration = Duration::from_secs(1);
/// The time after which statistics of the record of decisions end. The answer says that they are not complete.
pub const SCAN_TIME: Duration = Duration::from_secs(5);

/// The searches and reports that run and wait.
#[derive(Debug)]
pub struct Searches(WorkQueue);

/// Whether somebody waits for the outcome of a search.
#[derive(Clone, Debug)]
pub struct Awaited(Weak<()>);

impl Default for Searches {
    fn default() -> Self {
        Self(WorkQueue::for_searches(cores()))
    }
}

impl Searches {
    /// Returns the scans of the record of decisions. They have their own turns, because they take longer.
    pub(crate) fn for_records() -> Self {
        Self(WorkQueue::for_record_scans(cores()))
    }

    /// Runs a search of `tenant` on a thread that no request uses, when it is its turn. A page takes up to a second of CPU
    /// time. A search whose parts take longer asks between them whether its outcome is still awaited.
    ///
    /// # Errors
    /// An error of the search; too many searches of the tenant wait, or the process stops.
    pub async fn run<T, F, E>(
        &self,
        tenant: &str,
        search: impl FnOnce(Awaited) -> F + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, E>>,
        E: From<OperationError> + Send + 'static,
    {
        let runtime = Handle::current();
        Awaited::during(|awaited| self.0.run(tenant, move || runtime.block_on(search(awaited))))
            .await?
    }
}

impl Awaited {
    /// Waits for `work`, which is told whether it is still awaited: no more when this future is dropped, because the client
    /// went away.
    pub(crate) async fn during<F: Future>(work: impl FnOnce(Self) -> F) -> F::Output {
        // The future holds it, and drops it with itself.
        let waiting = Arc::new(());
        work(Self::while_held(&waiting)).await
    }

    /// Returns what is awaited until `waiting` is dropped.
    pub fn while_held(waiting: &Arc<()>) -> Self {
        Self(Arc::downgrade(waiting))
    }

    /// Returns whether somebody waits, before the instant `end`.
    pub fn is_until(&self, end: Instant) -> bool {
        self.0.strong_count() > 0 && Instant::now() < end
    }

    /// Ends a search that nobody waits for.
    ///
    /// # Errors
    /// The request has ended. Nobody sees the error.
    pub fn check(&self) -> Result<(), OperationError> {
        if self.0.strong_count() > 0 {
            return Ok(());
        }
        Err(OperationError::NotNow("nobody waits for the answer any more".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::{mpsc, oneshot};

    use super::*;

    #[tokio::test]
    async fn a_search_that_nobody_waits_for_ends_and_gives_its_turn_back() {
        let searches = Arc::new(Searches::default());
        let (began, begun) = oneshot::channel();
        let (ended, mut end) = mpsc::unbounded_channel();
        let search = move |awaited: Awaited| async move {
            began.send(()).expect("the test waits");
            while awaited.check().is_ok() {
                tokio::task::yield_now().await;
            }
            ended.send(()).expect("the test waits");
            Ok::<(), OperationError>(())
        };
        let running = Arc::clone(&searches);
        let request = tokio::spawn(async move { running.run("acme", search).await });
        begun.await.expect("it runs");
        assert!(end.try_recv().is_err(), "its request waits");
        request.abort();
        end.recv().await.expect("it ends");
        let next = searches.run("acme", |awaited| async move { awaited.check() });
        next.await.expect("its turn comes, and it is awaited");
    }
}
