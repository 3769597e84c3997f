//! Deletes the revisions that nobody wants kept.

use std::time::Duration;

use portcullis_model::Timestamp;
use portcullis_model::revision::HistoryRetention;
use portcullis_runtime::app::App;
use portcullis_storage::{StoreError, revisions};

/// The pause between two rounds. In between a tenant has more history than it may have.
const PAUSE: Duration = Duration::from_secs(60);
/// The most rows of each table that one transaction deletes, so that other writers wait a short time only.
const BATCH: i64 = 500;

/// Deletes the revisions that `retention` does not keep, again and again.
pub async fn prune_for_ever(app: App, retention: HistoryRetention) {
    loop {
        if let Err(error) = prune(&app, retention).await {
            tracing::warn!(%error, "cannot remove old revisions");
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Deletes the revisions that `retention` does not keep, and shows the size of the history. A failure with the revisions
/// of one tenant does not hold up the others; the last error is returned.
async fn prune(app: &App, retention: HistoryRetention) -> Result<(), StoreError> {
    let now: Timestamp = app.clock.now().into();
    let age = retention.age.map(|age| i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
    // Without a limit of age no revision is too old.
    let before = age.map_or(i64::MIN, |age| now.millis().saturating_sub(age));
    let before = Timestamp::from_millis(before);
    let read = app
        .store
        .read_all(async |tx| revisions::prunable_tenants(tx, before, retention.bytes).await);
    let (tenants, bytes) = read.await?;
    app.metrics.history.bytes.set(bytes);
    let mut outcome = Ok(());
    for tenant in &tenants {
        if let Err(error) = prune_tenant(app, tenant, before, retention.bytes).await {
            tracing::warn!(tenant, %error, "cannot remove the old revisions of this tenant");
            outcome = Err(error);
        }
    }
    outcome
}

async fn prune_tenant(
    app: &App,
    tenant: &str,
    before: Timestamp,
    bytes: u64,
) -> Result<(), StoreError> {
    let first =
        app.store.read_all(async |tx| revisions::first_kept(tx, tenant, before, bytes).await);
    let first = first.await?;
    loop {
        let mut tx = app.store.write_all().await?;
        let (removed, rows) = revisions::prune(&mut tx, tenant, first, BATCH).await?;
        tx.commit().await?;
        app.metrics.history.pruned.inc_by(removed);
        if rows == 0 {
            return Ok(());
        }
    }
}
