//! Verifies service keys.

use portcullis_model::Timestamp;
use portcullis_model::audit::{CredentialKind, Origin};
use portcullis_model::service_key::PresentedKey;
use portcullis_storage::service_keys::{self, FoundKey};
use portcullis_storage::{Store, StoreError};
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::callers::Manager;
use crate::error::AuthError;

/// Longest lag of `last_used_at`, in milliseconds. It prevents a write per request of a busy key.
const LAST_USED_LAG: i64 = 60_000;
/// The writes of `last_used_at` that may wait for the store. A burst of requests with one key would otherwise queue
/// thousands, before the writes of others.
static PENDING_USES: Semaphore = Semaphore::const_new(8);

/// Returns the holder of the service key `key` at `now`. Unknown, expired and revoked keys get the same error. Each call
/// reads the store, so that a revocation takes effect at once.
pub async fn authenticate_key(
    store: &Store,
    now: Timestamp,
    key: &str,
    one_tenant_per_domain: bool,
) -> Result<Manager, AuthError> {
    let presented = PresentedKey::parse(key).ok_or_else(refused)?;
    let id = presented.id;
    // In its own task: a client that disconnects must not cancel a `begin` (transact-rs/sqlx#4385).
    let found = tokio::spawn(find(store.clone(), id));
    let found = found.await.map_err(|failed| AuthError::Internal(failed.into()))??;
    let FoundKey { record, tenant, slug, is_open } = found.ok_or_else(refused)?;
    if !presented.proves(&record, now) {
        return Err(refused());
    }
    if !is_open {
        return Err(AuthError::TenantSuspended);
    }
    if record.last_used_at.is_none_or(|last| now.millis() - last.millis() >= LAST_USED_LAG) {
        tokio::spawn(store_use(store.clone(), tenant.clone(), id, now));
    }
    Ok(Manager {
        domain: slug.unwrap_or_else(|| tenant.clone()),
        origin: Origin::new(&format!("key:{id}"), CredentialKind::ServiceKey)
            .with_key(id.to_string()),
        tenant,
        one_tenant_per_domain,
        permissions: record.permissions,
    })
}

fn refused() -> AuthError {
    AuthError::CredentialRefused("the service key is unknown, expired or revoked".to_owned())
}

async fn find(store: Store, id: Uuid) -> Result<Option<FoundKey>, StoreError> {
    let mut tx = store.read_all().await?;
    let found = service_keys::find_anywhere(&mut tx, id).await?;
    tx.end().await?;
    Ok(found)
}

/// Stores `last_used_at` beside the request. The request does not wait, and a failure is only logged. If too many such
/// writes wait already, a later use is stored.
async fn store_use(store: Store, tenant: String, id: Uuid, now: Timestamp) {
    let Ok(_permit) = PENDING_USES.try_acquire() else { return };
    if let Err(error) = try_store_use(&store, &tenant, id, now).await
        && !error.is_closed()
    {
        tracing::warn!(%error, "cannot store the last use of a service key");
    }
}

async fn try_store_use(
    store: &Store,
    tenant: &str,
    id: Uuid,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut tx = match store.write(tenant, now.millis()).await {
        // The next request of the key tries again.
        Err(StoreError::Busy) => return Ok(()),
        begun => begun?,
    };
    service_keys::used(&mut tx, id, now).await?;
    tx.commit().await?;
    Ok(())
}
