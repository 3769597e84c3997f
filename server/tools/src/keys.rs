//! `portcullis keys`: service keys without an identity provider and without a running service.

use std::io::Write;

use anyhow::Context;
use portcullis_config::Variables;
use portcullis_model::ids::Ids;
use portcullis_model::page::Page;
use portcullis_model::service_key::{NewServiceKey, Permission};
use portcullis_operations::{service_keys, tenants};
use uuid::Uuid;

use crate::operator::{OfflineOperator, shown};

/// The most keys that are read at a time.
const PAGE: i64 = 500;

/// Creates a key for `tenant` and prints it. In `saas` mode `tenant` is an id or a slug of an existing tenant; in
/// `selfhost` mode it is an id, and the first write creates the tenant.
pub async fn create(
    variables: &Variables,
    tenant: &str,
    name: &str,
    permissions: &[String],
) -> anyhow::Result<()> {
    let key = new_key(name, permissions)?;
    let operator = OfflineOperator::open(variables).await?;
    let tenant = operator.tenant(tenant).await.context("--tenant")?;
    let OfflineOperator { store, origin, by, .. } = &operator;
    let issued =
        service_keys::create_offline(store, &tenant, key, (origin, by), &Ids::new()).await?;
    store.close().await;
    writeln!(std::io::stdout(), "{}", issued.key)?;
    Ok(())
}

/// Prints each key of `tenant` without its secret, as a line of JSON.
pub async fn list(variables: &Variables, tenant: &str) -> anyhow::Result<()> {
    let operator = OfflineOperator::open(variables).await?;
    let tenant = operator.tenant(tenant).await.context("--tenant")?;
    let mut out = std::io::stdout();
    let mut page = Page { after: Uuid::nil(), limit: PAGE };
    loop {
        let keys = tenants::list_keys(&operator.store, &tenant, page).await.map_err(shown)?;
        let Some(last) = keys.records.last() else { break };
        page.after = last.id;
        for key in &keys.records {
            // The form of JSON: a name may hold any character.
            writeln!(out, "{}", serde_json::to_string(key)?)?;
        }
    }
    operator.store.close().await;
    Ok(())
}

/// Revokes the key `id` of `tenant`.
pub async fn revoke(variables: &Variables, tenant: &str, id: Uuid) -> anyhow::Result<()> {
    let operator = OfflineOperator::open(variables).await?;
    let tenant = operator.tenant(tenant).await.context("--tenant")?;
    let OfflineOperator { store, origin, by, .. } = &operator;
    tenants::revoke_key_offline(store, (origin, by), &tenant, id).await.map_err(shown)?;
    store.close().await;
    writeln!(std::io::stdout(), "the key {id} is revoked")?;
    Ok(())
}

/// Returns the input of the use case. Without `permissions` the key has the default permissions.
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
