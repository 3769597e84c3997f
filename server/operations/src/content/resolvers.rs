//! The use cases of attribute resolvers (`docs/semantics.md`, section 5.11).

pub(crate) mod admission;
mod update;

use std::sync::Arc;

use bytes::Bytes;
use portcullis_auth::Manager;
use portcullis_engine::relation::{RELATION, RelationNames};
use portcullis_model::page::{Listed, Page};
use portcullis_model::resolver::{Manifest, ResolverRecord, StoredResolver};
use portcullis_resolver_host::Module;
use portcullis_resolvers::{module_record, namespaces, secrets};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::resolvers;
use tokio::time::Instant;
use uuid::Uuid;

use super::types::declared;
use crate::changes::gated_writes::{self, GatedWrite};
use crate::changes::ownership::ChangeTerms;
use crate::changes::written::Written;
use admission::{admit, bind};
pub use update::{ResolverChange, update};
pub(crate) use update::{stored_module, stored_secrets};

pub(crate) const NOT_FOUND: OperationError = OperationError::NotFound("resolver");

/// A resolver that a tenant sees.
#[derive(Debug)]
pub enum FoundResolver {
    /// A resolver of the tenant itself.
    Own(Box<StoredResolver>),
    /// A resolver that the operator offers to every tenant.
    Operator(Box<ResolverRecord>),
}

/// Creates a resolver in the caller's tenant, and activates it.
///
/// The module must be admitted before `ready_by`. The admission continues after that, so that a later request with the
/// same module is fast.
///
/// # Errors
/// The module is refused or does not fit the manifest, the namespace is taken, the tenant has too many resolvers, the
/// time is over, or the store failed.
pub async fn create(
    app: &App,
    caller: &Manager,
    manifest: &Manifest,
    module: Bytes,
    ready_by: Instant,
) -> Result<Written<StoredResolver>, OperationError> {
    let admitted = admit(app, caller.tenant(), module.clone(), ready_by).await?;
    let digest = admitted.digest.to_string();
    let written = bind_and_store(app, caller, manifest, (module, admitted)).await;
    if written.is_err() {
        // No resolver got the module, so its compiled code is of no use.
        app.resolvers.forget_module(&digest).await;
    }
    written
}

/// Binds an admitted module to its manifest, stores both as a new resolver, and activates it.
///
/// # Errors
/// The manifest does not fit the module, where the paths of the problems begin with `/manifest`; the namespace is taken, the
/// tenant has too many resolvers, or the store failed.
async fn bind_and_store(
    app: &App,
    caller: &Manager,
    manifest: &Manifest,
    (module, admitted): (Bytes, Arc<Module>),
) -> Result<Written<StoredResolver>, OperationError> {
    let (tenant, by) = (caller.tenant(), &app.authored_by(caller.actor()));
    let record =
        StoredResolver::new(app.ids.next(by.at), tenant, manifest, module_record(&admitted), by);
    let binding = bind(app, tenant, admitted, manifest, "/manifest")?;
    let secrets = secrets::encrypt(&app.keys, &record, &manifest.secrets)?;
    let namespace = &manifest.namespace;
    let written = GatedWrite::new(app, caller, by).make(async |tx, _| {
        must_be_free(namespace, declared(tx).await?.relations())?;
        let is_taken = is_of_operator(app, namespace)
            || !resolvers::store(tx, &record, &secrets, Some(&module)).await?;
        if is_taken { Err(taken(namespace)) } else { Ok(()) }
    });
    let revision = written.await?.revision;
    // After the commit: no check asks a resolver that was not stored.
    app.resolvers.activate(tenant, record.reference(), binding);
    Ok(Written::new(record, revision))
}

