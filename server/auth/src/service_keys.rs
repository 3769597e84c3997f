//! Verifies service keys.

use portcullis_model::Timestamp;
use portcullis_model::service_key::{PresentedKey, ServiceKeyRecord};
use portcullis_storage::{Store, StoreError, service_keys};
use uuid::Uuid;

use crate::callers::Manager;
use crate::error::AuthError;

/// How far `last_used_at` may lag behind, in milliseconds: a busy key is not a write per request.
const LAST_USED_LAG: i64 = 60_000;

/// Returns the holder of the service key `key` at `now`. Unknown, expired and revoked keys get one answer. The store is
/// asked each time, so that a revocation takes effect at once.
pub async fn authenticate_key(
    store: &Store,
    now: Timestamp,
    key: &str,
    one_tenant_per_domain: bool,
) -> Result<Manager, AuthError> {
    let presented = PresentedKey::parse(key).ok_or_else(refused)?;
    let id = presented.id;
    // In a task of its own: a client that goes away must not cancel a `begin`.
    let found = tokio::spawn(find(store.clone(), id));
    let found = found.await.map_err(|failed| AuthError::Internal(failed.into()))??;
    let (record, tenant, slug) = found.ok_or_else(refused)?;
    if !presented.proves(&record, now) {
        return Err(refused());
    }
    if record.last_used_at.is_none_or(|last| now.millis() - last.millis() >= LAST_USED_LAG) {
        tokio::spawn(note_use(store.clone(), tenant.clone(), id, now));
    }
    Ok(Manager {
        domain: slug.unwrap_or_else(|| tenant.clone()),
        actor: format!("key:{id}"),
        tenant,
        administers: Vec::new(),
        one_tenant_per_domain,
        permissions: record.permissions,
    })
}

fn refused() -> AuthError {
    AuthError::CredentialRefused("the service key is unknown, expired or revoked".to_owned())
}

/// The record of a key, its tenant, and the slug of the tenant.
type Found = (ServiceKeyRecord, String, Option<String>);

async fn find(store: Store, id: Uuid) -> Result<Option<Found>, StoreError> {
    let mut tx = store.read_all().await?;
    let found = service_keys::find_anywhere(&mut tx, id).await?;
    tx.end().await?;
    Ok(found)
}

/// Writes `last_used_at` beside the request; a failure does not concern the caller.
async fn note_use(store: Store, tenant: String, id: Uuid, now: Timestamp) {
    if let Err(error) = write_use(&store, &tenant, id, now).await {
        tracing::warn!(%error, "cannot note the use of a service key");
    }
}

async fn write_use(
    store: &Store,
    tenant: &str,
    id: Uuid,
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut tx = store.write(tenant, now.millis()).await?;
    service_keys::used(&mut tx, id, now).await?;
    tx.commit().await?;
    Ok(())
}
