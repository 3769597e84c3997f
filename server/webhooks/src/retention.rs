//! Deletes old deliveries, attempts and events in small batches.

use std::time::Duration;

use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_storage::{Store, StoreError, retention};

/// The most rows of one transaction, so that other writers wait a short time only.
const BATCH: i64 = 500;
/// The longest pause between two rounds.
const MAX_PAUSE: Duration = Duration::from_secs(60 * 60);
/// The shortest pause between two rounds.
const MIN_PAUSE: Duration = Duration::from_millis(500);

/// Deletes the rows that are older than `retention`, again and again.
pub async fn prune_for_ever(store: Store, clock: Clock, retention: Duration) {
    loop {
        tokio::time::sleep((retention / 10).clamp(MIN_PAUSE, MAX_PAUSE)).await;
        let age = i64::try_from(retention.as_millis()).unwrap_or(i64::MAX);
        let before = Timestamp::from(clock.now()).millis().saturating_sub(age);
        if let Err(error) = prune(&store, Timestamp::from_millis(before)).await {
            tracing::warn!(%error, "cannot remove old deliveries");
        }
    }
}

/// Deletes the rows that ended before `before`.
async fn prune(store: &Store, before: Timestamp) -> Result<(), StoreError> {
    loop {
        let mut tx = store.write_all().await?;
        let removed = retention::prune(&mut tx, before, BATCH).await?;
        tx.commit().await?;
        // A batch may remove few rows of each kind, so that only an empty one is the end.
        if removed == 0 {
            return Ok(());
        }
    }
}
