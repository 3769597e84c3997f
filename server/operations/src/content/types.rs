//! The use cases of types (`docs/semantics.md`, section 12.9).

use portcullis_auth::Manager;
use portcullis_model::page::Listed;
use portcullis_model::types::{NewType, TypeRecord};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::types;

use crate::changes::ownership::ChangeTerms;
use crate::changes::written::{Stored, Written};

mod broken;
mod broken_objects;
mod compiled;
mod limits;
mod readable;
mod references;
mod relations;
mod unbroken_writes;

pub(crate) use compiled::compiled;
pub(crate) use readable::{declared, readable};

pub(crate) use broken::{
    ProposedChange, broken_cases, broken_conditions, broken_policies, check_entities,
};
pub(crate) use broken_objects::{must_be_none, note};
pub(crate) use limits::must_be_few;
pub(crate) use references::check_references;
pub(crate) use relations::{
    broken_namespace, broken_subjects, broken_tuples, schema, stored_schema,
};
pub(crate) use unbroken_writes::write_unbroken;

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
    let name = &*declared.kind;
    let change = ProposedChange::Type(name, Some(&declared));
    write_unbroken(app, caller, change, async |tx, by, breaking| {
        let old = types::find(tx, name).await?;
        let owner = old.as_ref().and_then(|old| old.managed_by.as_deref());
        terms.check(caller, old.as_ref(), owner)?;
        let is_new = old.is_none();
        let record = match old {
            Some(record) if record.says(&declared) => return Ok(Some(Stored { record, is_new })),
            // `None` has the change judged again, on the present content.
            _ if !breaking.permits(tx).await? => return Ok(None),
            Some(old) => old.with(declared.clone(), by),
            None => declared.clone().into_record(by),
        };
        types::store(tx, &record).await?;
        Ok(Some(Stored { record, is_new }))
    })
    .await
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
    let change = ProposedChange::Type(name, None);
    let written = write_unbroken(app, caller, change, async |tx, _, breaking| {
        let record = types::find(tx, name).await?.ok_or(NOT_FOUND)?;
        terms.check(caller, Some(&record), record.managed_by.as_deref())?;
        if !breaking.permits(tx).await? {
            return Ok(None);
        }
        types::delete(tx, name).await?;
        Ok(Some(()))
    });
    Ok(written.await?.revision)
}
