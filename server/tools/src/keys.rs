//! `portcullis keys create`: a first service key, without an identity provider.

use std::io::Write;

use anyhow::Context;

use portcullis_auth::ADMIN_ACTOR;
use portcullis_config::{Variables, open_database};
use portcullis_model::Authorship;
use portcullis_model::clock::Clock;
use portcullis_model::ids::Ids;
use portcullis_model::service_key::{NewServiceKey, Permission};
use portcullis_storage::{Store, Tx, service_keys, tenants};

/// Who is written down as the author of a key made on the command line: whoever reaches the database is
/// the operator.
const ACTOR: &str = ADMIN_ACTOR;

/// Creates a key for `tenant` (its id; in `saas` mode its slug will do) and prints it.
pub async fn create(
    variables: &Variables,
    tenant: &str,
    name: &str,
    permissions: &[String],
) -> anyhow::Result<()> {
    let mut key = NewServiceKey::named(name);
    if !permissions.is_empty() {
        let parse = |text: &String| {
            Permission::parse(text).with_context(|| {
                let known = Permission::ALL.map(Permission::as_str).join(", ");
                format!("--permissions: `{text}` is unknown; there are {known}")
            })
        };
        key.permissions = permissions.iter().map(parse).collect::<Result<_, _>>()?;
    }
    let saas = variables.is_saas()?;
    let store = open_database(&variables.database_url()).await?;
    let by = Authorship { actor: ACTOR.to_owned(), at: Clock::system().now().into() };
    let mut tx = begin(&store, tenant, saas, &by).await?;
    let (record, text) = key.issue(Ids::new().next(by.at), &by);
    service_keys::insert(&mut tx, &record).await?;
    tx.commit().await?;
    store.close().await;
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}

/// In `selfhost` mode a tenant comes into being with its first write; in `saas` mode it must be there.
async fn begin(store: &Store, tenant: &str, saas: bool, by: &Authorship) -> anyhow::Result<Tx> {
    if !saas {
        return Ok(store.write(tenant, by.at.millis()).await?);
    }
    let mut tx = store.read_all().await?;
    let found = tenants::find_by_id_or_slug(&mut tx, tenant).await?;
    tx.end().await?;
    let found = found.with_context(|| format!("--tenant: there is no tenant `{tenant}`"))?;
    Ok(store.write(&found.id, by.at.millis()).await?)
}
