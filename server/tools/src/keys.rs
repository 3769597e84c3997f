//! `portcullis keys`: service keys without an identity provider and without a running service.

use std::io::Write;

use anyhow::{Context, anyhow, bail};
use chrono::{DateTime, Utc};
use portcullis_config::Variables;
use portcullis_engine::names::names;
use portcullis_engine::{Invalid, Json};
use portcullis_model::clock::Clock;
use portcullis_model::ids::Ids;
use portcullis_model::page::Page;
use portcullis_model::service_key::{DOMAIN_FORM, NewServiceKey, Permission, is_domain};
use portcullis_model::tenant::TenantState;
use portcullis_operations::{service_keys, tenants};
use uuid::Uuid;

use crate::init::is_plain;
use crate::operator::OfflineOperator;

/// The most keys that are read at a time.
const PAGE: i64 = 500;

/// The arguments of `portcullis keys create`.
#[derive(Debug, clap::Args)]
pub struct CreateKeyArguments {
    /// The tenant's id, or in `saas` mode its slug.
    #[arg(long)]
    tenant: String,
    /// A name that says what the key is for.
    #[arg(long)]
    name: String,
    /// A longer text about the key.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The instant at which the key expires, such as `2030-01-01T00:00:00Z` [default: never].
    #[arg(long, value_name = "RFC 3339")]
    expires_at: Option<String>,
    /// The permissions of the key, such as `resources:read,resources:write` [default: all but `audit:read`,
    /// `access:evaluate`, `access:search`, `policies:force`, `entities:read`, `entities:write`, `relations:read`,
    /// `relations:write`, `relations:assume`, `decisions:read` and `decisions:write`]. Name `access:evaluate` for a key that
    /// requests checks.
    #[arg(long, value_delimiter = ',')]
    permissions: Vec<String>,
    /// The one RBAC domain in which the key's checks are decided, as the domain claim of a token is. Needed in `saas` mode and
    /// with SINGLE_TENANT, unless each check names its `domain`. Otherwise a key has the domain of its tenant.
    #[arg(long)]
    domain: Option<String>,
    /// Create the tenant if it does not exist, in `selfhost` mode.
    #[arg(long)]
    create_tenant: bool,
}

/// Creates a key and prints it. The tenant must exist, unless the arguments say that it is created.
pub async fn create(variables: &Variables, arguments: &CreateKeyArguments) -> anyhow::Result<()> {
    let key = new_key(arguments, Clock::system().now())?;
    let operator = OfflineOperator::open_or_create(variables, arguments.create_tenant).await?;
    let tenant = existing_or_new(&operator, arguments).await?;
    let fits = service_keys::must_fit(&key, operator.key_domain(&tenant));
    fits.map_err(|expected| anyhow!("--domain: expected {expected}"))?;
    let OfflineOperator { store, origin, by, .. } = &operator;
    let issued =
        service_keys::create_offline(store, &tenant, key, (origin, by), &Ids::new()).await?;
    store.close().await;
    writeln!(std::io::stdout(), "{}", issued.key)?;
    Ok(())
}

/// Returns the id of the tenant that the arguments name. The first write of `selfhost` mode creates a tenant: a mistyped
/// name would get its own key.
async fn existing_or_new(
    operator: &OfflineOperator,
    arguments: &CreateKeyArguments,
) -> anyhow::Result<String> {
    let name = &*arguments.tenant;
    operator.must_serve(name).context("--tenant")?;
    // A tenant that exists needs no further check: its name was accepted when it was made.
    if let Some(tenant) = tenants::find(&operator.store, name).await? {
        if tenant.state == Some(TenantState::Deleting) {
            bail!("--tenant: the tenant `{name}` is being deleted");
        }
        return Ok(tenant.id);
    }
    operator.must_be_free(name).await.context("--tenant")?;
    if !operator.creates_tenants() {
        bail!("--tenant: there is no tenant `{name}`; `POST /admin/tenants` creates one");
    }
    if !arguments.create_tenant {
        bail!("--tenant: there is no tenant `{name}`; add --create-tenant to create it");
    }
    if !is_domain(name) {
        bail!("--tenant: expected {DOMAIN_FORM}, not `{name}`");
    }
    // A name of a setting is not mistyped here.
    if !operator.has_one_tenant() && !name.chars().all(is_plain) {
        bail!("--tenant: expected letters, digits, `-`, `_` and `.`, not `{name}`");
    }
    Ok(name.to_owned())
}

