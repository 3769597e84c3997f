//! The wait for a revision that a check demands (`docs/semantics.md`, section 2.9).

use std::time::Duration;

use portcullis_fairness::PerKey;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use super::error::PlanError;

/// The longest wait for a revision that a check demands.
const WAIT: Duration = Duration::from_secs(2);
/// The time between two reads of a tenant's revision during that wait.
const POLL: Duration = Duration::from_millis(100);

/// The checks that wait for a revision. All checks of one tenant share the reads of its revision, so that a tenant
/// costs at most ten small reads per second, however many of its checks demand a future that never comes. No check
/// loads a plan before the store has the revision.
#[derive(Debug, Default)]
pub(super) struct DemandedRevisions(PerKey<Box<str>, Mutex<Option<LastRead>>>);

/// The last read of a tenant's revision.
#[derive(Clone, Copy, Debug)]
struct LastRead {
    at: Instant,
    revision: u64,
}

impl DemandedRevisions {
    /// Waits until the store has revision `at_least` of `tenant`. `read` reads the tenant's revision.
    ///
    /// # Errors
    /// [`PlanError::NoSuchRevision`] after 2 s, with the last revision that was read or 0, or the error of `read`.
    pub(super) async fn wait_for<F>(
        &self,
        tenant: &str,
        at_least: u64,
        read: impl Fn() -> F,
    ) -> Result<(), PlanError>
    where
        F: Future<Output = Result<u64, PlanError>>,
    {
        let deadline = Instant::now() + WAIT;
        let last = self.0.enter(tenant.into());
        let mut known = 0;
        loop {
            // The deadline also ends a read that takes long, and the wait for another check's read.
            let Ok(revision) = timeout_at(deadline, latest(&last, &read)).await else {
                return Err(PlanError::NoSuchRevision { at_least, latest: known });
            };
            known = revision?;
            if known >= at_least {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(PlanError::NoSuchRevision { at_least, latest: known });
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Returns the number of tenants for whose revisions checks wait.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Returns a revision that was read within the last [`POLL`], by another check or now.
async fn latest<F>(last: &Mutex<Option<LastRead>>, read: &impl Fn() -> F) -> Result<u64, PlanError>
where
    F: Future<Output = Result<u64, PlanError>>,
{
    // Held during the read, so that the other checks of the tenant wait for it and share it.
    let mut last = last.lock().await;
    if let Some(recent) = last.filter(|last| last.at.elapsed() < POLL) {
        return Ok(recent.revision);
    }
    let revision = read().await?;
    // A slow read counts from its end. Else every check that waits for it would read again.
    *last = Some(LastRead { at: Instant::now(), revision });
    Ok(revision)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// A store that counts the reads of its revision.
    #[derive(Default)]
    struct CountingStore {
        revision: AtomicU64,
        reads: AtomicU64,
    }

    impl CountingStore {
        async fn read(&self) -> Result<u64, PlanError> {
            self.reads.fetch_add(1, Ordering::SeqCst);
            Ok(self.revision.load(Ordering::SeqCst))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn checks_of_one_tenant_share_the_reads() {
        let (demanded, store) =
            (Arc::new(DemandedRevisions::default()), Arc::new(CountingStore::default()));
        let began = Instant::now();
        let checks = (0..500).map(|_| {
            let (demanded, store) = (Arc::clone(&demanded), Arc::clone(&store));
            tokio::spawn(async move { demanded.wait_for("acme", 9, || store.read()).await })
        });
        for check in checks.collect::<Vec<_>>() {
            let failed = check.await.expect("no panic").expect_err("it never comes");
            assert!(
                matches!(failed, PlanError::NoSuchRevision { at_least: 9, latest: 0 }),
                "{failed}"
            );
        }
        assert_eq!(began.elapsed(), WAIT);
        let reads = store.reads.load(Ordering::SeqCst);
        assert!((20..=22).contains(&reads), "{reads} reads for 500 checks of two seconds");
        assert_eq!(demanded.len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_that_never_ends_ends_with_the_wait() {
        let demanded = DemandedRevisions::default();
        let began = Instant::now();
        let check = || demanded.wait_for("acme", 9, std::future::pending);
        let (first, second) = tokio::join!(check(), check());
        for failed in [first, second] {
            assert!(
                matches!(failed, Err(PlanError::NoSuchRevision { at_least: 9, latest: 0 })),
                "{failed:?}"
            );
        }
        assert_eq!(began.elapsed(), WAIT);
    }

    #[tokio::test(start_paused = true)]
    async fn checks_share_a_read_that_is_slower_than_the_polls() {
        let (demanded, store) = (DemandedRevisions::default(), CountingStore::default());
        store.revision.store(3, Ordering::SeqCst);
        let slow = || async {
            tokio::time::sleep(2 * POLL).await;
            store.read().await
        };
        let check = || demanded.wait_for("acme", 3, slow);
        let (first, second) = tokio::join!(check(), check());
        assert!(first.is_ok() && second.is_ok());
        assert_eq!(store.reads.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_revision_that_is_there_or_comes_in_time_is_served() {
        let (demanded, store) = (DemandedRevisions::default(), CountingStore::default());
        store.revision.store(3, Ordering::SeqCst);
        let began = Instant::now();
        demanded.wait_for("acme", 3, || store.read()).await.expect("it is there");
        assert_eq!((began.elapsed(), store.reads.load(Ordering::SeqCst)), (Duration::ZERO, 1));
        let write = async {
            tokio::time::sleep(Duration::from_millis(950)).await;
            store.revision.store(4, Ordering::SeqCst);
        };
        let (came, ()) = tokio::join!(demanded.wait_for("acme", 4, || store.read()), write);
        came.expect("it comes in time");
        assert_eq!(began.elapsed(), Duration::from_secs(1));
    }
}