/// Lists the operator resolvers, and then the resolvers of the caller's tenant in order of creation.
pub async fn list(
    app: &App,
    caller: &Manager,
    page: Page,
) -> Result<Listed<ResolverRecord>, OperationError> {
    let own = app.read(caller.tenant(), async |tx| resolvers::list_page(tx, page).await).await?;
    // The ids of the operator resolvers come before all others.
    let mut records = app.resolvers.operator_records(caller.tenant());
    records.retain(|record| record.id > page.after);
    records.extend(own.records.into_iter().map(|stored| app.resolvers.record(stored)));
    let most = usize::try_from(page.limit).unwrap_or(usize::MAX);
    let more = own.more || records.len() > most;
    records.truncate(most);
    Ok(Listed { records, more })
}

/// Returns a resolver of the caller's tenant or of the operator.
///
/// # Errors
/// The tenant sees no such resolver, or the store failed.
pub async fn show(app: &App, caller: &Manager, id: Uuid) -> Result<FoundResolver, OperationError> {
    if let Some(record) = find_operator_resolver(app, caller.tenant(), id) {
        return Ok(FoundResolver::Operator(Box::new(record)));
    }
    let stored = app
        .read(caller.tenant(), async |tx| resolvers::find(tx, id).await?.ok_or(NOT_FOUND))
        .await?;
    Ok(FoundResolver::Own(Box::new(stored)))
}

/// Deletes a resolver of the caller's tenant and its module, and returns the tenant's revision.
///
/// # Errors
/// The tenant has no such resolver, the precondition fails, an enabled policy reads the namespace, or the store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    id: Uuid,
    terms: &ChangeTerms,
) -> Result<u64, OperationError> {
    must_be_own(app, caller.tenant(), id)?;
    let written = gated_writes::write(app, caller, async |tx, _| {
        let stored = resolvers::find(tx, id).await?.ok_or(NOT_FOUND)?;
        terms.check(caller, Some(&stored), stored.managed_by.as_deref())?;
        let namespace = &stored.manifest.namespace;
        let readers = namespaces::readers(tx, namespace).await?;
        if !readers.is_empty() {
            let what = format!("enabled policies read `{namespace}`: disable or delete them first");
            return Err(OperationError::StillRead(what, readers));
        }
        resolvers::delete(tx, id).await?;
        Ok(stored.module.sha256)
    });
    let Written { record: module, revision, .. } = written.await?;
    // After the commit: until then checks may ask it.
    app.resolvers.remove(caller.tenant(), id);
    app.resolvers.forget_module(&module).await;
    Ok(revision)
}

/// Whether the operator has a resolver of this namespace.
pub(crate) fn is_of_operator(app: &App, namespace: &str) -> bool {
    app.resolvers.operator_resolvers().iter().any(|resolver| resolver.namespace == namespace)
}

pub(crate) fn taken(namespace: &str) -> OperationError {
    OperationError::Conflict(format!("a resolver with the namespace `{namespace}` already exists"))
}

/// Refuses the namespace of relations, once a type has some.
pub(crate) fn must_be_free(namespace: &str, names: &RelationNames) -> Result<(), OperationError> {
    if namespace != RELATION || names.is_empty() {
        return Ok(());
    }
    let what = "a resolver cannot have the namespace `relation`: types have relations, which policies read as \
                `relation.<name>`; give it another one";
    Err(OperationError::Conflict(what.to_owned()))
}

/// Returns the operator resolver of this id, as `tenant` sees it.
fn find_operator_resolver(app: &App, tenant: &str, id: Uuid) -> Option<ResolverRecord> {
    app.resolvers.operator_records(tenant).into_iter().find(|record| record.id == id)
}

/// Refuses to change an operator resolver. This is no 404, because every tenant can read it.
pub(crate) fn must_be_own(app: &App, tenant: &str, id: Uuid) -> Result<(), OperationError> {
    match find_operator_resolver(app, tenant, id) {
        None => Ok(()),
        Some(_) => {
            let what = "the operator installed this resolver; a tenant can only read it";
            Err(OperationError::AccessDenied(what.to_owned()))
        }
    }
}
