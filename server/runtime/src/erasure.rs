//! The deletion of tenants in the background (`docs/semantics.md`, section 6.9).

use std::time::Duration;

use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_storage::erasure::{self, Deletion, GRACE};
use portcullis_storage::{Store, StoreError};

/// The time between two looks for tenants that are being deleted. Another process may have marked one.
const INTERVAL: Duration = Duration::from_secs(1);

/// Deletes the tenants that are marked, again and again. A deletion that a crash interrupted continues.
pub async fn erase_for_ever(store: Store, clock: Clock) {
    loop {
        if let Err(error) = erase_marked(&store, clock.now().into()).await {
            tracing::warn!(%error, "cannot delete a tenant");
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Deletes the data of every tenant that is marked, and the own row of each whose data is gone for long enough. A tenant
/// that cannot be deleted does not hold up the others.
///
/// # Errors
/// The store failed, for one tenant or more; this is the last error. The next call continues.
pub async fn erase_marked(store: &Store, now: Timestamp) -> Result<(), StoreError> {
    let pending = store.read_all(async |tx| erasure::pending(tx).await).await?;
    let mut outcome = Ok(());
    for deletion in &pending {
        if let Err(error) = advance(store, deletion, now).await {
            tracing::warn!(tenant = deletion.tenant, %error, "cannot delete this tenant");
            outcome = Err(error);
        }
    }
    outcome
}

/// Makes the next step of a deletion, if it is due.
async fn advance(store: &Store, deletion: &Deletion, now: Timestamp) -> Result<(), StoreError> {
    let tenant = &deletion.tenant;
    match deletion.erased_at {
        None => erase(store, tenant, now).await,
        Some(at) if at.after(GRACE) < now => forget(store, tenant).await,
        Some(_) => Ok(()),
    }
}

/// Deletes the data of `tenant` and frees its slug.
async fn erase(store: &Store, tenant: &str, now: Timestamp) -> Result<(), StoreError> {
    // The rows first: after a crash in between, the next round still finds a tenant to erase.
    delete_rows(store, tenant).await?;
    let mut tx = store.write_all().await?;
    tx.attribute_to_service(now);
    erasure::finish(&mut tx, tenant, now).await?;
    tx.commit().await?;
    tracing::info!(tenant, "a tenant is deleted");
    Ok(())
}

/// Deletes the last that is known of `tenant`.
async fn forget(store: &Store, tenant: &str) -> Result<(), StoreError> {
    // A request that was in flight on another replica may have written a row.
    delete_rows(store, tenant).await?;
    let mut tx = store.write_all().await?;
    erasure::forget(&mut tx, tenant).await?;
    tx.commit().await?;
    Ok(())
}

/// Deletes the rows of `tenant` in small transactions, so that other writers wait a short time only.
async fn delete_rows(store: &Store, tenant: &str) -> Result<(), StoreError> {
    loop {
        let mut tx = store.write_as(tenant).await?;
        let more = erasure::step(&mut tx).await?;
        tx.commit().await?;
        if !more {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_model::audit::{AuditAction, AuditFilter};
    use portcullis_model::page::Page;
    use portcullis_model::tenant::TenantRecord;
    use portcullis_storage::testing::{TestDatabase, on_every_database};
    use portcullis_storage::{audit, tenants};

    use super::*;

    on_every_database!(a_deletion_ends_with_the_tenant, a_failed_deletion_holds_up_no_other);

    /// Every audit record that belongs to no tenant, oldest first.
    async fn recorded(store: &Store) -> Vec<(String, Vec<String>)> {
        let mut tx = store.begin_read_all().await.expect("begins");
        let filter = AuditFilter::default();
        let records =
            audit::list_all(&mut tx, Some(""), &filter, Page::FIRST).await.expect("works");
        records.records.into_iter().rev().map(|record| (record.action, record.records)).collect()
    }

    async fn a_deletion_ends_with_the_tenant(database: TestDatabase) {
        let store = database.open().await;
        let at = Timestamp::from_millis(1_000);
        for tenant in ["gone", "stays"] {
            let mut tx = store.write(tenant, 1_000).await.expect("begins");
            tx.audit(AuditAction::WebhookTested, "x");
            tx.commit().await.expect("commits");
        }
        let mut tx = store.write_all().await.expect("begins");
        tx.attribute_to_service(at);
        assert!(erasure::request(&mut tx, "gone", at).await.expect("works"));
        assert!(!erasure::request(&mut tx, "gone", at).await.expect("works"), "it is marked");
        tx.commit().await.expect("commits");
        store.write("gone", 1_000).await.map(drop).expect_err("nobody writes into it");
        let exists = async |tenant: &str| {
            let mut tx = store.begin_read_all().await.expect("begins");
            let closed = tenants::closed(&mut tx).await.expect("works");
            let found = tenants::find(&mut tx, tenant).await.expect("works").is_some();
            (closed.contains(&tenant.to_owned()), found)
        };
        assert_eq!(exists("gone").await, (true, true));
        let later = at.after(Duration::from_secs(1));
        erase_marked(&store, later).await.expect("works");
        assert_eq!(exists("gone").await, (true, false), "its credentials stay refused");
        erase_marked(&store, later.after(GRACE)).await.expect("works");
        assert_eq!(exists("gone").await, (true, false), "not yet");
        erase_marked(&store, later.after(GRACE + Duration::from_millis(1))).await.expect("works");
        assert_eq!(exists("gone").await, (false, false));
        assert_eq!(exists("stays").await, (false, true));
        let gone = || vec!["gone".to_owned()];
        let expected = [
            ("tenant.deletion_requested".to_owned(), gone()),
            ("tenant.deleted".to_owned(), gone()),
        ];
        assert_eq!(recorded(&store).await, expected);
        store.write("gone", 9_000).await.map(drop).expect("its name may begin anew");
    }

    async fn a_failed_deletion_holds_up_no_other(database: TestDatabase) {
        let store = database.open().await;
        let at = Timestamp::from_millis(1_000);
        let mut tx = store.write_all().await.expect("begins");
        tx.attribute_to_service(at);
        // No transaction begins for the first one.
        for tenant in ["*", "gone"] {
            let record = TenantRecord {
                id: tenant.to_owned(),
                name: tenant.to_owned(),
                slug: tenant.to_owned(),
                created_at: at,
                state: None,
            };
            assert!(tenants::insert(&mut tx, &record).await.expect("works"));
            assert!(erasure::request(&mut tx, tenant, at).await.expect("works"));
        }
        tx.commit().await.expect("commits");
        let erased = erase_marked(&store, at).await;
        assert!(matches!(erased, Err(StoreError::NotATenant)), "{erased:?}");
        let mut tx = store.begin_read_all().await.expect("begins");
        let pending = erasure::pending(&mut tx).await.expect("works");
        let erased_at: Vec<_> = pending.iter().map(|deletion| deletion.erased_at).collect();
        assert_eq!(erased_at, [None, Some(at)]);
    }
}
