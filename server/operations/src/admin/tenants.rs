//! The use cases of tenants and their identity providers, for the operator in `saas` mode (`docs/semantics.md`,
//! sections 6.9 and 6.10).

use portcullis_model::audit::{ADMIN_ACTOR, Origin};
use portcullis_model::page::{Listed, Page};
use portcullis_model::provider::{NewProvider, ProviderChange, ProviderRecord};
use portcullis_model::service_key::{NewServiceKey, ServiceKeyRecord};
use portcullis_model::sign_in::SignInSecret;
use portcullis_model::tenant::{NewTenant, TenantRecord, TenantState};
use portcullis_model::{Authorship, Timestamp};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::encryption::Context;
use portcullis_storage::{Store, StoreError, Tx, erasure, providers, service_keys, tenants};
use uuid::Uuid;

use super::service_keys::{issue, revoke_in};

const NO_TENANT: OperationError = OperationError::NotFound("tenant");
const NO_PROVIDER: OperationError = OperationError::NotFound("identity provider");

/// A new tenant, with the service key for its first calls.
pub struct CreatedTenant {
    pub record: TenantRecord,
    /// A service key with the default permissions.
    pub bootstrap_key: String,
}

/// Creates a tenant.
///
/// # Errors
/// Another tenant has the slug, or the store failed.
pub async fn create(
    app: &App,
    operator: &Origin,
    tenant: NewTenant,
) -> Result<CreatedTenant, OperationError> {
    let by = app.authored_by(ADMIN_ACTOR);
    let record = tenant.into_record(app.ids.next(by.at), by.at);
    // `write` would create the row of the tenant itself, without name and slug.
    let mut tx = app.store.write_as(&record.id).await?;
    tx.attribute_to(operator, by.at);
    if !tenants::insert(&mut tx, &record).await? {
        let what = format!("a tenant `{}` already exists", record.slug);
        return Err(OperationError::Conflict(what));
    }
    let key = NewServiceKey::named("bootstrap");
    let bootstrap_key = issue(&mut tx, key, &by, &app.ids).await?.key;
    app.commit(tx).await?;
    Ok(CreatedTenant { record, bootstrap_key })
}

/// Lists all tenants, in order of creation.
pub async fn list(app: &App, page: Page) -> Result<Listed<TenantRecord>, OperationError> {
    Ok(app.store.read_all(async |tx| tenants::list(tx, page).await).await?)
}

/// Returns the tenant with this id.
///
/// # Errors
/// There is no such tenant, or the store failed.
pub async fn show(app: &App, tenant: &str) -> Result<TenantRecord, OperationError> {
    app.store.read_all(async |tx| tenants::find(tx, tenant).await?.ok_or(NO_TENANT)).await
}

/// Lists a page of all tenants of a store without a running service, by id.
pub async fn list_offline(
    store: &Store,
    after: &str,
    limit: i64,
) -> Result<Vec<TenantRecord>, StoreError> {
    store.read_all(async |tx| tenants::list_every(tx, after, limit).await).await
}

/// Returns the tenant whose id or slug is `name`, if there is one.
pub async fn find(store: &Store, name: &str) -> Result<Option<TenantRecord>, StoreError> {
    store.read_all(async |tx| tenants::find_by_id_or_slug(tx, name).await).await
}

/// Returns the instant from which on the service forgets the deleted tenant `id`, so that another one may have the id. `None`
/// if no tenant of this id was deleted a short time ago.
pub async fn forgotten_at(store: &Store, id: &str) -> Result<Option<Timestamp>, StoreError> {
    let pending = store.read_all(async |tx| erasure::pending(tx).await).await?;
    let deletion = pending.into_iter().find(|deletion| deletion.tenant == id);
    Ok(deletion.and_then(|deletion| deletion.erased_at).map(|at| at.after(erasure::GRACE)))
}

/// Registers an identity provider of `tenant`. Its tokens are accepted at once.
///
/// # Errors
/// There is no such tenant, the issuer is registered, or the store failed.
pub async fn register_provider(
    app: &App,
    operator: &Origin,
    tenant: &str,
    provider: NewProvider,
) -> Result<ProviderRecord, OperationError> {
    let by = app.authored_by(ADMIN_ACTOR);
    let (record, secret) = provider.into_record(app.ids.next(by.at), tenant, by.at);
    let secret = secret.map(|secret| sealed_secret(app, &record, &secret)).transpose()?;
    let mut tx = write_existing(app, operator, tenant, &by).await?;
    if !providers::insert(&mut tx, &record, secret.as_deref()).await? {
        let what = format!("the issuer `{}` is registered already", record.issuer_url);
        return Err(OperationError::Conflict(what));
    }
    app.commit(tx).await?;
    // This process follows the change at once, as the others do when they are notified.
    app.catch_up().await?;
    // Nobody waits for the key set. A mistake in its address is in the log before the first token.
    let (warm, issuer) = (app.clone(), record.issuer_url.clone());
    tokio::spawn(async move { warm.authenticator.warm_up(&[issuer]).await });
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
    read_existing(&app.store, tenant, async |tx| Ok(providers::list(tx, page).await?)).await
}

