//! The tenants of the console, and the identity providers where their people sign in (`docs/semantics.md`, section 19.2).

use portcullis_auth::sign_in::SignInProvider;
use portcullis_auth::{Mode, OidcConfig, SignInClient};
use portcullis_model::page::Page;
use portcullis_model::provider::ProviderRecord;
use portcullis_model::sign_in::SignIn;
use portcullis_model::tenant::TenantRecord;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::encryption::Context;
use portcullis_storage::{providers, tenants};
use url::Url;
use uuid::Uuid;

/// Most providers of a tenant on the page to sign in.
const MAX_PROVIDERS: i64 = 20;

/// A provider where people sign in.
#[derive(Clone, Debug)]
pub struct LoginProvider {
    /// `None` for the one provider of `selfhost` mode.
    pub id: Option<Uuid>,
    /// The name that the operator gave it, or its host.
    pub name: String,
    pub provider: SignInProvider,
}

/// Returns the one provider of `selfhost` mode, if people sign in there.
pub fn only_provider(app: &App) -> Option<LoginProvider> {
    let (Mode::Selfhost(Some(oidc)) | Mode::SingleTenant { oidc: Some(oidc), .. }) = &app.mode
    else {
        return None;
    };
    let client = app.console.as_ref()?.config.client.clone()?;
    let OidcConfig { issuer, .. } = oidc;
    let provider = SignInProvider { issuer: issuer.clone(), client };
    Some(LoginProvider { id: None, name: host_of(issuer), provider })
}

/// Lists the providers where people of `tenant` sign in.
///
/// # Errors
/// The store failed.
pub async fn list(app: &App, tenant: &str) -> Result<Vec<LoginProvider>, OperationError> {
    if !matches!(app.mode, Mode::Saas { .. }) {
        return Ok(only_provider(app).into_iter().collect());
    }
    let page = Page { after: Uuid::nil(), limit: MAX_PROVIDERS };
    let listed = app.read(tenant, async |tx| providers::list(tx, page).await).await?;
    let all = listed.records.into_iter().filter_map(|record| login_provider(record, None));
    Ok(all.collect())
}

/// Returns the provider `id` of `tenant` with the secret of its client, if people sign in there.
///
/// # Errors
/// The secret cannot be decrypted, or the store failed.
pub async fn sign_in_provider(
    app: &App,
    tenant: &str,
    id: Option<Uuid>,
) -> Result<Option<LoginProvider>, OperationError> {
    let Some(id) = id else { return Ok(only_provider(app)) };
    let found = app.read(tenant, async |tx| {
        let record = providers::find(tx, id).await?;
        Ok::<_, OperationError>((record, providers::secret(tx, id).await?))
    });
    let (record, sealed) = found.await?;
    let Some(record) = record else { return Ok(None) };
    let secret = match sealed {
        Some(sealed) => {
            let plain = app.keys.decrypt(Context::for_client_secret(tenant, id), &sealed)?;
            // It was a text when it was encrypted.
            Some(String::from_utf8_lossy(&plain).into_owned())
        }
        None => None,
    };
    Ok(login_provider(record, secret))
}

fn login_provider(record: ProviderRecord, secret: Option<String>) -> Option<LoginProvider> {
    let SignIn { client_id, scopes, audience, identity, name, .. } = record.sign_in?;
    let name = name.unwrap_or_else(|| host_of(&record.issuer_url));
    let client = SignInClient { id: client_id, secret, scopes, audience, identity };
    let provider = SignInProvider { issuer: record.issuer_url, client };
    Some(LoginProvider { id: Some(record.id), name, provider })
}

fn host_of(issuer: &str) -> String {
    let host = Url::parse(issuer).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| issuer.to_owned())
}

/// Returns the tenant that a URL names: by its slug in `saas` mode, else by its id. Where a domain is a tenant, each one that a
/// token may name exists.
///
/// # Errors
/// The store failed.
pub async fn tenant_of(app: &App, name: &str) -> Result<Option<ConsoleTenant>, OperationError> {
    if !matches!(app.mode, Mode::Saas { .. }) {
        let tenant = ConsoleTenant { id: name.to_owned(), name: name.to_owned() };
        return Ok(app.mode.serves(name).then_some(tenant));
    }
    let found: Option<TenantRecord> =
        app.store.read_all(async |tx| tenants::find_by_id_or_slug(tx, name).await).await?;
    // An id is no name in a URL.
    let found = found.filter(|tenant| tenant.slug == name);
    Ok(found.map(|tenant| ConsoleTenant { id: tenant.id, name: tenant.slug }))
}

/// A tenant with its name in URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleTenant {
    pub id: String,
    pub name: String,
}

/// Returns the tenant with this id and its name in URLs.
///
/// # Errors
/// There is no such tenant, or the store failed.
pub async fn named(app: &App, id: &str) -> Result<ConsoleTenant, OperationError> {
    if !matches!(app.mode, Mode::Saas { .. }) {
        return Ok(ConsoleTenant { id: id.to_owned(), name: id.to_owned() });
    }
    let found: Option<TenantRecord> =
        app.store.read_all(async |tx| tenants::find(tx, id).await).await?;
    let found = found.ok_or(OperationError::NotFound("tenant"))?;
    Ok(ConsoleTenant { id: found.id, name: found.slug })
}
