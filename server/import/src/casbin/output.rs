//! Rules and policies: what an alternative of a matcher becomes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use portcullis_engine::{Effect, Json, ResourcePattern, json};
use portcullis_model::policy::NewPolicy;
use serde::Serialize;
use serde_json::{Value, json};

use super::condition::{Condition, Field, OneOf};
use super::objects::Objects;
use super::rules::rules;
use super::trees::{group, subjects, tree};
use crate::fault::ImportFault;
use crate::rule::{Rule, STAR, accepted};

/// The most lines that the name of a policy lists.
const MAX_LISTED: usize = 5;

/// A policy in the format of the API and of `policies.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ImportedPolicy {
    pub(super) name: String,
    pub(super) resource: String,
    pub(super) effect: Effect,
    pub(super) priority: i64,
    pub(super) rule_data: Value,
}

/// The result of a conversion.
#[derive(Debug, Default)]
pub(super) struct Converted {
    pub(super) rules: Vec<Rule>,
    pub(super) policies: Vec<ImportedPolicy>,
    /// The lines that Portcullis cannot express.
    pub(super) faults: Vec<ImportFault>,
    /// The number of lines that have no effect in this model.
    pub(super) without_effect: usize,
    /// Notes about what the files cannot say, because the application may add it.
    pub(super) notes: Vec<ImportFault>,
    /// The objects of the lines, which say what a check asks.
    pub(super) objects: Objects,
}

/// The line that an alternative comes from.
pub(super) struct Origin {
    pub(super) effect: Effect,
    /// 0 if the order of lines decides nothing.
    pub(super) priority: i64,
    pub(super) line: Option<usize>,
}

/// Policies that differ in their subjects only become one.
struct Draft {
    effect: Effect,
    priority: i64,
    resource: String,
    subjects: Option<OneOf>,
    others: Vec<Value>,
    lines: BTreeSet<usize>,
}

/// The rules and policies so far.
#[derive(Default)]
pub(super) struct Output {
    rules: Vec<Rule>,
    /// The position of each tuple in the rules. A tuple has one effect.
    tuples: HashMap<(String, Option<String>, String, String), usize>,
    drafts: Vec<Draft>,
    /// The position of the draft with these other parts, as JSON.
    known: BTreeMap<String, usize>,
    /// The first resource with percent-encoded characters.
    encoded: Option<String>,
}

impl Output {
    /// Adds conditions that hold together.
    ///
    /// # Errors
    /// The reason why Portcullis cannot express them.
    pub(super) fn add(
        &mut self,
        parts: &[Condition],
        origin: &Origin,
        objects: &Objects,
        has_domain: bool,
    ) -> Result<(), String> {
        // Rules have no priority: where the order of lines decides, everything is a policy.
        if origin.priority == 0
            && let Some(rules) = rules(parts, origin.effect, objects, has_domain)?
        {
            rules.into_iter().for_each(|rule| self.rule(rule));
            return Ok(());
        }
        for resource in resources(parts, objects)? {
            self.policy(parts, resource, origin, objects)?;
        }
        Ok(())
    }

    /// Returns the first resource with percent-encoded characters: `%` itself is one of them.
    pub(super) fn encoded(&self) -> Option<&str> {
        self.encoded.as_deref()
    }

    fn note_encoded(&mut self, resource: &str) {
        if self.encoded.is_none() && resource.contains('%') {
            self.encoded = Some(resource.to_owned());
        }
    }

    /// Adds the rule that allows everything to everybody.
    pub(super) fn allow_everything(&mut self, has_domain: bool) -> Result<(), String> {
        let dom = has_domain.then(|| STAR.to_owned());
        let [sub, obj, act] = [STAR, STAR, STAR].map(str::to_owned);
        self.rule(accepted(Rule { sub, dom, obj, act, effect: Effect::Allow })?);
        Ok(())
    }

    /// Adds a rule. If its tuple already has a rule, a deny wins.
    fn rule(&mut self, rule: Rule) {
        self.note_encoded(&rule.obj);
        let tuple = (rule.sub.clone(), rule.dom.clone(), rule.obj.clone(), rule.act.clone());
        match self.tuples.get(&tuple).and_then(|index| self.rules.get_mut(*index)) {
            // A deny is the least effect.
            Some(own) => own.effect = own.effect.min(rule.effect),
            None => {
                self.tuples.insert(tuple, self.rules.len());
                self.rules.push(rule);
            }
        }
    }

