//! The use cases of roles that include other roles (`docs/semantics.md`, section 12.8).

use std::collections::{BTreeMap, BTreeSet};

use portcullis_auth::Manager;
use portcullis_engine::Invalid;
use portcullis_model::page::Listed;
use portcullis_model::role::{RoleBody, RoleRecord};
use portcullis_storage::entities::{NameClash, clash_of_roles};
use portcullis_storage::{Tx, roles};

use crate::app::App;
use crate::entities::is_entity;
use crate::error::OperationError;
use crate::etag::Precondition;
use crate::written::Written;

const NOT_FOUND: OperationError = OperationError::NotFound("role");

/// Most roles of a tenant that include others: each plan of the tenant has them.
const MAX_ROLES: usize = 1_000;
/// Most roles that those of a tenant name together: a check may have to walk through all of them.
const MAX_NAMED: usize = 5_000;

/// A role that was written.
#[derive(Debug)]
pub struct StoredRole {
    pub record: RoleRecord,
    /// The role included no other before.
    pub is_new: bool,
}

/// Makes the role `name` include the roles of `body`, in place of those from before.
///
/// # Errors
/// The precondition does not hold, the role would include itself, the tenant has too many such roles, a role has the
/// name of an entity, or the store failed.
pub async fn put(
    app: &App,
    caller: &Manager,
    name: &str,
    precondition: &Precondition,
    body: RoleBody,
) -> Result<Written<StoredRole>, OperationError> {
    let by = app.authored_by(caller.actor());
    let mut tx = app.write(caller, &by).await?;
    let old = roles::find(&mut tx, name).await?;
    check_precondition(precondition, old.as_ref())?;
    let is_new = old.is_none();
    let record = match old {
        Some(old) if old.includes == body.includes => {
            let revision = app.commit(tx).await?;
            return Ok(Written::new(StoredRole { record: old, is_new }, revision));
        }
        Some(old) => old.with_includes(body.includes, &by),
        None => body.into_record(name, &by),
    };
    check_inclusions(&mut tx, &record).await?;
    roles::store(&mut tx, &record).await?;
    let revision = app.commit(tx).await?;
    Ok(Written::new(StoredRole { record, is_new }, revision))
}

/// A role that does not exist has no tag.
fn check_precondition(
    precondition: &Precondition,
    old: Option<&RoleRecord>,
) -> Result<(), OperationError> {
    match (precondition, old) {
        (Precondition::None, _) => Ok(()),
        (Precondition::OneOf(_), None) => Err(OperationError::PreconditionFailed),
        (precondition, Some(old)) => precondition.check(old),
    }
}

/// Refuses a role that would include itself, is one too many, or shares a name with an entity.
async fn check_inclusions(tx: &mut Tx, record: &RoleRecord) -> Result<(), OperationError> {
    let mut all: BTreeMap<String, Vec<String>> = roles::all(tx).await?.into_iter().collect();
    all.insert(record.name.clone(), record.includes.clone());
    if all.len() > MAX_ROLES {
        return Err(OperationError::Conflict(format!(
            "the tenant has {MAX_ROLES} roles that include others, which is the most; delete one first"
        )));
    }
    if all.values().map(Vec::len).sum::<usize>() > MAX_NAMED {
        return Err(OperationError::Conflict(format!(
            "the roles of the tenant would name more than {MAX_NAMED} included roles; remove some first"
        )));
    }
    if let Some(included) = cycle(&all, &record.name) {
        let what = format!(
            "no role that includes `{}`, as `{included}` does: a role cannot include itself",
            record.name
        );
        return Err(Invalid::expected("/includes", what).into());
    }
    let names: Vec<&str> =
        std::iter::once(&record.name).chain(&record.includes).map(String::as_str).collect();
    match clash_of_roles(tx, &names).await? {
        Some(NameClash::RoleIsEntity(role)) => Err(is_entity(&role, "/includes")),
        _ => Ok(()),
    }
}

/// Returns a role that `name` names as included and that includes `name`, directly or by others.
fn cycle<'r>(all: &'r BTreeMap<String, Vec<String>>, name: &str) -> Option<&'r str> {
    let includes = |role: &str| all.get(role).into_iter().flatten().map(String::as_str);
    includes(name).find(|first| {
        let (mut seen, mut left) = (BTreeSet::from([*first]), vec![*first]);
        while let Some(role) = left.pop() {
            if role == name {
                return true;
            }
            left.extend(includes(role).filter(|next| seen.insert(*next)));
        }
        false
    })
}

/// Lists the roles of the caller's tenant that include others, in the order of names.
pub async fn list(
    app: &App,
    caller: &Manager,
    after: &str,
    limit: i64,
) -> Result<Listed<RoleRecord>, OperationError> {
    let mut tx = app.store.read(caller.tenant()).await?;
    let records = roles::list(&mut tx, after, limit).await?;
    tx.end().await?;
    Ok(records)
}

/// Returns a role of the caller's tenant that includes others.
///
/// # Errors
/// The tenant has no such role, or the store failed.
pub async fn get(app: &App, caller: &Manager, name: &str) -> Result<RoleRecord, OperationError> {
    let mut tx = app.store.read(caller.tenant()).await?;
    let record = roles::find(&mut tx, name).await?.ok_or(NOT_FOUND)?;
    tx.end().await?;
    Ok(record)
}

/// Makes a role include no other any more, and returns the tenant's revision.
///
/// # Errors
/// The tenant has no such role, the precondition does not hold, or the store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    name: &str,
    precondition: &Precondition,
) -> Result<u64, OperationError> {
    let by = app.authored_by(caller.actor());
    let mut tx = app.write(caller, &by).await?;
    let record = roles::find(&mut tx, name).await?.ok_or(NOT_FOUND)?;
    precondition.check(&record)?;
    roles::delete(&mut tx, name).await?;
    app.commit(tx).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_that_includes_itself_is_found() {
        let all = |pairs: &[(&str, &[&str])]| -> BTreeMap<String, Vec<String>> {
            let owned = |(name, includes): &(&str, &[&str])| {
                ((*name).to_owned(), includes.iter().map(|one| (*one).to_owned()).collect())
            };
            pairs.iter().map(owned).collect()
        };
        for (pairs, expected) in [
            (all(&[("a", &["b", "c"]), ("b", &["d"]), ("c", &["d"])]), None),
            (all(&[("a", &["a"])]), Some("a")),
            (all(&[("a", &["x", "b"]), ("b", &["c"]), ("c", &["a"])]), Some("b")),
            // A circle of others, which no write lets in, is passed through once.
            (all(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]), None),
        ] {
            assert_eq!(cycle(&pairs, "a"), expected, "{pairs:?}");
        }
    }
}
