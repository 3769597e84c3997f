//! The stored objects that a change of types or of named conditions would break. It is judged on a snapshot, because a tenant may
//! have a million entities, and policies many tests; the write
//! then compares the place in the histories, and is judged again if something changed in between.

use portcullis_auth::Manager;
use portcullis_engine::condition::NamedConditions;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::Types;
use portcullis_engine::{Condition, Invalid, Json, Namespaces, Policy, json};
use portcullis_model::Authorship;
use portcullis_model::entity::EntityRecord;
use portcullis_model::named_condition::{ConditionRecord, NewCondition, named_conditions};
use portcullis_model::policy::PolicyRecord;
use portcullis_model::types::{NewType, TypeRecord};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::{BrokenObjects, WriteRefusal};
use portcullis_storage::{
    HistoryPosition, StoreError, Tx, conditions, entities, policies, resolvers, rules,
    tenant_cases, tenants, types,
};

use super::broken_objects::{must_be_none, note};
use super::compiled::compiled;
use super::limits::must_be_few;
use super::readable::readable;
use super::references::check_references;
use super::relations::{broken_namespace, broken_subjects, broken_tuples, schema};
use crate::changes::gated_writes::{MAX_JUDGEMENTS, must_be_in_time};
use crate::content::bound::must_fit;

/// The entities of a page.
const PAGE: i64 = 1_000;

/// A record that is to stand in place of the one with this name; `None` takes that away.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProposedChange<'c> {
    Type(&'c str, Option<&'c NewType>),
    Condition(&'c str, Option<&'c NewCondition>),
}

/// The stored objects that a change of one type or one named condition would break.
#[derive(Debug)]
pub(crate) struct Breaking<'c> {
    change: ProposedChange<'c>,
    /// The places in the histories of what the judgement read: rules and cases, and entities.
    met: (HistoryPosition, Option<HistoryPosition>),
    broken: BrokenObjects,
    judgements: usize,
}

impl<'c> Breaking<'c> {
    /// Judges on a snapshot what the change breaks.
    ///
    /// # Errors
    /// A relation or a name has a fault, the request took too long, the tenant has too many types or too much other content,
    /// too many of its policies are compiled, or the store failed.
    pub(crate) async fn judge(
        app: &App,
        caller: &Manager,
        change: ProposedChange<'c>,
    ) -> Result<Self, OperationError> {
        let mut tx = app.store.begin_read(caller.tenant()).await?;
        let met = met(&mut tx, change).await?;
        let broken = match change {
            ProposedChange::Type(name, new) => by_type(app, caller, &mut tx, (name, new)).await?,
            ProposedChange::Condition(name, new) => {
                by_condition(app, caller, &mut tx, (name, new)).await?
            }
        };
        tx.end().await?;
        Ok(Self { change, met, broken, judgements: 1 })
    }

    /// Judges once more.
    ///
    /// # Errors
    /// The errors of [`Breaking::judge`]; what is stored changed during each of three judgements.
    pub(crate) async fn again(self, app: &App, caller: &Manager) -> Result<Self, OperationError> {
        // Also after the last judgement, because the refusal names the present revision.
        let again = Self::judge(app, caller, self.change).await?;
        if self.judgements == MAX_JUDGEMENTS {
            let (expected, current) = (self.met.0.revision, again.met.0.revision);
            return Err(WriteRefusal::RevisionChanged { expected, current }.into());
        }
        Ok(Self { judgements: self.judgements + 1, ..again })
    }

    /// Returns whether the change may be written; false if the judgement is not about what the transaction meets.
    ///
    /// # Errors
    /// The change breaks something, or the store failed.
    pub(crate) async fn permits(&mut self, tx: &mut Tx) -> Result<bool, OperationError> {
        if met(tx, self.change).await? != self.met {
            return Ok(false);
        }
        must_be_none(std::mem::take(&mut self.broken))?;
        Ok(true)
    }
}

async fn met(
    tx: &mut Tx,
    change: ProposedChange<'_>,
) -> Result<(HistoryPosition, Option<HistoryPosition>), StoreError> {
    let entities = match change {
        ProposedChange::Type(..) => Some(entities::state(tx).await?.position),
        // No entity depends on conditions, so that entities may change meanwhile.
        ProposedChange::Condition(..) => None,
    };
    Ok((tenants::position(tx).await?, entities))
}

