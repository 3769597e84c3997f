//! The changes of rules: of the explicit rules that a bundle names, and of the rules of default roles.

use std::collections::{HashMap, HashSet};

use portcullis_bundle::{BundleDocument, Form};
use portcullis_engine::invalid::Problems;
use portcullis_engine::{ResourcePattern, RuleTuple};
use portcullis_model::apply::{FieldChange, ObjectKind};
use portcullis_model::resource::ResourceRecord;
use portcullis_model::rule::{NewRule, RuleOrigin, RuleRecord};
use portcullis_model::{Authorship, SignedRecord};
use portcullis_runtime::error::OperationError;
use portcullis_storage::bulk::{self, RecordWrite};
use portcullis_storage::{Records, StoreError, Tx, rules};

use super::after::after;
use super::applied_record::{AppliedRecord, Planning, writes_back};
use super::content::Content;
use super::context::PlanContext;
use super::draft::Draft;
use super::execution::Execution;
use super::restoration;
use crate::content::kinds::ContentRecord;
use crate::content::registration::not_in;
use crate::content::tenant_content::TenantContent;

const KIND: ObjectKind = ObjectKind::Rule;

/// The four parts of a tuple. Their text is not a name: a subject may contain a comma.
type TupleKey = [String; 4];

/// Returns what names the one rule of a tuple.
fn key(tuple: &RuleTuple) -> TupleKey {
    [tuple.obj.to_string(), tuple.sub.clone(), tuple.dom.clone(), tuple.act.clone()]
}

impl AppliedRecord for RuleRecord {
    const HAS_EMPTY_PART: bool = true;

    fn planned(
        draft: &mut Draft<'_>,
        planning: Planning<'_>,
        _: &mut Problems,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let Planning { state, bundle, context, before } = planning;
        let mut rules = RuleBook::new(state);
        if let Some(wanted) = &bundle.rules {
            rules.make_explicit(draft, state, wanted, context);
            if context.prune {
                let resources = after(&state.resources, &before.resources);
                rules.prune(draft, wanted, &resources, context);
            }
        }
        rules.follow(&before.resources, context);
        Ok(rules.into_writes())
    }

    fn read<'s>(
        state: &'s TenantContent,
        bundle: &BundleDocument,
        owner: Option<&str>,
        domain: &str,
    ) -> Vec<&'s Self> {
        let explicit = bundle.rules.iter().flatten().map(|rule| key(&rule.tuple));
        let of_roles = bundle.resources.iter().flatten().flat_map(|resource| {
            let roles = resource.default_roles.iter();
            roles.map(|role| key(&resource.default_rule(role, domain).tuple))
        });
        let tuples: HashSet<_> = explicit.chain(of_roles).collect();
        let read = state.rules.iter().filter(|rule| {
            let is_explicit = rule.origin == RuleOrigin::Explicit;
            let is_own = owner.is_none() || rule.managed_by.as_deref() == owner;
            (is_explicit && is_own) || tuples.contains(&key(&rule.tuple))
        });
        read.collect()
    }

    /// The domain of the tenant is absent.
    fn content(&self, domain: &str) -> Content {
        let content = Content::new(self, Form::RULE);
        if self.tuple.dom == domain { content.without(&["dom"]) } else { content }
    }

    /// Without the rules of default roles, which their resources have.
    async fn exported<'t>(
        tx: &'t mut Tx,
        owner: Option<&'t str>,
    ) -> Result<Records<'t, Self>, StoreError> {
        Ok(rules::explicit_by_tuple(tx, owner))
    }

    fn restored(
        present: &TenantContent,
        past: &TenantContent,
        by: &Authorship,
    ) -> Result<Vec<RecordWrite<Self>>, OperationError> {
        let writes = writes_back(&present.rules, &past.rules, |one| one.signed(by));
        Ok(restoration::apart(writes))
    }

    async fn write(
        tx: &mut Tx,
        writes: &[RecordWrite<Self>],
        execution: &Execution<'_>,
    ) -> Result<(), OperationError> {
        Ok(bulk::write_rules(tx, writes, execution.by).await?)
    }
}

/// The rules of a tenant while a plan is made.
struct RuleBook<'s> {
    entries: Vec<PlannedRule<'s>>,
    by_tuple: HashMap<TupleKey, usize>,
}

struct PlannedRule<'s> {
    old: Option<&'s RuleRecord>,
    change: RuleChange,
}

/// The state of a rule after the plan.
enum RuleChange {
    Kept,
    Written(Box<RuleRecord>),
    Gone,
}

