//! `portcullis keys create`: a first service key, without an identity provider.

use std::io::Write;

use anyhow::Context;
use portcullis_auth::ADMIN_ACTOR;
use portcullis_config::{Variables, open_database};
use portcullis_model::Authorship;
use portcullis_model::clock::Clock;
use portcullis_model::ids::Ids;
use portcullis_model::service_key::{NewServiceKey, Permission};
use portcullis_operations::{service_keys, tenants};
use portcullis_storage::Store;

/// Creates a key for `tenant` and prints it. In `saas` mode `tenant` is an id or a slug of an existing tenant; in
/// `selfhost` mode it is an id, and the first write creates the tenant.
pub async fn create(
    variables: &Variables,
    tenant: &str,
    name: &str,
    permissions: &[String],
) -> anyhow::Result<()> {
    let key = new_key(name, permissions)?;
    let is_saas = variables.is_saas()?;
    let store = open_database(&variables.database_url()).await?;
    let tenant = if is_saas { id_of(&store, tenant).await? } else { tenant.to_owned() };
    // Whoever reaches the database is the operator.
    let by = Authorship { actor: ADMIN_ACTOR.to_owned(), at: Clock::system().now().into() };
    let issued = service_keys::create_offline(&store, &tenant, key, &by, &Ids::new()).await?;
    store.close().await;
    writeln!(std::io::stdout(), "{}", issued.key)?;
    Ok(())
}

/// Returns the input of the use case. Without `permissions` the key has every permission.
fn new_key(name: &str, permissions: &[String]) -> anyhow::Result<NewServiceKey> {
    let mut key = NewServiceKey::named(name);
    if !permissions.is_empty() {
        key.permissions =
            permissions.iter().map(|text| permission(text)).collect::<Result<_, _>>()?;
    }
    Ok(key)
}

fn permission(text: &str) -> anyhow::Result<Permission> {
    Permission::parse(text).with_context(|| {
        let known = Permission::ALL.map(Permission::as_str).join(", ");
        format!("--permissions: `{text}` is unknown; there are {known}")
    })
}

/// Returns the id of the tenant whose id or slug is `name`.
async fn id_of(store: &Store, name: &str) -> anyhow::Result<String> {
    let found = tenants::find(store, name).await?;
    let found = found.with_context(|| format!("--tenant: there is no tenant `{name}`"))?;
    Ok(found.id)
}
