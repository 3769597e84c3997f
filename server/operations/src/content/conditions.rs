//! The use cases of named conditions (`docs/semantics.md`, section 4.11).

use std::collections::BTreeMap;

use portcullis_auth::Manager;
use portcullis_engine::{Condition, Invalid, Policy};
use portcullis_model::named_condition::{ConditionRecord, NewCondition, exceeded_limit};
use portcullis_model::page::{Listed, Page};
use portcullis_model::policy::PolicyRecord;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Tx, conditions, policies};
use uuid::Uuid;

use super::types::{ProposedChange, write_unbroken};
use crate::changes::ownership::ChangeTerms;
use crate::changes::written::{Stored, Written};

const NOT_FOUND: OperationError = OperationError::NotFound("condition");

/// The policies of a page in which users of conditions are looked for, and the most pages: all policies of most tenants.
const USERS_IN_PAGE: i64 = 1_000;
const MAX_PAGES_OF_USERS: usize = 10;

/// Stores the condition that `read` compiles, in place of the one with its name.
///
/// # Errors
/// The error of `read`; too many policies of the tenant are compiled, a name in it does not exist or leads back to it, the
/// precondition does not hold, the condition is managed and the change not forced, a policy or another condition would break, the
/// tenant has too many conditions, or the store failed.
pub async fn put<E: From<OperationError> + Send + 'static>(
    app: &App,
    caller: &Manager,
    terms: &ChangeTerms,
    read: impl FnOnce() -> Result<NewCondition, E> + Send + 'static,
) -> Result<Written<Stored<ConditionRecord>>, E> {
    let new = app.compilations.run(caller.tenant(), read).await??;
    Ok(put_compiled(app, caller, terms, new).await?)
}

async fn put_compiled(
    app: &App,
    caller: &Manager,
    terms: &ChangeTerms,
    new: NewCondition,
) -> Result<Written<Stored<ConditionRecord>>, OperationError> {
    let change = ProposedChange::Condition(&new.name, Some(&new));
    write_unbroken(app, caller, change, async |tx, by, breaking| {
        let old = conditions::find(tx, &new.name).await?;
        let owner = old.as_ref().and_then(|old| old.managed_by.as_deref());
        terms.check(caller, old.as_ref(), owner)?;
        let is_new = old.is_none();
        let record = match old {
            Some(record) if record.says(&new) => return Ok(Some(Stored { record, is_new })),
            // `None` has the change judged again, on the present content.
            _ if !breaking.permits(tx).await? => return Ok(None),
            Some(old) => old.with(new.clone(), by),
            None => new.clone().into_record(by),
        };
        must_fit(tx, &record).await?;
        conditions::store(tx, &[&record]).await?;
        Ok(Some(Stored { record, is_new }))
    })
    .await
}

/// Refuses more conditions, or larger ones, than a tenant may have.
async fn must_fit(tx: &mut Tx, new: &ConditionRecord) -> Result<(), OperationError> {
    let stored = conditions::all(tx).await?;
    let others = stored.iter().filter(|other| other.name != new.name);
    match exceeded_limit(others.chain([new]).map(ConditionRecord::bytes)) {
        Some(limit) => Err(Invalid::expected("", limit).into()),
        None => Ok(()),
    }
}

/// Lists the conditions of the caller's tenant, in the order of names.
pub async fn list(
    app: &App,
    caller: &Manager,
    after: &str,
    limit: i64,
) -> Result<Listed<ConditionRecord>, OperationError> {
    app.read(caller.tenant(), async |tx| conditions::list(tx, after, limit).await).await
}

/// Returns a condition of the caller's tenant.
///
/// # Errors
/// The tenant has no such condition, or the store failed.
pub async fn get(
    app: &App,
    caller: &Manager,
    name: &str,
) -> Result<ConditionRecord, OperationError> {
    app.read(caller.tenant(), async |tx| conditions::find(tx, name).await?.ok_or(NOT_FOUND)).await
}

/// The policies that use named conditions.
#[derive(Debug, Default)]
pub struct ConditionUses {
    /// The ids and names of the policies by the name of the condition, in order of creation.
    pub policies: BTreeMap<String, Vec<(Uuid, String)>>,
    /// Whether all policies of the tenant were looked through.
    pub complete: bool,
}

/// Returns the policies of the caller's tenant whose conditions use named ones.
///
/// # Errors
/// Too many policies of the tenant are compiled, or the store failed.
pub async fn uses(app: &App, caller: &Manager) -> Result<ConditionUses, OperationError> {
    let (mut users, mut complete) = (Vec::new(), false);
    let mut page = Page { limit: USERS_IN_PAGE, ..Page::FIRST };
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    for _ in 0..MAX_PAGES_OF_USERS {
        let Listed { records, more } = policies::list(&mut tx, None, None, None, page).await?;
        page.after = records.last().map_or(page.after, |last| last.id);
        users.extend(records.into_iter().filter(|it| conditions::may_name(it.rule_data.text())));
        complete = !more;
        if complete {
            break;
        }
    }
    tx.end().await?;
    let policies = app.compilations.run(caller.tenant(), move || by_condition(&users)).await?;
    Ok(ConditionUses { policies, complete })
}

/// Returns the ids and names of policies by the named conditions that they use.
fn by_condition(users: &[PolicyRecord]) -> BTreeMap<String, Vec<(Uuid, String)>> {
    let mut policies = BTreeMap::<String, Vec<(Uuid, String)>>::new();
    for user in users {
        // A condition that cannot be read uses none.
        let condition = Policy::stored_condition(user.format, user.rule_data.text());
        for name in condition.iter().flat_map(Condition::names) {
            policies.entry(name.to_owned()).or_default().push((user.id, user.name.clone()));
        }
    }
    policies
}

/// Deletes a condition, and returns the tenant's revision.
///
/// # Errors
/// The tenant has no such condition, the precondition does not hold, the condition is managed and the change not forced, a
/// policy or another condition would break, or the store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    name: &str,
    terms: &ChangeTerms,
) -> Result<u64, OperationError> {
    let change = ProposedChange::Condition(name, None);
    let written = write_unbroken(app, caller, change, async |tx, _, breaking| {
        let record = conditions::find(tx, name).await?.ok_or(NOT_FOUND)?;
        terms.check(caller, Some(&record), record.managed_by.as_deref())?;
        if !breaking.permits(tx).await? {
            return Ok(None);
        }
        conditions::delete(tx, &[&record]).await?;
        Ok(Some(()))
    });
    Ok(written.await?.revision)
}