impl PlannedRule<'_> {
    fn after(&self) -> Option<&RuleRecord> {
        match &self.change {
            RuleChange::Kept => self.old,
            RuleChange::Written(new) => Some(new),
            RuleChange::Gone => None,
        }
    }
}

impl<'s> RuleBook<'s> {
    fn new(state: &'s TenantContent) -> Self {
        let entries =
            state.rules.iter().map(|old| PlannedRule { old: Some(old), change: RuleChange::Kept });
        let by_tuple = state.rules.iter().enumerate().map(|(index, old)| (key(&old.tuple), index));
        Self { entries: entries.collect(), by_tuple: by_tuple.collect() }
    }

    fn entry(&mut self, tuple: &RuleTuple) -> Option<&mut PlannedRule<'s>> {
        let index = *self.by_tuple.get(&key(tuple))?;
        self.entries.get_mut(index)
    }

    fn insert(&mut self, record: RuleRecord) {
        self.by_tuple.insert(key(&record.tuple), self.entries.len());
        self.entries.push(PlannedRule { old: None, change: RuleChange::Written(Box::new(record)) });
    }

    /// Makes the explicit rules of the owner `wanted`.
    fn make_explicit(
        &mut self,
        draft: &mut Draft<'_>,
        state: &TenantContent,
        wanted: &[NewRule],
        context: &PlanContext<'_>,
    ) {
        let stored = state.resources_by_name();
        for rule in wanted {
            match self.entry(&rule.tuple) {
                Some(entry) => record_update(draft, entry, rule, &stored, context),
                None => {
                    draft.create(KIND, rule.tuple.to_string());
                    self.insert(new_record(rule, context).owned_by(context.owner));
                }
            }
        }
    }

    /// Deletes the explicit rules of the owner that are not `wanted`. One that a default role of `resources`, those after
    /// the plan, makes becomes its rule again.
    fn prune(
        &mut self,
        draft: &mut Draft<'_>,
        wanted: &[NewRule],
        resources: &[&ResourceRecord],
        context: &PlanContext<'_>,
    ) {
        let wanted: HashSet<TupleKey> = wanted.iter().map(|rule| key(&rule.tuple)).collect();
        let made = default_rules(resources, context.domain);
        for entry in &mut self.entries {
            let Some(old) = entry.old.filter(|old| draft.is_own(old.managed_by.as_deref())) else {
                continue;
            };
            let tuple = key(&old.tuple);
            if wanted.contains(&tuple) {
                continue;
            }
            entry.change = match made.get(&tuple) {
                // The operator owns the rules of default roles, too.
                Some(rule)
                    if (old.origin, old.effect) == (RuleOrigin::DefaultRole, rule.effect) =>
                {
                    continue;
                }
                Some(rule) => release(draft, old, rule, context),
                None => {
                    draft.delete(KIND, old.tuple.to_string());
                    RuleChange::Gone
                }
            };
        }
    }

    /// Makes and removes the rules of default roles that resources gain and lose.
    fn follow(&mut self, writes: &[RecordWrite<ResourceRecord>], context: &PlanContext<'_>) {
        for write in writes {
            let (before, after) = (write.before(), write.after());
            let [old, new] = [before, after].map(default_roles);
            if let Some(record) = after {
                for role in not_in(new, old) {
                    self.add_default(
                        &record.registration.default_rule(role, context.domain),
                        context,
                    );
                }
            }
            // The rules of a resource that goes are removed below, in every domain.
            if let (Some(record), true) = (before, after.is_some()) {
                for role in not_in(old, new) {
                    let rule = record.registration.default_rule(role, context.domain);
                    self.remove_default(&rule.tuple);
                }
            }
        }
        self.remove_of_deleted(writes);
    }

    fn add_default(&mut self, rule: &NewRule, context: &PlanContext<'_>) {
        let mut record = new_record(rule, context);
        record.origin = RuleOrigin::DefaultRole;
        match self.entry(&rule.tuple) {
            None => self.insert(record),
            // What was to go stays, with its id.
            Some(entry) if entry.after().is_none() => {
                let id = entry.old.map_or(record.id, |old| old.id);
                entry.change = RuleChange::Written(Box::new(RuleRecord { id, ..record }));
            }
            Some(_) => {}
        }
    }

    fn remove_default(&mut self, tuple: &RuleTuple) {
        if let Some(entry) = self.entry(tuple) {
            remove_if_default(entry);
        }
    }

    /// Removes the rules of default roles of resources that go, whatever their domain.
    fn remove_of_deleted(&mut self, writes: &[RecordWrite<ResourceRecord>]) {
        let gone = writes.iter().filter(|write| write.after().is_none());
        let gone = gone.filter_map(RecordWrite::before);
        let gone: HashSet<&str> = gone.map(|record| &*record.registration.name).collect();
        for entry in &mut self.entries {
            let obj = entry.old.map(|old| &old.tuple.obj);
            if let Some(ResourcePattern::Exact(name)) = obj
                && gone.contains(&**name)
            {
                remove_if_default(entry);
            }
        }
    }

    /// Returns the writes: deletions, then the others.
    fn into_writes(self) -> Vec<RecordWrite<RuleRecord>> {
        let (mut gone, mut written) = (Vec::new(), Vec::new());
        for PlannedRule { old, change } in self.entries {
            match (old, change) {
                (Some(old), RuleChange::Gone) => gone.push(RecordWrite::Delete(old.clone())),
                (Some(old), RuleChange::Written(new)) => {
                    written.push(RecordWrite::Update { old: old.clone(), new: *new });
                }
                (None, RuleChange::Written(new)) => written.push(RecordWrite::Insert(*new)),
                // A rule that this plan made and removed again was never stored.
                (_, RuleChange::Kept) | (None, RuleChange::Gone) => {}
            }
        }
        gone.append(&mut written);
        gone
    }
}