    fn policy(
        &mut self,
        parts: &[Condition],
        resource: String,
        origin: &Origin,
        objects: &Objects,
    ) -> Result<(), String> {
        self.note_encoded(&resource);
        let named = resource != STAR;
        let (mut subjects, mut others) = (None, Vec::new());
        for part in parts {
            match part {
                Condition::OneOf(own) if own.field == Field::Subject => {
                    subjects = Some(own.clone())
                }
                // The resource of the policy says it.
                Condition::OneOf(own) if own.field == Field::Object && named => {}
                part => others.push(tree(part, objects)?),
            }
        }
        // The subjects themselves are not in the key: drafts that differ in them only are merged.
        let key = json!([origin.effect, origin.priority, resource, others, subjects.is_some()]);
        let lines = origin.line.into_iter().collect();
        let draft = Draft {
            effect: origin.effect,
            priority: origin.priority,
            resource,
            subjects,
            others,
            lines,
        };
        match self.known.get(&key.to_string()).and_then(|index| self.drafts.get_mut(*index)) {
            Some(own) => own.merge(draft),
            None => {
                self.known.insert(key.to_string(), self.drafts.len());
                self.drafts.push(draft);
            }
        }
        Ok(())
    }

    /// Returns everything that was added.
    pub(super) fn finish(self) -> Converted {
        let (mut policies, mut faults) = (Vec::<ImportedPolicy>::new(), Vec::new());
        let mut names = HashMap::<String, usize>::new();
        for draft in self.drafts {
            let line = draft.lines.first().copied();
            match draft.finish() {
                Ok(mut policy) => {
                    let count = names.entry(policy.name.clone()).or_default();
                    *count += 1;
                    if *count > 1 {
                        policy.name = format!("{} ({count})", policy.name);
                    }
                    policies.push(policy);
                }
                Err(reason) => faults.push(ImportFault { line, reason }),
            }
        }
        Converted { rules: self.rules, policies, faults, ..Converted::default() }
    }
}

impl Draft {
    fn merge(&mut self, other: Self) {
        if let (Some(own), Some(new)) = (&mut self.subjects, other.subjects) {
            own.values.extend(new.values);
            own.roles.extend(new.roles);
        }
        self.lines.extend(other.lines);
    }

    /// Returns the policy, if Portcullis accepts it.
    fn finish(self) -> Result<ImportedPolicy, String> {
        let name = self.name();
        let subjects = self.subjects.as_ref().map(subjects);
        let parts: Vec<Value> = subjects.into_iter().chain(self.others).collect();
        let always =
            // A policy needs a condition: each check has a subject.
            json!({"type": "CONDITION", "attribute": "request.subject", "operator": "exists"});
        let rule_data = group("AND", parts).unwrap_or(always);
        let Self { effect, priority, resource, .. } = self;
        let policy = ImportedPolicy { name, resource, effect, priority, rule_data };
        let text = serde_json::to_string(&policy).map_err(|error| error.to_string())?;
        let read: Json<'_> = json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        NewPolicy::parse(&read)
            .map_err(|invalid| format!("the policy `{}`: {invalid}", policy.name))?;
        Ok(policy)
    }

    /// Returns a name that says where the policy comes from.
    fn name(&self) -> String {
        let listed: Vec<_> = self.lines.iter().take(MAX_LISTED).map(usize::to_string).collect();
        let more = self.lines.len().saturating_sub(MAX_LISTED);
        let lines = match (listed.len(), more) {
            (0, _) => "the matcher".to_owned(),
            (1, _) => format!("line {}", listed.concat()),
            (_, 0) => format!("lines {}", listed.join(", ")),
            (_, more) => format!("lines {} and {more} more", listed.join(", ")),
        };
        format!("casbin {} {}: {lines}", self.effect, self.resource)
    }
}

/// Returns the resources of the policies that the parts become.
fn resources(parts: &[Condition], known: &Objects) -> Result<Vec<String>, String> {
    let star = BTreeSet::from([STAR.to_owned()]);
    let Some(objects) = field_of(parts, Field::Object) else { return Ok(vec![STAR.to_owned()]) };
    // With a plain `*`, the condition says it all.
    if objects.values.iter().any(|object| object.contains('*')) {
        return Ok(vec![STAR.to_owned()]);
    }
    let actions = field_of(parts, Field::Action).map_or(&star, |own| &own.values);
    let act = match actions.first() {
        Some(act) if actions.len() == 1 && !act.contains('*') => act.as_str(),
        // Several actions, or a pattern of them, leave the verb of the resource open.
        _ => STAR,
    };
    objects
        .values
        .iter()
        .map(|object| {
            let resource = known.resource(object, act)?;
            match ResourcePattern::parse(&resource) {
                Some(_) => Ok(resource),
                None => Err(format!("`{resource}` is not the name of a resource")),
            }
        })
        .collect()
}

/// Returns the texts of a field, if a part says them.
fn field_of(parts: &[Condition], field: Field) -> Option<&OneOf> {
    parts.iter().find_map(|part| match part {
        Condition::OneOf(own) if own.field == field => Some(own),
        _ => None,
    })
}
