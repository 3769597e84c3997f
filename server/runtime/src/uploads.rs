//! Limits the number of uploads in memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use portcullis_plan_cache::{KeyUse, PerKey};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::OperationError;

/// Most uploads in memory. An upload takes up to 34 MiB while its form is read, and up to 16 MiB until its module is
/// compiled, so that all take at most 136 MiB. Two modules compile at a time, so that more uploads would only wait.
const MAX: usize = 4;
/// Most uploads of one tenant: half of [`MAX`], so that no tenant blocks the others.
const MAX_OF_TENANT: usize = 2;
/// Most uploads that wait for a turn. Each holds a connection, and its body is not read.
const MAX_WAITING: usize = 64;
/// Longest time for which an upload waits for other tenants. Its body is not read meanwhile.
const WAIT: Duration = Duration::from_secs(10);

/// The uploads in memory.
#[derive(Clone, Debug)]
pub struct Uploads {
    all: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// The uploads of each tenant that has or wants a turn: at most [`MAX`] and [`MAX_WAITING`] tenants.
    by_tenant: PerKey<Box<str>, ()>,
}

/// The permission to have an upload in memory. It ends when it is dropped.
#[derive(Debug)]
pub struct UploadTurn {
    _own: KeyUse<Box<str>, ()>,
    _permit: OwnedSemaphorePermit,
}

impl Default for Uploads {
    fn default() -> Self {
        Self {
            all: Arc::new(Semaphore::new(MAX)),
            waiting: Arc::new(Semaphore::new(MAX_WAITING)),
            by_tenant: PerKey::default(),
        }
    }
}

impl Uploads {
    /// Returns a turn for `tenant`. It waits for uploads of other tenants, but not for those of `tenant`.
    ///
    /// # Errors
    /// The tenant has its greatest number of uploads, too many uploads wait, or the wait takes longer than 10 s.
    pub async fn begin(&self, tenant: &str) -> Result<UploadTurn, OperationError> {
        let own = self.begin_own(tenant).ok_or_else(|| full("of this tenant"))?;
        let place = self.waiting.try_acquire().map_err(|_| full("in all"))?;
        let wait = tokio::time::timeout(WAIT, Arc::clone(&self.all).acquire_owned());
        let permit = wait.await.ok().and_then(Result::ok).ok_or_else(|| full("in all"))?;
        drop(place);
        Ok(UploadTurn { _own: own, _permit: permit })
    }

    /// Returns the number of tenants that have uploads.
    pub fn tenants(&self) -> usize {
        self.by_tenant.len()
    }

    fn begin_own(&self, tenant: &str) -> Option<KeyUse<Box<str>, ()>> {
        self.by_tenant.enter_within(tenant.into(), MAX_OF_TENANT, || ())
    }
}

fn full(whose: &str) -> OperationError {
    let what = format!(
        "too many bundles or modules {whose} are being read, and nothing was written; try again later"
    );
    OperationError::NotNow(what)
}

impl UploadTurn {
    /// Returns `bytes` as an owner of this turn. The turn ends when the last copy of the bytes is dropped.
    pub fn until_gone(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(Held { bytes, _turn: self })
    }
}

/// Bytes that hold a turn.
struct Held {
    bytes: Bytes,
    _turn: UploadTurn,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_tenant_has_two_turns_and_all_have_four() {
        let uploads = Uploads::default();
        let begin = |tenant| uploads.begin(tenant);
        let (first, second) =
            (begin("acme").await.expect("free"), begin("acme").await.expect("free"));
        assert!(matches!(begin("acme").await, Err(OperationError::NotNow(_))));
        let (third, fourth) =
            (begin("bolt").await.expect("free"), begin("cord").await.expect("free"));
        let begun = tokio::time::Instant::now();
        assert!(matches!(begin("bolt").await, Err(OperationError::NotNow(_))));
        assert_eq!(begun.elapsed(), WAIT);
        let (fifth, ()) = tokio::join!(begin("bolt"), async { drop(first) });
        let fifth = fifth.expect("free again");
        drop((second, third, fourth, fifth));
        assert!(uploads.by_tenant.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_uploads_wait() {
        let uploads = Uploads::default();
        let mut turns = Vec::new();
        for tenant in ["a", "b", "c", "d"] {
            turns.push(uploads.begin(tenant).await.expect("free"));
        }
        let begun = tokio::time::Instant::now();
        let mut waiting = tokio::task::JoinSet::new();
        for number in 0..MAX_WAITING {
            let uploads = uploads.clone();
            waiting.spawn(async move { uploads.begin(&format!("tenant-{number}")).await });
        }
        while uploads.waiting.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let refused = uploads.begin("one more").await;
        assert!(matches!(refused, Err(OperationError::NotNow(_))));
        assert!(begun.elapsed() < WAIT, "it does not wait");
        assert_eq!(uploads.by_tenant.len(), MAX + MAX_WAITING);
        while let Some(waited) = waiting.join_next().await {
            assert!(waited.expect("no panic").is_err());
        }
        drop(turns);
        assert!(uploads.by_tenant.is_empty());
        assert_eq!(uploads.waiting.available_permits(), MAX_WAITING);
    }

    #[tokio::test]
    async fn a_turn_lasts_as_long_as_any_copy_of_the_bytes() {
        let uploads = Uploads::default();
        let turn = uploads.begin("acme").await.expect("free");
        let bytes = turn.until_gone(Bytes::from_static(b"a module"));
        let part = bytes.slice(2..);
        assert_eq!(&*part, b"module");
        drop(bytes);
        assert_eq!(uploads.by_tenant.len(), 1);
        // The tenant has one turn: one more is free, and no third.
        let second = uploads.begin_own("acme");
        assert!(second.is_some() && uploads.begin_own("acme").is_none());
        drop(second);
        assert_eq!(uploads.all.available_permits(), MAX - 1);
        drop(part);
        assert!(uploads.by_tenant.is_empty());
        assert_eq!(uploads.all.available_permits(), MAX);
    }
}