/// Returns what breaks when `declared` stands in place of the type `name`.
async fn by_type(
    app: &App,
    caller: &Manager,
    tx: &mut Tx,
    (name, declared): (&str, Option<&NewType>),
) -> Result<BrokenObjects, OperationError> {
    let stored = types::all(tx).await?;
    let by = app.authored_by(caller.actor());
    let after = with(stored.clone(), name, declared, &by);
    // A type may be taken back beyond the limits, too.
    if declared.is_some() {
        must_be_few(&after)?;
    }
    let numbered = types::relations(tx).await?;
    let schema = schema(&after.iter().collect::<Vec<_>>(), &numbered, |kind| {
        (kind == name).then(String::new)
    })?;
    let mut broken = broken_rules(app, caller, tx, (&stored, &after)).await?;
    broken_tuples(tx, &numbered, &schema, None, &mut broken).await?;
    let types = (&compiled(&stored), &compiled(&after));
    check_references(types.1, |kind| (kind == name).then(String::new), &mut broken)?;
    broken_entities(caller, tx, types, &mut broken).await?;
    Ok(broken)
}

/// Returns what breaks when `new` stands in place of the condition `name`.
async fn by_condition(
    app: &App,
    caller: &Manager,
    tx: &mut Tx,
    (name, new): (&str, Option<&NewCondition>),
) -> Result<BrokenObjects, OperationError> {
    must_fit(tx).await?;
    let stored = conditions::all(tx).await?;
    let mut policies = policies::all(tx).await?;
    // A policy that names no condition cannot break.
    policies.retain(|policy| conditions::may_name(policy.rule_data.text()));
    let readable = readable(app, tx).await?;
    let by = app.authored_by(caller.actor());
    let mut after = stored;
    after.retain(|record| record.name != name);
    // The new condition is checked for itself: its faults have places in the body.
    let others = after.clone();
    after.extend(new.cloned().map(|new| new.into_record(&by)));
    let new = new.cloned();
    let judged = app.compilations.run(caller.tenant(), move || -> Result<_, OperationError> {
        let after = readable.clone().with_conditions(named_conditions(&after));
        if let Some(new) = new {
            let mut problems = Problems::default();
            new.check(after.conditions(), &Place::root(), &mut problems);
            problems.into_result()?;
        }
        let mut broken = BrokenObjects::default();
        broken_conditions(&others, (readable.conditions(), after.conditions()), &mut broken);
        broken_policies(&policies, (&readable, &after), &mut broken);
        Ok(broken)
    });
    judged.await?
}

/// Returns the types with `declared` in place of the one called `name`.
fn with(
    mut types: Vec<TypeRecord>,
    name: &str,
    declared: Option<&NewType>,
    by: &Authorship,
) -> Vec<TypeRecord> {
    types.retain(|record| record.kind != name);
    types.extend(declared.cloned().map(|declared| declared.into_record(by)));
    types
}

/// Returns the policies and cases that break.
async fn broken_rules(
    app: &App,
    caller: &Manager,
    tx: &mut Tx,
    (before, after): (&[TypeRecord], &[TypeRecord]),
) -> Result<BrokenObjects, OperationError> {
    must_fit(tx).await?;
    let policies = policies::all(tx).await?;
    let cases = tenant_cases::find(tx).await?.map(|stored| stored.cases).unwrap_or_default();
    let namespaces = readable(app, tx).await?;
    let types = (compiled(before), compiled(after));
    let names = (types.0.relations().clone(), types.1.relations().clone());
    let readable =
        (namespaces.clone().with_types(types.0.clone()), namespaces.with_types(types.1.clone()));
    let judged = app.compilations.run(caller.tenant(), move || {
        let mut broken = BrokenObjects::default();
        broken_policies(&policies, (&readable.0, &readable.1), &mut broken);
        broken_cases(&cases, (&types.0, &types.1), &mut broken);
        broken
    });
    let mut broken = judged.await?;
    let names = (&names.0, &names.1);
    broken_subjects(&rules::with_marker(tx).await?, names, &mut broken);
    let own = resolvers::list(tx).await?;
    let own = own.iter().map(|resolver| &*resolver.manifest.namespace);
    let operator = app.resolvers.operator_resolvers();
    let operator = operator.iter().map(|resolver| &*resolver.namespace);
    broken_namespace(own.chain(operator), names, &mut broken);
    Ok(broken)
}

/// Notes the enabled policies whose conditions the namespaces `before` allow and those `after` do not.
pub(crate) fn broken_policies<'p>(
    policies: impl IntoIterator<Item = &'p PolicyRecord>,
    (before, after): (&Namespaces, &Namespaces),
    broken: &mut BrokenObjects,
) {
    for record in policies.into_iter().filter(|record| record.enabled) {
        // A condition that cannot be read reads nothing.
        let condition = Policy::stored_condition(record.format, record.rule_data.text());
        let Ok(condition) = condition else { continue };
        let Some(message) = policy_fault(record, &condition, after) else { continue };
        // What was at fault before the change is not broken by it.
        if policy_fault(record, &condition, before).is_none() {
            note(broken, "policy", || record.name.clone(), message.to_string());
        }
    }
}

