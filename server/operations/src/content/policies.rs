//! The use cases of ABAC policies (`docs/semantics.md`, section 4.1).

use portcullis_auth::Manager;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Condition, Effect, Invalid, Policy, ReadableAttributes};
use portcullis_model::SignedRecord;
use portcullis_model::page::{Listed, Page};
use portcullis_model::policy::{CompiledRuleData, NewPolicy, PolicyRecord, PolicyUpdate};
use portcullis_model::warning::Warning;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::{Tx, policies, resources};
use uuid::Uuid;

use super::types;
use super::warnings;
use crate::changes::gated_writes;
use crate::changes::ownership::ChangeTerms;
use crate::changes::written::Written;

const NOT_FOUND: OperationError = OperationError::NotFound("policy");

/// The criteria by which policies are listed.
#[derive(Debug, Default)]
pub struct PolicyFilter {
    /// Only policies with exactly this resource pattern.
    pub resource: Option<String>,
    /// Only policies with this effect.
    pub effect: Option<Effect>,
    /// Only policies whose name has this part, in any case.
    pub name_part: Option<String>,
}

/// Creates the policy that `read` compiles, in the caller's tenant.
///
/// # Errors
/// The error of `read`; too many policies of the tenant are compiled, the condition reads an attribute that no resolver of
/// the tenant has, or the store failed.
pub async fn create<E: From<OperationError> + Send + 'static>(
    app: &App,
    caller: &Manager,
    read: impl FnOnce() -> Result<NewPolicy, E> + Send + 'static,
) -> Result<Written<PolicyRecord>, E> {
    // Before the turn to write, so that no other write waits for the compilation.
    let policy = app.compilations.run(caller.tenant(), read).await??;
    Ok(create_compiled(app, caller, &policy).await?)
}

async fn create_compiled(
    app: &App,
    caller: &Manager,
    policy: &NewPolicy,
) -> Result<Written<PolicyRecord>, OperationError> {
    let written = gated_writes::write(app, caller, async |tx, by| {
        let record = policy.clone().into_record(app.ids.next(by.at), tx.tenant(), by);
        check_attributes(app, tx, &record, &policy.rule_data.condition).await?;
        policies::insert(tx, &record).await?;
        let condition = Some(&policy.rule_data);
        let warnings = warnings::for_policy(tx, &record.resource, condition).await?;
        Ok((record, warnings))
    });
    Ok(written.await?.with_warnings())
}

/// Lists the policies of the caller's tenant, in order of creation.
pub async fn list(
    app: &App,
    caller: &Manager,
    filter: &PolicyFilter,
    page: Page,
) -> Result<Listed<PolicyRecord>, OperationError> {
    let PolicyFilter { resource, effect, name_part } = filter;
    app.read(caller.tenant(), async |tx| {
        policies::list(tx, resource.as_deref(), *effect, name_part.as_deref(), page).await
    })
    .await
}

/// Returns a policy of the caller's tenant.
pub async fn get(app: &App, caller: &Manager, id: Uuid) -> Result<PolicyRecord, OperationError> {
    app.read(caller.tenant(), async |tx| policies::find(tx, id).await?.ok_or(NOT_FOUND)).await
}

/// A policy with the doubts about it, and the registered resources that it is about.
#[derive(Debug)]
pub struct PolicyReport {
    pub record: PolicyRecord,
    /// The condition; the error says why it does not compile any more.
    pub condition: Result<Condition, Invalid>,
    /// The warnings that a write of the policy would have now.
    pub warnings: Vec<Warning>,
    /// The first names of the registered resources that the pattern matches.
    pub covers: Listed<String>,
}

/// Returns a policy of the caller's tenant with what there is to say about it.
///
/// # Errors
/// The tenant has no such policy, too many of its policies are compiled, or the store failed.
pub async fn report(
    app: &App,
    caller: &Manager,
    id: Uuid,
    most: u32,
) -> Result<PolicyReport, OperationError> {
    let record = get(app, caller, id).await?;
    let (format, rule_data) = (record.format, record.rule_data.clone());
    let compiled = app
        .compilations
        .run(caller.tenant(), move || CompiledRuleData::stored(format, &rule_data))
        .await?;
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    let warnings = warnings::for_policy(&mut tx, &record.resource, compiled.as_ref().ok()).await?;
    // One more than are shown tells whether there are more.
    let mut names = resources::matching(&mut tx, &record.resource, most + 1).await?;
    tx.end().await?;
    let more = names.len() > most as usize;
    names.truncate(most as usize);
    let condition = compiled.map(|compiled| compiled.condition);
    Ok(PolicyReport { record, condition, warnings, covers: Listed { records: names, more } })
}

