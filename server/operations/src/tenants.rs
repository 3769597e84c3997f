//! The use cases of tenants and their identity providers, for the operator in `saas` mode (`docs/semantics.md`,
//! sections 6.9 and 6.10).

use portcullis_auth::ADMIN_ACTOR;
use portcullis_model::page::{Listed, Page};
use portcullis_model::provider::{NewProvider, ProviderRecord};
use portcullis_model::service_key::NewServiceKey;
use portcullis_model::tenant::{NewTenant, TenantRecord};
use portcullis_storage::{Store, StoreError, Tx, providers, tenants};
use uuid::Uuid;

use crate::app::App;
use crate::error::OperationError;
use crate::service_keys;

const NO_TENANT: OperationError = OperationError::NotFound("tenant");

/// A new tenant, with the service key for its first calls.
pub struct CreatedTenant {
    pub record: TenantRecord,
    /// A service key with every permission.
    pub bootstrap_key: String,
}

/// Creates a tenant.
///
/// # Errors
/// Another tenant has the slug, or the store failed.
pub async fn create(app: &App, tenant: NewTenant) -> Result<CreatedTenant, OperationError> {
    let by = app.authored_by(ADMIN_ACTOR);
    let record = tenant.into_record(app.ids.next(by.at), by.at);
    let mut tx = app.store.write_as(&record.id).await?;
    if !tenants::insert(&mut tx, &record).await? {
        let what = format!("a tenant `{}` already exists", record.slug);
        return Err(OperationError::Conflict(what));
    }
    let key = NewServiceKey::named("bootstrap");
    let bootstrap_key = service_keys::issue(&mut tx, key, &by, &app.ids).await?.key;
    app.commit(tx).await?;
    Ok(CreatedTenant { record, bootstrap_key })
}

/// Lists all tenants, in order of creation.
pub async fn list(app: &App, page: Page) -> Result<Listed<TenantRecord>, OperationError> {
    let mut tx = app.store.read_all().await?;
    let records = tenants::list(&mut tx, page).await?;
    tx.end().await?;
    Ok(records)
}

/// Returns the tenant whose id or slug is `name`, if there is one.
pub async fn find(store: &Store, name: &str) -> Result<Option<TenantRecord>, StoreError> {
    let mut tx = store.read_all().await?;
    let found = tenants::find_by_id_or_slug(&mut tx, name).await?;
    tx.end().await?;
    Ok(found)
}

/// Registers an identity provider of `tenant`. Its tokens are accepted at once.
///
/// # Errors
/// There is no such tenant, the issuer is registered, or the store failed.
pub async fn register_provider(
    app: &App,
    tenant: &str,
    provider: NewProvider,
) -> Result<ProviderRecord, OperationError> {
    let by = app.authored_by(ADMIN_ACTOR);
    let record = provider.into_record(app.ids.next(by.at), tenant, by.at);
    let mut tx = write_existing(app, tenant).await?;
    if !providers::insert(&mut tx, &record).await? {
        let what = format!("the issuer `{}` is registered already", record.issuer_url);
        return Err(OperationError::Conflict(what));
    }
    app.commit(tx).await?;
    app.reload_providers().await?;
    Ok(record)
}

/// Lists the identity providers of `tenant`, in order of creation.
///
/// # Errors
/// There is no such tenant, or the store failed.
pub async fn list_providers(
    app: &App,
    tenant: &str,
    page: Page,
) -> Result<Listed<ProviderRecord>, OperationError> {
    let mut tx = app.store.read(tenant).await?;
    tenants::find(&mut tx, tenant).await?.ok_or(NO_TENANT)?;
    let records = providers::list(&mut tx, page).await?;
    tx.end().await?;
    Ok(records)
}

/// Removes an identity provider of `tenant`. Its tokens are refused from then on.
///
/// # Errors
/// There is no such tenant or provider, or the store failed.
pub async fn remove_provider(app: &App, tenant: &str, id: Uuid) -> Result<(), OperationError> {
    let mut tx = write_existing(app, tenant).await?;
    if !providers::delete(&mut tx, id).await? {
        return Err(OperationError::NotFound("identity provider"));
    }
    app.commit(tx).await?;
    Ok(app.reload_providers().await?)
}

/// Begins a transaction that may write for `tenant`, which must exist.
async fn write_existing(app: &App, tenant: &str) -> Result<Tx, OperationError> {
    let mut tx = app.store.write_as(tenant).await?;
    tenants::find(&mut tx, tenant).await?.ok_or(NO_TENANT)?;
    Ok(tx)
}