fn policy_fault(
    record: &PolicyRecord,
    condition: &Condition,
    namespaces: &Namespaces,
) -> Option<Invalid> {
    let (mut problems, root) = (Problems::default(), Place::root());
    let (text, at) = (record.rule_data.text(), root.key("rule_data"));
    let readable = namespaces.readable_on(&record.resource);
    condition.check_rule_data(record.format, text, readable, &at, &mut problems);
    problems.into_result().err()
}

/// Notes the conditions whose names exist and lead to no circle `before`, and not `after`.
pub(crate) fn broken_conditions<'r>(
    conditions: impl IntoIterator<Item = &'r ConditionRecord>,
    (before, after): (&NamedConditions, &NamedConditions),
    broken: &mut BrokenObjects,
) {
    for record in conditions {
        let Some(message) = condition_fault(record, after) else { continue };
        if condition_fault(record, before).is_none() {
            note(broken, "condition", || record.name.clone(), message.to_string());
        }
    }
}

fn condition_fault(record: &ConditionRecord, names: &NamedConditions) -> Option<Invalid> {
    let mut problems = Problems::default();
    record.check(names, &Place::root(), &mut problems);
    problems.into_result().err()
}

/// Notes the cases, a JSON list, whose attributes the types `before` allow and those `after` do not.
pub(crate) fn broken_cases(
    cases: &str,
    (before, after): (&Types, &Types),
    broken: &mut BrokenObjects,
) {
    let parsed = json::parse(cases.as_bytes()).unwrap_or(Json::Null);
    for case in parsed.as_array().unwrap_or_default() {
        let (Some(name), Some(check)) = (case.get("name"), case.get("check")) else { continue };
        let resource = check.get("resource").and_then(Json::as_str);
        let (Some(resource), Some(sent)) = (resource, check.get("attributes")) else { continue };
        let Some(message) = case_fault(resource, sent, after) else { continue };
        if case_fault(resource, sent, before).is_none() {
            let name = name.as_str().unwrap_or_default();
            note(broken, "case", || name.to_owned(), message.to_string());
        }
    }
}

fn case_fault(resource: &str, sent: &Json<'_>, types: &Types) -> Option<Invalid> {
    let (mut problems, root) = (Problems::default(), Place::root());
    types.check_attributes(resource, sent, &root.key("attributes"), &mut problems);
    problems.into_result().err()
}

/// Returns whether an entity of the type may have what it does not declare any more.
fn needs_properties(before: &Types, after: &Types, name: &str) -> bool {
    let Some(new) = after.properties(name).filter(|new| !new.is_empty()) else { return false };
    let old = before.properties(name).filter(|old| !old.is_empty());
    // A type without properties allows any, so that everything stays allowed only if it had some.
    !old.is_some_and(|old| {
        old.iter().all(|(name, old)| new.get(name).is_some_and(|new| new.kind == old.kind))
    })
}

/// Refuses types that stored entities break.
///
/// # Errors
/// The request took too long, an entity breaks, or the store failed.
pub(crate) async fn check_entities(
    caller: &Manager,
    tx: &mut Tx,
    types: (&Types, &Types),
) -> Result<(), OperationError> {
    let mut broken = BrokenObjects::default();
    broken_entities(caller, tx, types, &mut broken).await?;
    must_be_none(broken)
}

/// Notes the entities that the types `before` allow and those `after` do not.
async fn broken_entities(
    caller: &Manager,
    tx: &mut Tx,
    (before, after): (&Types, &Types),
    broken: &mut BrokenObjects,
) -> Result<(), OperationError> {
    for (kind, _) in after.iter() {
        if needs_properties(before, after, kind) {
            check_type(caller, tx, kind, after, broken).await?;
        }
    }
    Ok(())
}

/// Notes the entities of the type `kind` that `types` do not allow.
async fn check_type(
    caller: &Manager,
    tx: &mut Tx,
    kind: &str,
    types: &Types,
    broken: &mut BrokenObjects,
) -> Result<(), OperationError> {
    let mut after = String::new();
    loop {
        // A million entities may take longer than a request.
        must_be_in_time(caller)?;
        let page = entities::list(tx, Some(kind), (kind, &after), PAGE).await?;
        for entity in &page.records {
            if let Some(fault) = entity_fault(types, entity) {
                note(broken, "entity", || format!("{kind}:{}", entity.id), fault);
            }
        }
        match page.records.into_iter().last() {
            Some(last) if page.more => after = last.id,
            _ => return Ok(()),
        }
    }
}

fn entity_fault(types: &Types, entity: &EntityRecord) -> Option<String> {
    let mut problems = Problems::default();
    let root = Place::root();
    types.check_properties(
        &entity.kind,
        &entity.properties,
        &root.key("properties"),
        &mut problems,
    );
    problems.into_result().err().map(|fault| fault.to_string())
}
