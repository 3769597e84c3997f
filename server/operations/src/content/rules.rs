//! The use cases of RBAC rules (`docs/semantics.md`, section 3.3).

use portcullis_auth::Manager;
use portcullis_engine::relation::has_marker;
use portcullis_engine::{Invalid, RuleTuple};
use portcullis_model::SignedRecord;
use portcullis_model::page::{Listed, Page};
use portcullis_model::rule::{NewRule, RuleName, RuleOrigin, RuleRecord, RuleUpdate};
use portcullis_model::rule_filter::RuleFilter;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{StoreError, Tx, rules};
use uuid::Uuid;

use super::stored_settings;
use super::types;
use super::warnings;
use crate::changes::gated_writes;
use crate::changes::ownership;
use crate::changes::written::Written;

const NOT_FOUND: OperationError = OperationError::NotFound("rule");

/// Creates an explicit rule in the caller's tenant.
///
/// # Errors
/// The rule could match no check, the tenant has a rule with this tuple, or the store failed.
pub async fn create(
    app: &App,
    caller: &Manager,
    rule: NewRule,
) -> Result<Written<RuleRecord>, OperationError> {
    must_match(caller, &rule.tuple.dom)?;
    let written = gated_writes::write(app, caller, async |tx, by| {
        let record = rule.clone().into_record(app.ids.next(by.at), RuleOrigin::Explicit, by);
        check_subject(tx, &record.tuple).await?;
        check_action(tx, &record.tuple).await?;
        if !rules::insert(tx, &record).await? {
            return Err(conflict(&record));
        }
        let warnings = warnings::for_rule(tx, &record.tuple).await?;
        Ok((record, warnings))
    });
    Ok(written.await?.with_warnings())
}

/// Returns a rule of the caller's tenant.
///
/// # Errors
/// The tenant has no such rule, or the store failed.
pub async fn get(app: &App, caller: &Manager, id: Uuid) -> Result<RuleRecord, OperationError> {
    app.read(caller.tenant(), async |tx| rules::find(tx, id).await?.ok_or(NOT_FOUND)).await
}

/// Lists the rules of the caller's tenant that `filter` selects, in order of creation.
pub async fn list(
    app: &App,
    caller: &Manager,
    filter: &RuleFilter,
    page: Page,
) -> Result<Listed<RuleRecord>, OperationError> {
    app.read(caller.tenant(), async |tx| rules::list(tx, filter, page).await).await
}

/// Updates a rule of the caller's tenant. The rule is explicit afterwards, even if a default role made it.
///
/// # Errors
/// The update names a domain in which no check can be, the tenant has no such rule or another one with the new tuple, or
/// the store failed.
pub async fn update(
    app: &App,
    caller: &Manager,
    update: &RuleUpdate,
    force: bool,
) -> Result<Written<RuleRecord>, OperationError> {
    if let Some(domain) = update.domain() {
        must_match(caller, domain)?;
    }
    let written = gated_writes::write(app, caller, async |tx, by| {
        let old = find_updated(tx, update).await?.ok_or(NOT_FOUND)?;
        ownership::check_rule(tx, caller, &old, force).await?;
        let mut record = update.applied_to(&old);
        // An update that confirms a default rule makes it explicit, even if nothing else changes.
        if update.says_something() {
            record.origin = RuleOrigin::Explicit;
        }
        // An update that says what is stored keeps the author of the rule and the revision.
        if differs(&old, &record) {
            check_subject(tx, &record.tuple).await?;
            check_action(tx, &record.tuple).await?;
            record = record.signed(by);
            if !rules::update(tx, &old, &record, by).await? {
                return Err(conflict(&record));
            }
        }
        let warnings = warnings::for_rule(tx, &record.tuple).await?;
        Ok((record, warnings))
    });
    Ok(written.await?.with_warnings())
}

/// Deletes a rule of the caller's tenant, and returns the tenant's revision.
///
/// # Errors
/// The tenant has no such rule, or the store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    name: &RuleName,
    force: bool,
) -> Result<u64, OperationError> {
    let written = gated_writes::write(app, caller, async |tx, by| {
        let rule = find_named(tx, name).await?.ok_or(NOT_FOUND)?;
        ownership::check_rule(tx, caller, &rule, force).await?;
        Ok(rules::delete(tx, &rule, by).await?)
    });
    Ok(written.await?.revision)
}

/// Refuses a rule in `domain` if it could match no check of the tenant.
fn must_match(caller: &Manager, domain: &str) -> Result<(), OperationError> {
    if caller.has_checks_in(domain) {
        return Ok(());
    }
    let own = caller.domain();
    let expected = format!(
        "`{own}` or `*`, because the domain `{domain}` is another tenant and a rule of `{own}` never matches there; a manager \
         whose admin-domain claim names `{domain}` writes its rules with the header `X-Domain: {domain}`"
    );
    Err(Invalid::expected("/dom", expected).into())
}

/// Refuses an action that no check of the rule's resource may have. It runs in the transaction that writes the rule, so that
/// the setting does not change in between.
async fn check_action(tx: &mut Tx, rule: &RuleTuple) -> Result<(), OperationError> {
    let terms = stored_settings::settings(tx).await?.checks;
    match terms.actions.fault_of_rule(rule) {
        Some(expected) => Err(Invalid::expected("/act", expected).into()),
        None => Ok(()),
    }
}

/// Refuses a subject that is marked as a relation and that the types of the tenant do not have. It runs in the transaction
/// that writes the rule, so that they do not change in between.
async fn check_subject(tx: &mut Tx, rule: &RuleTuple) -> Result<(), OperationError> {
    if !has_marker(&rule.sub) {
        return Ok(());
    }
    let types = types::declared(tx).await?;
    match types.relations().fault_of_subject(&rule.sub, &rule.obj) {
        Some(expected) => Err(Invalid::expected("/sub", expected).into()),
        None => Ok(()),
    }
}

async fn find_updated(tx: &mut Tx, update: &RuleUpdate) -> Result<Option<RuleRecord>, StoreError> {
    match update {
        RuleUpdate::ById { id, .. } => rules::find(tx, *id).await,
        RuleUpdate::ByTuple(rule) => rules::find_by_tuple(tx, &rule.tuple).await,
    }
}

/// Returns the rule that `name` names. A tuple with an effect names only a rule that has this effect.
async fn find_named(tx: &mut Tx, name: &RuleName) -> Result<Option<RuleRecord>, StoreError> {
    match name {
        RuleName::Id(id) => rules::find(tx, *id).await,
        RuleName::Tuple(tuple, effect) => {
            let rule = rules::find_by_tuple(tx, tuple).await?;
            Ok(rule.filter(|rule| effect.is_none_or(|effect| effect == rule.effect)))
        }
    }
}

fn differs(old: &RuleRecord, new: &RuleRecord) -> bool {
    new.tuple != old.tuple || new.effect != old.effect || new.origin != old.origin
}

fn conflict(rule: &RuleRecord) -> OperationError {
    OperationError::Conflict(format!("a rule `{}` already exists", rule.tuple))
}
