//! Writes a plan in the transaction that it was made in.

use portcullis_model::Authorship;
use portcullis_model::resolver::StoredResolver;
use portcullis_model::role::RoleRecord;
use portcullis_model::types::TypeRecord;
use portcullis_model::wanted_webhook::WantedWebhook;
use portcullis_model::webhook::WebhookRecord;
use portcullis_resolvers::secrets;
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::{self, RecordWrite};
use portcullis_storage::encryption::{Context, KeyRing};
use portcullis_storage::{StoreError, Tx, resolvers, roles, types, webhooks};

use super::plan::ApplyPlan;
use super::ready::ReadyResolver;
use crate::content::resolvers::taken;
use crate::content::roles::must_not_be_entities;

/// The JSON pointer of the roles of a bundle.
pub(super) const ROLES: &str = "/bundle/roles";

/// The parts of a write that a plan does not show.
#[derive(Clone, Copy, Debug)]
pub struct Execution<'e> {
    pub keys: &'e KeyRing,
    pub by: &'e Authorship,
    /// The resolvers of the bundle.
    pub resolvers: &'e [ReadyResolver],
    /// The webhooks of the bundle.
    pub webhooks: &'e [WantedWebhook],
}

/// Writes `plan`, with the audit records and events of each change.
///
/// # Errors
/// The store failed, or a secret cannot be encrypted.
pub async fn execute(
    tx: &mut Tx,
    plan: &ApplyPlan,
    execution: &Execution<'_>,
) -> Result<(), OperationError> {
    let writes = &plan.writes;
    bulk::write_resources(tx, &writes.resources, execution.by).await?;
    bulk::write_rules(tx, &writes.rules, execution.by).await?;
    write_roles(tx, &writes.roles).await?;
    write_types(tx, &writes.types).await?;
    bulk::write_policies(tx, &writes.policies, execution.by).await?;
    for write in &writes.resolvers {
        write_resolver(tx, write, execution).await?;
    }
    for write in &writes.webhooks {
        write_webhook(tx, write, execution).await?;
    }
    Ok(())
}

async fn write_roles(
    tx: &mut Tx,
    writes: &[RecordWrite<RoleRecord>],
) -> Result<(), OperationError> {
    let new = writes.iter().filter_map(RecordWrite::after);
    // An entity may have got the name since the plan was made.
    must_not_be_entities(tx, new.map(|role| (&*role.name, &*role.includes)), ROLES).await?;
    for write in writes {
        match write {
            RecordWrite::Insert(new) | RecordWrite::Update { new, .. } => {
                roles::store(tx, new).await?;
            }
            RecordWrite::Delete(old) => _ = roles::delete(tx, &old.name).await?,
        }
    }
    Ok(())
}

async fn write_types(tx: &mut Tx, writes: &[RecordWrite<TypeRecord>]) -> Result<(), StoreError> {
    for write in writes {
        match write {
            RecordWrite::Insert(new) | RecordWrite::Update { new, .. } => {
                types::store(tx, new).await?;
            }
            RecordWrite::Delete(old) => _ = types::delete(tx, &old.kind).await?,
        }
    }
    Ok(())
}

async fn write_resolver(
    tx: &mut Tx,
    write: &RecordWrite<StoredResolver>,
    execution: &Execution<'_>,
) -> Result<(), OperationError> {
    let Some(new) = write.after() else {
        if let Some(old) = write.before() {
            resolvers::delete(tx, old.id).await?;
        }
        return Ok(());
    };
    let namespace = &new.manifest.namespace;
    let wanted = execution.resolvers.iter().find(|one| one.manifest.namespace == *namespace);
    let Some(wanted) = wanted else { return Ok(()) };
    let encrypted = secrets::encrypt(execution.keys, new, &wanted.manifest.secrets)?;
    let module = wanted.module.as_deref();
    let is_written = resolvers::store(tx, new, &encrypted, module).await?;
    if is_written { Ok(()) } else { Err(taken(namespace)) }
}

async fn write_webhook(
    tx: &mut Tx,
    write: &RecordWrite<WebhookRecord>,
    execution: &Execution<'_>,
) -> Result<(), OperationError> {
    let Some(new) = write.after() else {
        if let Some(old) = write.before() {
            webhooks::delete(tx, old.id).await?;
        }
        return Ok(());
    };
    let wanted = execution.webhooks.iter().find(|webhook| webhook.url == new.url);
    let secret = wanted.and_then(|webhook| webhook.secret.as_ref());
    let encrypt = |secret: &[u8]| {
        let context = Context::for_webhook_secret(&new.tenant_id, new.id);
        execution.keys.encrypt(context, secret)
    };
    let secret = secret.map(|secret| encrypt(secret.as_bytes())).transpose()?;
    match write.before() {
        Some(_) => webhooks::update(tx, new, secret.as_deref()).await?,
        // A new one without secret is refused by the plan.
        None => webhooks::insert(tx, new, &secret.unwrap_or_default()).await?,
    }
    Ok(())
}
