//! The use cases of types (`docs/semantics.md`, section 12.9).

use portcullis_auth::Manager;
use portcullis_engine::Namespaces;
use portcullis_engine::types::Types;
use portcullis_model::page::Listed;
use portcullis_model::types::{NewType, TypeRecord, exceeded_limit};
use portcullis_resolvers::namespaces;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{StoreError, Tx, types};

use crate::changes::gated_writes::GatedWrite;
use crate::changes::ownership::ChangeTerms;
use crate::changes::written::{Stored, Written};

mod broken;
mod broken_objects;
mod compiled;
mod relations;

pub(crate) use compiled::compiled;

pub(crate) use broken::{Breaking, broken_cases, broken_policies, check_entities};
pub(crate) use broken_objects::{must_be_none, note};
pub(crate) use relations::{
    broken_namespace, broken_subjects, broken_tuples, schema, stored_schema,
};

/// Most bytes of the declarations of a tenant: each write of a policy or of entities reads them.
const MAX_BYTES: usize = 512 * 1_024;

const NOT_FOUND: OperationError = OperationError::NotFound("type");

/// Declares a type, in place of the declaration from before.
///
/// # Errors
/// A relation has a fault, the precondition does not hold, the type is managed and the change not forced, stored objects
/// would break, the tenant has too many types, or the store failed.
pub async fn put(
    app: &App,
    caller: &Manager,
    terms: &ChangeTerms,
    declared: NewType,
) -> Result<Written<Stored<TypeRecord>>, OperationError> {
    let by = app.authored_by(caller.actor());
    let name = declared.kind.clone();
    let mut breaking = Breaking::judge(app, caller, &name, Some(&declared)).await?;
    let mut write = GatedWrite::new(app, caller, &by);
    loop {
        let mut tx = write.begin().await?;
        let old = types::find(&mut tx, &name).await?;
        let owner = old.as_ref().and_then(|old| old.managed_by.as_deref());
        terms.check(caller, old.as_ref(), owner)?;
        let is_new = old.is_none();
        let record = match old {
            Some(old) if old.says(&declared) => old,
            old => {
                if !breaking.is_about(&mut tx).await? {
                    write = write.in_turn(tx.cancel().await?);
                    breaking = breaking.again(app, caller, &name, Some(&declared)).await?;
                    continue;
                }
                breaking.must_be_none()?;
                let record = match old {
                    Some(old) => old.with(declared.clone(), &by),
                    None => declared.clone().into_record(&by),
                };
                let stored = types::all(&mut tx).await?;
                let others = stored.iter().filter(|other| other.kind != name);
                must_be_few(others.chain([&record]))?;
                types::store(&mut tx, &record).await?;
                record
            }
        };
        if let Some(revision) = write.commit(tx).await? {
            return Ok(Written::new(Stored { record, is_new }, revision));
        }
    }
}

/// Refuses more types, or larger ones, than a tenant may have.
pub(crate) fn must_be_few<'t>(
    types: impl IntoIterator<Item = &'t TypeRecord>,
) -> Result<(), OperationError> {
    let (mut count, mut bytes) = (0, 0);
    for declared in types {
        count += 1;
        // Texts and maps of them: there is nothing that could not be written.
        let TypeRecord { about, properties, relations, .. } = declared;
        let text = serde_json::to_string(&(about, properties, relations));
        bytes += text.map_or(0, |text| text.len());
    }
    let limit = match exceeded_limit(count) {
        None if bytes > MAX_BYTES => format!("types of at most {} KiB together", MAX_BYTES >> 10),
        None => return Ok(()),
        Some(limit) => limit,
    };
    Err(OperationError::Conflict(format!("the tenant may have {limit}; delete some first")))
}

/// Lists the types that the caller's tenant declares, in the order of names.
pub async fn list(
    app: &App,
    caller: &Manager,
    after: &str,
    limit: i64,
) -> Result<Listed<TypeRecord>, OperationError> {
    app.read(caller.tenant(), async |tx| types::list(tx, after, limit).await).await
}

/// Returns a type that the caller's tenant declares.
///
/// # Errors
/// The tenant declares no such type, or the store failed.
pub async fn get(app: &App, caller: &Manager, name: &str) -> Result<TypeRecord, OperationError> {
    app.read(caller.tenant(), async |tx| types::find(tx, name).await?.ok_or(NOT_FOUND)).await
}

/// Takes the declaration of a type back, and returns the tenant's revision.
///
/// # Errors
/// The tenant declares no such type, the precondition does not hold, the type is managed and the change not forced, stored
/// objects would break, or the store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    name: &str,
    terms: &ChangeTerms,
) -> Result<u64, OperationError> {
    let by = app.authored_by(caller.actor());
    let mut breaking = Breaking::judge(app, caller, name, None).await?;
    let mut write = GatedWrite::new(app, caller, &by);
    loop {
        let mut tx = write.begin().await?;
        let record = types::find(&mut tx, name).await?.ok_or(NOT_FOUND)?;
        terms.check(caller, Some(&record), record.managed_by.as_deref())?;
        if !breaking.is_about(&mut tx).await? {
            write = write.in_turn(tx.cancel().await?);
            breaking = breaking.again(app, caller, name, None).await?;
            continue;
        }
        breaking.must_be_none()?;
        types::delete(&mut tx, name).await?;
        if let Some(revision) = write.commit(tx).await? {
            return Ok(revision);
        }
    }
}

/// Returns the types that the transaction's tenant declares.
pub(crate) async fn declared(tx: &mut Tx) -> Result<Types, StoreError> {
    Ok(compiled(&types::all(tx).await?))
}

/// Returns what the policies of the transaction's tenant may read.
pub(crate) async fn readable(app: &App, tx: &mut Tx) -> Result<Namespaces, StoreError> {
    let resolvers = namespaces::for_tenant(tx, &app.resolvers.operator_resolvers()).await?;
    Ok(resolvers.with_types(declared(tx).await?))
}
