//! The use cases of attribute resolvers (`docs/semantics.md`, section 5.11).

pub(crate) mod admission;
mod try_out;
mod update;

use std::sync::Arc;

use bytes::Bytes;
use portcullis_auth::Manager;
use portcullis_engine::relation::{RELATION, RelationNames};
use portcullis_model::Authorship;
use portcullis_model::page::{Listed, Page};
use portcullis_model::resolver::{Manifest, ResolverRecord, StoredResolver};
use portcullis_resolver_host::Module;
use portcullis_resolvers::{Binding, module_record, namespaces, secrets};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{StoreError, Tx, resolvers};
use tokio::time::Instant;
use uuid::Uuid;

use crate::gated_writes::{self, GatedWrite};
use crate::ownership::ChangeTerms;
use crate::types::declared;
use crate::written::Written;
use admission::{admit, bind};
pub use try_out::{TryOutResult, try_out};
pub(crate) use update::stored_module;
pub use update::{ResolverChange, update};

const NOT_FOUND: OperationError = OperationError::NotFound("resolver");

/// A resolver that is bound, and is not stored yet.
#[derive(Debug)]
struct PreparedResolver {
    record: StoredResolver,
    /// Encrypted.
    secrets: Vec<u8>,
    module: Bytes,
    binding: Binding,
}

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
    let tenant = caller.tenant();
    let admitted = admit(app, tenant, module.clone(), ready_by).await?;
    let by = app.authored_by(caller.actor());
    let digest = admitted.digest.to_string();
    let written = match prepare(app, tenant, manifest, module, admitted, &by) {
        Ok(prepared) => store(app, caller, prepared, &by).await,
        Err(error) => Err(error),
    };
    if written.is_err() {
        // No resolver got the module, so its compiled code is of no use.
        app.resolvers.forget_module(&digest).await;
    }
    written
}

/// Binds an admitted module to its manifest, as a new resolver of `tenant`.
///
/// # Errors
/// The manifest does not fit the module; the paths of the problems begin with `/manifest`.
fn prepare(
    app: &App,
    tenant: &str,
    manifest: &Manifest,
    module: Bytes,
    admitted: Arc<Module>,
    by: &Authorship,
) -> Result<PreparedResolver, OperationError> {
    let record =
        StoredResolver::new(app.ids.next(by.at), tenant, manifest, module_record(&admitted), by);
    let binding = bind(app, tenant, admitted, manifest, "/manifest")?;
    let secrets = secrets::encrypt(&app.keys, &record, &manifest.secrets)?;
    Ok(PreparedResolver { record, secrets, module, binding })
}

/// Stores a prepared resolver, and activates it.
async fn store(
    app: &App,
    caller: &Manager,
    prepared: PreparedResolver,
    by: &Authorship,
) -> Result<Written<StoredResolver>, OperationError> {
    let namespace = &prepared.record.manifest.namespace;
    let change = async |tx: &mut Tx, _: &Authorship| {
        must_be_free(namespace, declared(tx).await?.relations())?;
        if is_of_operator(app, namespace) || !insert(tx, &prepared).await? {
            return Err(taken(namespace));
        }
        Ok(())
    };
    let revision = GatedWrite::new(app, caller, by).make(change).await?.revision;
    Ok(Written::new(activate(app, prepared), revision))
}

/// Inserts a prepared resolver into the transaction's tenant. Returns whether its namespace is free.
async fn insert(tx: &mut Tx, prepared: &PreparedResolver) -> Result<bool, StoreError> {
    let PreparedResolver { record, secrets, module, .. } = prepared;
    resolvers::store(tx, record, secrets, Some(module)).await
}

/// Activates a resolver that is committed, and returns its record.
fn activate(app: &App, prepared: PreparedResolver) -> StoredResolver {
    let PreparedResolver { record, binding, .. } = prepared;
    app.resolvers.activate(&record.tenant_id, record.reference(), binding);
    record
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
    if let Some(record) = of_operator(app, caller.tenant(), id) {
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
    let change = async |tx: &mut Tx, _: &Authorship| {
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
    };
    let Written { record: module, revision, .. } = gated_writes::write(app, caller, change).await?;
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
fn of_operator(app: &App, tenant: &str, id: Uuid) -> Option<ResolverRecord> {
    app.resolvers.operator_records(tenant).into_iter().find(|record| record.id == id)
}

/// Refuses to change an operator resolver. This is no 404, because every tenant can read it.
fn must_be_own(app: &App, tenant: &str, id: Uuid) -> Result<(), OperationError> {
    match of_operator(app, tenant, id) {
        None => Ok(()),
        Some(_) => {
            let what = "the operator installed this resolver; a tenant can only read it";
            Err(OperationError::AccessDenied(what.to_owned()))
        }
    }
}