fn record_update(
    draft: &mut Draft<'_>,
    entry: &mut PlannedRule<'_>,
    wanted: &NewRule,
    resources: &HashMap<&str, &ResourceRecord>,
    context: &PlanContext<'_>,
) {
    // Without a stored rule this plan has made it, from an equal tuple of the bundle.
    let Some(old) = entry.old else { return };
    let name = old.tuple.to_string();
    if !draft.may_change(KIND, &name, owner(old, resources)) {
        return;
    }
    let new = RuleRecord {
        effect: wanted.effect,
        origin: RuleOrigin::Explicit,
        ..old.clone().signed(context.by).owned_by(context.owner)
    };
    let mut fields = fields(old, &new, context);
    // A rule of a default role that becomes explicit differs in nothing that a bundle shows.
    if draft.is_own(old.managed_by.as_deref()) && old.origin != new.origin {
        fields.push(FieldChange::new("/origin".to_owned(), None, None));
    }
    if draft.record_update(KIND, name, old.managed_by.as_deref(), fields) {
        entry.change = RuleChange::Written(Box::new(new));
    }
}

/// Returns the owner of a rule: for the rule of a default role, the owner of its resource.
fn owner<'s>(
    rule: &'s RuleRecord,
    resources: &HashMap<&str, &'s ResourceRecord>,
) -> Option<&'s str> {
    match (&rule.tuple.obj, rule.origin) {
        (ResourcePattern::Exact(name), RuleOrigin::DefaultRole) => {
            resources.get(&**name).and_then(|resource| resource.managed_by.as_deref())
        }
        _ => rule.managed_by.as_deref(),
    }
}

fn release(
    draft: &mut Draft<'_>,
    old: &RuleRecord,
    made: &NewRule,
    context: &PlanContext<'_>,
) -> RuleChange {
    let new = RuleRecord {
        effect: made.effect,
        origin: RuleOrigin::DefaultRole,
        ..old.clone().signed(context.by).owned_by(None)
    };
    draft.release(old.tuple.to_string(), fields(old, &new, context));
    RuleChange::Written(Box::new(new))
}

fn fields(old: &RuleRecord, new: &RuleRecord, context: &PlanContext<'_>) -> Vec<FieldChange> {
    if old.effect == new.effect {
        return Vec::new();
    }
    old.changes(new, context.domain)
}

fn remove_if_default(entry: &mut PlannedRule<'_>) {
    let is_default = entry.after().is_some_and(|rule| rule.origin == RuleOrigin::DefaultRole);
    if is_default {
        entry.change = RuleChange::Gone;
    }
}

/// Returns the rules that the default roles of `resources` make, by their tuples.
fn default_rules(resources: &[&ResourceRecord], domain: &str) -> HashMap<TupleKey, NewRule> {
    let rules = resources.iter().flat_map(|record| {
        let roles = record.registration.default_roles.iter();
        roles.map(|role| record.registration.default_rule(role, domain))
    });
    rules.map(|rule| (key(&rule.tuple), rule)).collect()
}

fn default_roles(record: Option<&ResourceRecord>) -> &[String] {
    record.map(|record| &*record.registration.default_roles).unwrap_or_default()
}

fn new_record(rule: &NewRule, context: &PlanContext<'_>) -> RuleRecord {
    let id = context.ids.next(context.by.at);
    rule.clone().into_record(id, RuleOrigin::Explicit, context.by)
}
