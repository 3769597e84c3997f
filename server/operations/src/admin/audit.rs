//! The use cases of audit records (`docs/semantics.md`, section 6.11).

use std::time::Duration;

use portcullis_auth::Manager;
use portcullis_model::Timestamp;
use portcullis_model::audit::{AuditFilter, AuditRecord, AuditRetention};
use portcullis_model::clock::Clock;
use portcullis_model::page::{Listed, Page};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Store, StoreError, audit};

/// The most rows of one transaction, so that other writers wait a short time only.
const BATCH: i64 = 500;
/// The longest pause between two rounds. In between a tenant has more than the most audit records.
const MAX_PAUSE: Duration = Duration::from_secs(10 * 60);
/// The shortest pause between two rounds.
const MIN_PAUSE: Duration = Duration::from_millis(500);

/// Lists the audit records of the caller's tenant, newest first.
pub async fn list(
    app: &App,
    caller: &Manager,
    filter: &AuditFilter,
    page: Page,
) -> Result<Listed<AuditRecord>, OperationError> {
    app.read(caller.tenant(), async |tx| audit::list(tx, filter, page).await).await
}

/// Lists the audit records of the service, newest first: of every tenant, or of `tenant` alone.
pub async fn list_all(
    store: &Store,
    tenant: Option<&str>,
    filter: &AuditFilter,
    page: Page,
) -> Result<Listed<AuditRecord>, OperationError> {
    Ok(store.read_all(async |tx| audit::list_all(tx, tenant, filter, page).await).await?)
}

/// Deletes the audit records that `retention` does not keep, again and again.
pub async fn prune_for_ever(store: Store, clock: Clock, retention: AuditRetention) {
    loop {
        tokio::time::sleep((retention.age / 10).clamp(MIN_PAUSE, MAX_PAUSE)).await;
        if let Err(error) = prune(&store, clock.now().into(), retention).await {
            tracing::warn!(%error, "cannot remove old audit records");
        }
    }
}

/// Deletes the audit records that `retention` does not keep at `now`. A failure with the records of one tenant does not
/// hold up the others; the last error is returned.
async fn prune(store: &Store, now: Timestamp, retention: AuditRetention) -> Result<(), StoreError> {
    let age = i64::try_from(retention.age.as_millis()).unwrap_or(i64::MAX);
    let before = Timestamp::from_millis(now.millis().saturating_sub(age));
    let mut outcome = Ok(());
    let tenants =
        store.read_all(async |tx| audit::prunable_tenants(tx, before, retention.records).await);
    for tenant in &tenants.await? {
        if let Err(error) = prune_tenant(store, tenant, before, retention.records).await {
            tracing::warn!(tenant, %error, "cannot remove the old audit records of this tenant");
            outcome = Err(error);
        }
    }
    outcome
}

async fn prune_tenant(
    store: &Store,
    tenant: &str,
    before: Timestamp,
    records: i64,
) -> Result<(), StoreError> {
    // The list of tenants counts more records than are removed, and no writer is needed to find that out.
    let is_due =
        store.read_all(async |tx| audit::is_prunable(tx, tenant, before, records).await).await?;
    if !is_due {
        return Ok(());
    }
    loop {
        let mut tx = store.write_all().await?;
        let removed = audit::prune(&mut tx, tenant, before, records, BATCH).await?;
        tx.commit().await?;
        if removed == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_model::audit::AuditAction;
    use portcullis_storage::testing::TestDatabase;

    use super::*;

    /// Writes an audit record of each instant.
    async fn recorded(store: &Store, tenant: &str, instants: &[i64]) {
        for at in instants {
            let mut tx = store.write(tenant, *at).await.expect("begins");
            tx.audit(AuditAction::WebhookTested, at);
            tx.commit().await.expect("commits");
        }
    }

    async fn kept(store: &Store, tenant: &str) -> Vec<i64> {
        let mut tx = store.begin_read(tenant).await.expect("begins");
        let records =
            audit::list(&mut tx, &AuditFilter::default(), Page::FIRST).await.expect("works");
        records.records.iter().map(|record| record.at.millis()).collect()
    }

    #[tokio::test]
    async fn each_tenant_keeps_its_newest_records() {
        let database = TestDatabase::sqlite().expect("a directory");
        let store = database.open().await;
        recorded(&store, "many", &(1081..=1_200).map(|n| n * 10).collect::<Vec<_>>()).await;
        recorded(&store, "few", &[10, 20, 12_000]).await;
        let all = AuditRetention { age: Duration::from_secs(100), records: 10_000 };
        prune(&store, Timestamp::from_millis(12_000), all).await.expect("works");
        assert_eq!((kept(&store, "many").await.len(), kept(&store, "few").await.len()), (120, 3));
        let newest = AuditRetention { age: Duration::from_secs(100), records: 2 };
        prune(&store, Timestamp::from_millis(12_000), newest).await.expect("works");
        assert_eq!(kept(&store, "many").await, [12_000, 11_990]);
        assert_eq!(kept(&store, "few").await, [12_000, 20]);
        let young = AuditRetention { age: Duration::from_secs(1), records: 2 };
        prune(&store, Timestamp::from_millis(12_500), young).await.expect("works");
        assert_eq!(kept(&store, "many").await, [12_000, 11_990]);
        assert_eq!(kept(&store, "few").await, [12_000]);
    }
}