/// Updates a policy of the caller's tenant. An update that changes nothing keeps record and revision as they are.
///
/// # Errors
/// The error of `read`; too many policies of the tenant are compiled, the tenant has no such policy, the precondition does
/// not hold, the policy is managed and the change is not forced, the update does not fit the stored record, the new
/// condition reads an attribute that no resolver of the tenant has, or the store failed.
pub async fn update<E: From<OperationError> + Send + 'static>(
    app: &App,
    caller: &Manager,
    read: impl FnOnce() -> Result<(Uuid, PolicyUpdate), E> + Send + 'static,
    terms: &ChangeTerms,
) -> Result<Written<PolicyRecord>, E> {
    let (id, update) = app.compilations.run(caller.tenant(), read).await??;
    Ok(update_compiled(app, caller, id, terms, &update).await?)
}

async fn update_compiled(
    app: &App,
    caller: &Manager,
    id: Uuid,
    terms: &ChangeTerms,
    update: &PolicyUpdate,
) -> Result<Written<PolicyRecord>, OperationError> {
    let written = gated_writes::write(app, caller, async |tx, by| {
        let old = policies::find(tx, id).await?.ok_or(NOT_FOUND)?;
        terms.check(caller, Some(&old), old.managed_by.as_deref())?;
        let mut record = update.applied_to(&old)?;
        if record != old {
            check_changed_attributes(app, tx, update, &old, &record).await?;
            record = record.signed(by);
            policies::update(tx, &old, &record, by).await?;
        }
        // Doubts about a condition are said to the one who sends it, and not with every other change.
        let condition = update.rule_data.as_ref();
        let warnings = warnings::for_policy(tx, &record.resource, condition).await?;
        Ok((record, warnings))
    });
    Ok(written.await?.with_warnings())
}

/// Deletes a policy of the caller's tenant, and returns the tenant's revision. The store retains the record, but no
/// use case returns it.
pub async fn delete(
    app: &App,
    caller: &Manager,
    id: Uuid,
    terms: &ChangeTerms,
) -> Result<u64, OperationError> {
    let written = gated_writes::write(app, caller, async |tx, by| {
        let record = policies::find(tx, id).await?.ok_or(NOT_FOUND)?;
        terms.check(caller, Some(&record), record.managed_by.as_deref())?;
        Ok(policies::delete(tx, &record, by).await?)
    });
    Ok(written.await?.revision)
}

/// Checks the attributes of a policy whose condition changes or that is enabled (`docs/semantics.md`, section 5.11).
/// Resolvers may change while a policy is disabled.
async fn check_changed_attributes(
    app: &App,
    tx: &mut Tx,
    update: &PolicyUpdate,
    old: &PolicyRecord,
    new: &PolicyRecord,
) -> Result<(), OperationError> {
    if new.rule_data == old.rule_data && (old.enabled || !new.enabled) {
        return Ok(());
    }
    if let Some(sent) = &update.rule_data {
        return check_attributes(app, tx, new, &sent.condition).await;
    }
    // Only the stored condition has not been compiled yet. A fault in it does not prevent that it is enabled: the
    // decision engine denies by such a policy. Nor does an order of date-times, which is undetermined.
    match Policy::stored_condition(new.format, new.rule_data.text()) {
        Ok(condition) => {
            let namespaces = types::readable(app, tx).await?;
            let attributes = namespaces.readable_on(&new.resource).of_stored();
            check_condition(attributes, new, &condition)
        }
        Err(_) => Ok(()),
    }
}

/// Refuses the condition of a policy that reads an attribute that no resolver of the tenant has, or that its types do not
/// declare. It runs in the transaction that writes the policy, so that neither changes in between.
async fn check_attributes(
    app: &App,
    tx: &mut Tx,
    policy: &PolicyRecord,
    condition: &Condition,
) -> Result<(), OperationError> {
    let namespaces = types::readable(app, tx).await?;
    check_condition(namespaces.readable_on(&policy.resource), policy, condition)
}

fn check_condition(
    attributes: ReadableAttributes<'_>,
    policy: &PolicyRecord,
    condition: &Condition,
) -> Result<(), OperationError> {
    let mut problems = Problems::default();
    let at = Place::root();
    let rule_data = policy.rule_data.text();
    let at = at.key("rule_data");
    condition.check_rule_data(policy.format, rule_data, attributes, &at, &mut problems);
    Ok(problems.into_result()?)
}