/// Prints each key of `tenant` without its secret, as a line of JSON.
pub async fn list(variables: &Variables, tenant: &str) -> anyhow::Result<()> {
    let operator = OfflineOperator::open(variables).await?;
    let tenant = operator.tenant(tenant).await.context("--tenant")?;
    let mut out = std::io::stdout();
    let mut page = Page { after: Uuid::nil(), limit: PAGE };
    loop {
        let keys = tenants::list_keys(&operator.store, &tenant, page).await?;
        let Some(last) = keys.records.last() else { break };
        // Keys are listed by id, so the last one is the place of the next page.
        page.after = last.id;
        for key in &keys.records {
            // The form of JSON: a name may hold any character.
            writeln!(out, "{}", serde_json::to_string(key)?)?;
        }
    }
    operator.store.close().await;
    Ok(())
}

/// Reads the id of a key of the command line.
///
/// # Errors
/// The text is not an id. It may be the name of a key.
pub fn key_id(text: &str) -> Result<Uuid, String> {
    text.parse().map_err(|_| "expected the id of a key, as `portcullis keys list` shows it".into())
}

/// Revokes the key `id` of `tenant`.
pub async fn revoke(variables: &Variables, tenant: &str, id: Uuid) -> anyhow::Result<()> {
    let operator = OfflineOperator::open(variables).await?;
    let tenant = operator.tenant(tenant).await.context("--tenant")?;
    let OfflineOperator { store, origin, by, .. } = &operator;
    tenants::revoke_key_offline(store, (origin, by), &tenant, id).await?;
    store.close().await;
    writeln!(std::io::stdout(), "the key {id} is revoked")?;
    Ok(())
}

/// Returns the input of the use case. Without permissions the key has the default ones.
fn new_key(arguments: &CreateKeyArguments, now: DateTime<Utc>) -> anyhow::Result<NewServiceKey> {
    let texts = [
        ("name", Some(&arguments.name)),
        ("description", arguments.description.as_ref()),
        ("expires_at", arguments.expires_at.as_ref()),
    ];
    let texts = texts
        .into_iter()
        .filter_map(|(name, text)| Some((name.into(), Json::String(text?.as_str().into()))));
    let body = Json::Object(texts.collect());
    let mut key = NewServiceKey::parse(&body, now).map_err(|invalid| by_argument(&invalid))?;
    if !arguments.permissions.is_empty() {
        let permissions = arguments.permissions.iter().map(|text| permission(text));
        key.permissions = permissions.collect::<Result<_, _>>()?;
    }
    if let Some(domain) = &arguments.domain {
        if !is_domain(domain) {
            bail!("--domain: expected {DOMAIN_FORM}, not `{domain}`");
        }
        key.domain = Some(domain.clone());
    }
    Ok(key)
}

/// Returns the faults of a body with the arguments in place of its members.
fn by_argument(invalid: &Invalid) -> anyhow::Error {
    let faults = invalid.problems().iter().map(|problem| {
        // The members of the body have the names of the arguments.
        let argument = problem.path.replace('/', "--").replace('_', "-");
        format!("{argument}: {}", problem.fault)
    });
    anyhow!(faults.collect::<Vec<_>>().join("; "))
}

fn permission(text: &str) -> anyhow::Result<Permission> {
    text.parse().map_err(|_| {
        let known = names::<Permission>().collect::<Vec<_>>().join(", ");
        anyhow!("--permissions: `{text}` is unknown; the permissions are {known}")
    })
}
