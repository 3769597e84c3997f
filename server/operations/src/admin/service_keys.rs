//! The use cases of service API keys (`docs/semantics.md`, section 6.8).

use portcullis_auth::Manager;
use portcullis_engine::Invalid;
use portcullis_model::Authorship;
use portcullis_model::audit::Origin;
use portcullis_model::ids::Ids;
use portcullis_model::page::{Listed, Page};
use portcullis_model::service_key::{NewServiceKey, ServiceKeyRecord};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Store, StoreError, Tx, service_keys};
use uuid::Uuid;

const NOT_FOUND: OperationError = OperationError::NotFound("service key");

/// A new service key. The store has only a hash of the key, so that no later use case can return it.
pub struct IssuedKey {
    /// The key, which its holder sends.
    pub key: String,
    pub record: ServiceKeyRecord,
}

/// Creates a service key in the caller's tenant.
///
/// # Errors
/// The key has a domain that no key of the tenant can have, the tenant has too many keys, or the store failed.
pub async fn create(
    app: &App,
    caller: &Manager,
    key: NewServiceKey,
) -> Result<IssuedKey, OperationError> {
    let fits = must_fit(&key, caller.key_domain());
    fits.map_err(|expected| Invalid::expected("/domain", expected))?;
    app.change(caller, async |tx, by| Ok(issue(tx, key, by, &app.ids).await?)).await
}

/// Refuses a key with another domain than `only`, the one domain of the tenant's keys if it has one.
///
/// # Errors
/// The text completes "expected …".
pub fn must_fit(key: &NewServiceKey, only: Option<&str>) -> Result<(), String> {
    match (&key.domain, only) {
        (Some(domain), Some(only)) if domain != only => Err(format!(
            "`{only}` or nothing, because in `selfhost` mode a key has the domain of its tenant"
        )),
        _ => Ok(()),
    }
}

/// Creates a service key of `tenant` in a store without a running service, as `portcullis keys create` does.
pub async fn create_offline(
    store: &Store,
    tenant: &str,
    key: NewServiceKey,
    (operator, by): (&Origin, &Authorship),
    ids: &Ids,
) -> Result<IssuedKey, StoreError> {
    let mut tx = store.write(tenant, by.at.millis()).await?;
    tx.attribute_to(operator, by.at);
    let issued = issue(&mut tx, key, by, ids).await?;
    tx.commit().await?;
    Ok(issued)
}

/// Issues a service key of the transaction's tenant.
pub(crate) async fn issue(
    tx: &mut Tx,
    key: NewServiceKey,
    by: &Authorship,
    ids: &Ids,
) -> Result<IssuedKey, StoreError> {
    let (record, key) = key.issue(ids.next(by.at), by);
    service_keys::insert(tx, &record).await?;
    Ok(IssuedKey { key, record })
}

/// Lists the service keys of the caller's tenant, in order of creation.
pub async fn list(
    app: &App,
    caller: &Manager,
    page: Page,
) -> Result<Listed<ServiceKeyRecord>, OperationError> {
    app.read(caller.tenant(), async |tx| service_keys::list(tx, page).await).await
}

/// Returns a service key of the caller's tenant, without the key itself.
///
/// # Errors
/// The tenant has no such key, or the store failed.
pub async fn get(
    app: &App,
    caller: &Manager,
    id: Uuid,
) -> Result<ServiceKeyRecord, OperationError> {
    app.read(caller.tenant(), async |tx| service_keys::find(tx, id).await?.ok_or(NOT_FOUND)).await
}

/// Revokes a service key of the caller's tenant. It is refused from then on.
///
/// # Errors
/// The tenant has no such key, or the store failed.
pub async fn revoke(app: &App, caller: &Manager, id: Uuid) -> Result<(), OperationError> {
    app.change(caller, async |tx, by| revoke_in(tx, id, by).await).await
}

/// Revokes a service key of the transaction's tenant.
pub(crate) async fn revoke_in(
    tx: &mut Tx,
    id: Uuid,
    by: &Authorship,
) -> Result<(), OperationError> {
    match service_keys::delete(tx, id, by).await? {
        true => Ok(()),
        false => Err(NOT_FOUND),
    }
}
