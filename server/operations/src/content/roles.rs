//! The use cases of roles that include other roles (`docs/semantics.md`, section 12.8).

use portcullis_auth::Manager;
use portcullis_engine::Invalid;
use portcullis_model::page::Listed;
use portcullis_model::role::{NewRole, RoleBody, RoleGraph, RoleRecord};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::entities::{NameClash, clash_of_roles};
use portcullis_storage::{Tx, roles};

use crate::changes::gated_writes;
use crate::changes::ownership::ChangeTerms;
use crate::changes::written::{Stored, Written};

const NOT_FOUND: OperationError = OperationError::NotFound("role");

/// Makes the role `name` include the roles of `body`, in place of those from before.
///
/// # Errors
/// The precondition does not hold, the role is managed and the change not forced, the role would include itself, the
/// tenant has too many such roles, a role has the name of an entity, or the store failed.
pub async fn put(
    app: &App,
    caller: &Manager,
    name: &str,
    terms: &ChangeTerms,
    body: RoleBody,
) -> Result<Written<Stored<RoleRecord>>, OperationError> {
    gated_writes::write(app, caller, async |tx, by| {
        let old = roles::find(tx, name).await?;
        let owner = old.as_ref().and_then(|old| old.managed_by.as_deref());
        terms.check(caller, old.as_ref(), owner)?;
        let is_new = old.is_none();
        let includes = body.includes.clone();
        let record = match old {
            // Nothing is written, so that the record keeps its author, and the tenant its revision.
            Some(old) if old.includes == includes => return Ok(Stored { record: old, is_new }),
            Some(old) => old.with_includes(includes, by),
            None => NewRole { name: name.to_owned(), includes }.into_record(by),
        };
        check_inclusions(tx, &record).await?;
        roles::store(tx, &record).await?;
        Ok(Stored { record, is_new })
    })
    .await
}

/// Refuses a role that would include itself, is one too many, or shares a name with an entity.
async fn check_inclusions(tx: &mut Tx, record: &RoleRecord) -> Result<(), OperationError> {
    let stored = roles::all(tx).await?;
    let others = stored.iter().filter(|other| other.name != record.name);
    let graph = graph(others.chain([record]));
    must_be_few(&graph)?;
    if let Some(what) = graph.circle(&record.name, &record.includes) {
        return Err(Invalid::expected("/includes", what).into());
    }
    must_not_be_entities(tx, [(&*record.name, &*record.includes)], "/includes").await
}

/// Returns which of `roles` include which.
pub(crate) fn graph<'r>(roles: impl IntoIterator<Item = &'r RoleRecord>) -> RoleGraph<'r> {
    RoleGraph::new(roles.into_iter().map(|role| (&*role.name, &*role.includes)))
}

/// Refuses more roles than a tenant may have.
pub(crate) fn must_be_few(roles: &RoleGraph<'_>) -> Result<(), OperationError> {
    let Some(limit) = roles.exceeded_limit() else { return Ok(()) };
    Err(OperationError::Conflict(format!("the tenant may have {limit}; delete some first")))
}

/// Refuses `roles` if one of them, or one that they include, has the name of an entity. The error is at `at`.
pub(crate) async fn must_not_be_entities<'r>(
    tx: &mut Tx,
    roles: impl IntoIterator<Item = (&'r str, &'r [String])>,
    at: &str,
) -> Result<(), OperationError> {
    let mut names = Vec::new();
    for (name, includes) in roles {
        names.push(name);
        names.extend(includes.iter().map(String::as_str));
    }
    match clash_of_roles(tx, &names).await? {
        Some(NameClash::RoleIsEntity(role)) => Err(is_entity(&role, at)),
        _ => Ok(()),
    }
}

/// Returns the refusal of a role that has the name of an entity.
pub(crate) fn is_entity(role: &str, at: &str) -> OperationError {
    let what =
        format!("no role `{role}`, because it is the id of an entity, and rules match both alike");
    Invalid::expected(at, what).into()
}

/// Lists the roles of the caller's tenant that include others, in the order of names.
pub async fn list(
    app: &App,
    caller: &Manager,
    after: &str,
    limit: i64,
) -> Result<Listed<RoleRecord>, OperationError> {
    app.read(caller.tenant(), async |tx| roles::list(tx, after, limit).await).await
}

/// Returns a role of the caller's tenant that includes others.
///
/// # Errors
/// The tenant has no such role, or the store failed.
pub async fn get(app: &App, caller: &Manager, name: &str) -> Result<RoleRecord, OperationError> {
    app.read(caller.tenant(), async |tx| roles::find(tx, name).await?.ok_or(NOT_FOUND)).await
}

/// Makes a role include no other any more, and returns the tenant's revision.
///
/// # Errors
/// The tenant has no such role, the precondition does not hold, the role is managed and the change not forced, or the
/// store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    name: &str,
    terms: &ChangeTerms,
) -> Result<u64, OperationError> {
    let written = gated_writes::write(app, caller, async |tx, _| {
        let record = roles::find(tx, name).await?.ok_or(NOT_FOUND)?;
        terms.check(caller, Some(&record), record.managed_by.as_deref())?;
        Ok(roles::delete(tx, name).await?)
    });
    Ok(written.await?.revision)
}
