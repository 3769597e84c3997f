//! The stored objects that a change of types would break. It is judged on a snapshot, because a tenant may have a million entities; the write
//! then compares the place in the histories, and is judged again if something changed in between.

use portcullis_auth::Manager;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::{Property, Types};
use portcullis_engine::{Json, Namespaces, Policy, json};
use portcullis_model::entity::EntityRecord;
use portcullis_model::policy::PolicyRecord;
use portcullis_model::types::{NewType, TypeRecord, declared_types};
use portcullis_resolvers::namespaces;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::{BrokenObject, BrokenObjects, WriteRefusal};
use portcullis_storage::{
    HistoryPosition, StoreError, Tx, entities, policies, tenant_cases, tenants, types,
};

use super::compiled::compiled;
use crate::content_bound::must_fit;
use crate::gated_writes::{MAX_JUDGEMENTS, must_be_in_time};

/// Most broken objects that a refusal names.
const MAX_NAMED: usize = 20;
/// The entities of a page.
const PAGE: i64 = 1_000;

/// The stored objects that a change of one type would break.
#[derive(Debug)]
pub(crate) struct Breaking {
    /// The places in the histories of what the judgement read: rules and cases, and entities.
    met: (HistoryPosition, HistoryPosition),
    broken: BrokenObjects,
    judgements: usize,
}

impl Breaking {
    /// Judges on a snapshot what breaks when `declared` stands in place of the type `name`; `None` takes it away.
    ///
    /// # Errors
    /// The request took too long, the tenant has too much content, too many of its policies are compiled, or the store
    /// failed.
    pub(crate) async fn judge(
        app: &App,
        caller: &Manager,
        name: &str,
        declared: Option<&NewType>,
    ) -> Result<Self, OperationError> {
        let mut tx = app.store.read(caller.tenant()).await?;
        let met = met(&mut tx).await?;
        let stored = types::all(&mut tx).await?;
        let before = compiled(&stored);
        let after = with(&stored, name, declared);
        let mut broken = broken_rules(app, caller, &mut tx, before.clone(), after.clone()).await?;
        broken_entities(caller, &mut tx, (&before, &after), &mut broken).await?;
        tx.end().await?;
        Ok(Self { met, broken, judgements: 1 })
    }

    /// Judges once more.
    ///
    /// # Errors
    /// The errors of [`Breaking::judge`]; what is stored changed during each of three judgements.
    pub(crate) async fn again(
        self,
        app: &App,
        caller: &Manager,
        name: &str,
        declared: Option<&NewType>,
    ) -> Result<Self, OperationError> {
        let again = Self::judge(app, caller, name, declared).await?;
        if self.judgements == MAX_JUDGEMENTS {
            let (expected, current) = (self.met.0.revision, again.met.0.revision);
            return Err(WriteRefusal::RevisionChanged { expected, current }.into());
        }
        Ok(Self { judgements: self.judgements + 1, ..again })
    }

    /// Returns whether the judgement is about what the transaction meets.
    pub(crate) async fn is_about(&self, tx: &mut Tx) -> Result<bool, StoreError> {
        Ok(met(tx).await? == self.met)
    }

    /// Refuses a change that breaks something.
    pub(crate) fn must_be_none(&mut self) -> Result<(), OperationError> {
        must_be_none(std::mem::take(&mut self.broken))
    }
}

/// Refuses a change of types that breaks something.
pub(crate) fn must_be_none(broken: BrokenObjects) -> Result<(), OperationError> {
    if broken.count == 0 { Ok(()) } else { Err(WriteRefusal::TypesBreak(broken).into()) }
}

async fn met(tx: &mut Tx) -> Result<(HistoryPosition, HistoryPosition), StoreError> {
    Ok((tenants::position(tx).await?, entities::state(tx).await?.position))
}

