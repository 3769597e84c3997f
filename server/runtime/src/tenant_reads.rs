//! The reads of what this process knows of tenants: their changes, the closed ones and the identity providers
//! (`docs/semantics.md`, sections 2.9 and 6.9).

use std::time::Duration;

use portcullis_fairness::run_to_end;
use portcullis_model::provider::ProviderRecord;
use portcullis_storage::changes::{self, Changes, StreamPosition};
use portcullis_storage::{Store, StoreError, providers, tenants};

/// The longest wait for a read, as for a connection of the database. The next read may find a database that answers.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// The outcome of a read of the stream of changes.
#[derive(Debug)]
pub(crate) enum News {
    /// These tenants changed.
    Changes(Changes),
    /// Everything may have changed. The stream goes on at this position.
    Everything(StreamPosition),
}

/// Reads the changes after `last`; everything without it, or if the database lost changes.
///
/// # Errors
/// The store failed, or did not answer within 5 s.
pub(crate) async fn read_changes(
    store: &Store,
    last: Option<StreamPosition>,
) -> Result<News, StoreError> {
    let store = store.clone();
    in_time(async move {
        let mut tx = store.begin_read_all().await?;
        let changes = match &last {
            Some(last) => changes::since(&mut tx, last).await?,
            None => None,
        };
        let news = match changes {
            Some(changes) => News::Changes(changes),
            None => News::Everything(changes::end(&mut tx).await?),
        };
        tx.end().await?;
        Ok(news)
    })
    .await
}

/// The closed tenants, and the identity providers of the tenants that were asked for, in one snapshot.
#[derive(Debug)]
pub(crate) struct TenantSnapshot {
    pub(crate) closed: Vec<String>,
    pub(crate) providers: Vec<ProviderRecord>,
}

/// Reads the closed tenants, and the identity providers of `tenants`.
///
/// # Errors
/// The store failed, or did not answer within 5 s.
pub(crate) async fn read(store: &Store, tenants: &[&str]) -> Result<TenantSnapshot, StoreError> {
    let store = store.clone();
    let tenants: Vec<String> = tenants.iter().copied().map(str::to_owned).collect();
    in_time(async move {
        let mut tx = store.begin_read_all().await?;
        let closed = tenants::closed(&mut tx).await?;
        let providers = match tenants.is_empty() {
            true => Vec::new(),
            false => providers::for_tenants(&mut tx, &tenants).await?,
        };
        tx.end().await?;
        Ok(TenantSnapshot { closed, providers })
    })
    .await
}

/// Returns the outcome of `read`, which runs in its own task: the end of the wait must not cancel a `begin`
/// (transact-rs/sqlx#4385).
async fn in_time<T: Send + 'static>(
    read: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::time::timeout(READ_TIMEOUT, run_to_end(read)).await {
        Ok(outcome) => outcome?,
        Err(_) => Err(StoreError::TimedOut),
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;
    use tokio::time::{Instant, sleep};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_slow_read_is_not_waited_for_and_not_cancelled() {
        let began = Instant::now();
        let (done, ended) = oneshot::channel();
        let slow = async move {
            sleep(2 * READ_TIMEOUT).await;
            let _ = done.send(());
            Ok(())
        };
        assert!(matches!(in_time(slow).await, Err(StoreError::TimedOut)));
        assert_eq!(began.elapsed(), READ_TIMEOUT);
        ended.await.expect("the read runs to its end");
        assert!(matches!(in_time(async { Ok(7) }).await, Ok(7)));
    }
}