/// Returns an identity provider of `tenant`.
///
/// # Errors
/// There is no such tenant or provider, or the store failed.
pub async fn show_provider(
    app: &App,
    tenant: &str,
    id: Uuid,
) -> Result<ProviderRecord, OperationError> {
    let found = read_existing(&app.store, tenant, async |tx| {
        providers::find(tx, id).await?.ok_or(NO_PROVIDER)
    });
    found.await
}

/// Changes an identity provider of `tenant`. Its tokens are accepted without a gap.
///
/// # Errors
/// There is no such tenant or provider, the change names another issuer, or the store failed.
pub async fn change_provider(
    app: &App,
    operator: &Origin,
    tenant: &str,
    id: Uuid,
    change: ProviderChange,
) -> Result<ProviderRecord, OperationError> {
    let mut tx = write_existing(app, operator, tenant, &app.authored_by(ADMIN_ACTOR)).await?;
    let mut record = providers::find(&mut tx, id).await?.ok_or(NO_PROVIDER)?;
    if change.names_other_issuer(&record) {
        return Err(OperationError::BadRequest(format!(
            "`issuer_url` cannot change from `{}`: register another provider",
            record.issuer_url
        )));
    }
    let secret = change.apply_to(&mut record);
    providers::update(&mut tx, &record).await?;
    match secret {
        SignInSecret::Kept => {}
        SignInSecret::Removed => providers::store_secret(&mut tx, id, None).await?,
        SignInSecret::Stored(secret) => {
            let sealed = sealed_secret(app, &record, &secret)?;
            providers::store_secret(&mut tx, id, Some(&sealed)).await?;
        }
    }
    app.commit(tx).await?;
    app.catch_up().await?;
    Ok(record)
}

/// Returns the encrypted secret of the client of a provider.
fn sealed_secret(
    app: &App,
    record: &ProviderRecord,
    secret: &str,
) -> Result<Vec<u8>, OperationError> {
    let context = Context::for_client_secret(&record.tenant_id, record.id);
    Ok(app.keys.encrypt(context, secret.as_bytes())?)
}

/// Removes an identity provider of `tenant`. Its tokens are refused from then on.
///
/// # Errors
/// There is no such tenant or provider, or the store failed.
pub async fn remove_provider(
    app: &App,
    operator: &Origin,
    tenant: &str,
    id: Uuid,
) -> Result<(), OperationError> {
    let mut tx = write_existing(app, operator, tenant, &app.authored_by(ADMIN_ACTOR)).await?;
    if !providers::delete(&mut tx, id).await? {
        return Err(NO_PROVIDER);
    }
    app.commit(tx).await?;
    Ok(app.catch_up().await?)
}

/// Lists the service keys of `tenant`, in order of creation. It needs no running service.
///
/// # Errors
/// There is no such tenant, or the store failed.
pub async fn list_keys(
    store: &Store,
    tenant: &str,
    page: Page,
) -> Result<Listed<ServiceKeyRecord>, OperationError> {
    read_existing(store, tenant, async |tx| Ok(service_keys::list(tx, page).await?)).await
}

/// Revokes a service key of `tenant`. It is refused from then on, on every replica.
///
/// # Errors
/// There is no such tenant or key, or the store failed.
pub async fn revoke_key(
    app: &App,
    operator: &Origin,
    tenant: &str,
    id: Uuid,
) -> Result<(), OperationError> {
    let by = app.authored_by(ADMIN_ACTOR);
    let mut tx = write_existing(app, operator, tenant, &by).await?;
    revoke_in(&mut tx, id, &by).await?;
    app.commit(tx).await?;
    Ok(())
}

/// Revokes a service key of `tenant` in a store without a running service.
///
/// # Errors
/// The errors of [`revoke_key`].
pub async fn revoke_key_offline(
    store: &Store,
    (operator, by): (&Origin, &Authorship),
    tenant: &str,
    id: Uuid,
) -> Result<(), OperationError> {
    let mut tx = store.write_as(tenant).await?;
    tx.attribute_to(operator, by.at);
    tenants::find(&mut tx, tenant).await?.ok_or(NO_TENANT)?;
    revoke_in(&mut tx, id, by).await?;
    tx.commit().await?;
    Ok(())
}

/// Runs `work` in a transaction that reads records of `tenant`, which must exist.
async fn read_existing<T>(
    store: &Store,
    tenant: &str,
    work: impl AsyncFnOnce(&mut Tx) -> Result<T, OperationError>,
) -> Result<T, OperationError> {
    let worked = store.read(tenant, async |tx| {
        tenants::find(tx, tenant).await?.ok_or(NO_TENANT)?;
        work(tx).await
    });
    worked.await
}

/// Begins a transaction in which the operator changes `tenant`, which must exist. It may be suspended.
async fn write_existing(
    app: &App,
    operator: &Origin,
    tenant: &str,
    by: &Authorship,
) -> Result<Tx, OperationError> {
    // `write` would refuse a suspended tenant, which the operator may change.
    let mut tx = app.store.write_as(tenant).await?;
    tx.attribute_to(operator, by.at);
    match tenants::find(&mut tx, tenant).await?.ok_or(NO_TENANT)?.state {
        Some(TenantState::Deleting) => {
            Err(OperationError::Conflict("the tenant is being deleted".to_owned()))
        }
        _ => Ok(tx),
    }
}