/// Returns the types with `declared` in place of the one called `name`.
fn with(stored: &[TypeRecord], name: &str, declared: Option<&NewType>) -> Types {
    let kept = stored.iter().filter(|record| record.kind != name);
    declared_types(kept.map(TypeRecord::declared).chain(declared.map(NewType::declared)))
}

/// Returns the policies and cases that break.
async fn broken_rules(
    app: &App,
    caller: &Manager,
    tx: &mut Tx,
    before: Types,
    after: Types,
) -> Result<BrokenObjects, OperationError> {
    must_fit(tx).await?;
    let policies = policies::all(tx).await?;
    let cases = tenant_cases::find(tx).await?.map(|stored| stored.cases).unwrap_or_default();
    let resolvers = namespaces::of_tenant(tx, &app.resolvers.operator_resolvers()).await?;
    let judged = move || {
        let mut broken = BrokenObjects::default();
        broken_policies(&policies, &resolvers, (&before, &after), &mut broken);
        broken_cases(&cases, (&before, &after), &mut broken);
        broken
    };
    app.compilations.run(caller.tenant(), judged).await
}

/// Notes the enabled policies whose conditions the types `before` allow and those `after` do not.
pub(crate) fn broken_policies<'p>(
    policies: impl IntoIterator<Item = &'p PolicyRecord>,
    resolvers: &Namespaces,
    (before, after): (&Types, &Types),
    broken: &mut BrokenObjects,
) {
    let before = resolvers.clone().with_types(before.clone());
    let after = resolvers.clone().with_types(after.clone());
    for record in policies.into_iter().filter(|record| record.enabled) {
        // A condition that cannot be read reads nothing.
        let text = record.rule_data.text();
        let Ok(condition) = Policy::stored_condition(record.format, text) else { continue };
        let fault = |namespaces: &Namespaces| {
            let mut problems = Problems::default();
            let at = Place::root();
            let readable = namespaces.readable_on(&record.resource);
            let at = at.key("rule_data");
            condition.check_rule_data(record.format, text, readable, &at, &mut problems);
            problems.into_result().err()
        };
        let Some(message) = fault(&after) else { continue };
        if fault(&before).is_none() {
            note(broken, "policy", || record.name.clone(), message.to_string());
        }
    }
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
        let fault = |types: &Types| {
            let (mut problems, root) = (Problems::default(), Place::root());
            types.check_attributes(resource, sent, &root.key("attributes"), &mut problems);
            problems.into_result().err()
        };
        let Some(message) = fault(after) else { continue };
        if fault(before).is_none() {
            let name = || name.as_str().unwrap_or_default().to_owned();
            note(broken, "case", name, message.to_string());
        }
    }
}

/// Returns whether an entity of the type may have what it does not declare any more.
fn needs_properties(before: &Types, after: &Types, name: &str) -> bool {
    let Some(new) = after.properties(name).filter(|new| !new.is_empty()) else { return false };
    let old = before.properties(name).filter(|old| !old.is_empty());
    let is_kept = |(name, property): (&String, &Property)| {
        new.get(name).is_some_and(|new| new.kind == property.kind)
    };
    !old.is_some_and(|old| old.iter().all(is_kept))
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
        must_be_in_time(caller)?;
        let page = entities::list(tx, Some(kind), (kind, &after), PAGE).await?;
        for entity in &page.records {
            if let Some(fault) = fault(types, entity) {
                note(broken, "entity", || format!("{kind}:{}", entity.id), fault);
            }
        }
        match page.records.into_iter().last() {
            Some(last) if page.more => after = last.id,
            _ => return Ok(()),
        }
    }
}

fn fault(types: &Types, entity: &EntityRecord) -> Option<String> {
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

fn note(
    broken: &mut BrokenObjects,
    kind: &'static str,
    name: impl FnOnce() -> String,
    message: String,
) {
    broken.count += 1;
    if broken.first.len() < MAX_NAMED {
        broken.first.push(BrokenObject { kind, name: name(), message });
    }
}
