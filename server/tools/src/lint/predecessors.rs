//! Policies and rules that come before a policy and may apply whenever it does.
//!
//! They are found by resource pattern and by a literal that both must name, so that most pairs are never compared.

use std::collections::{BTreeSet, HashMap};

use portcullis_bundle::Rulebook;
use portcullis_engine::analysis::{AnalyzedPolicy, rule_condition};
use portcullis_engine::condition::{AttributePath, Operand, Predicate, RequestField};
use portcullis_engine::operator::Operator;
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::relation::relation_of_subject;
use portcullis_engine::{Condition, Effect, Rule, RuleTuple};
use portcullis_model::policy::NewPolicy;

use super::rules::covering;

/// The maximum number of predecessors with which a policy is compared: enough for every folder that people keep, and
/// linear for 10,000 policies on one resource.
const MAX_COMPARED: usize = 100;

/// A policy that comes before another one, or a rule that denies.
#[derive(Clone)]
pub(super) enum Winner<'b> {
    Policy(&'b NewPolicy, AnalyzedPolicy<'b>),
    /// The tuple, and the condition that says which checks it matches.
    Rule(&'b RuleTuple, Box<Condition>),
}

impl Winner<'_> {
    pub(super) fn analyzed(&self) -> AnalyzedPolicy<'_> {
        match self {
            Self::Policy(_, analyzed) => *analyzed,
            Self::Rule(tuple, condition) => {
                AnalyzedPolicy { resource: &tuple.obj, effect: Effect::Deny, condition }
            }
        }
    }
}

/// A literal with which an attribute is compared.
type Named = (String, String);

/// A policy that comes before another one.
type Predecessor<'b> = (&'b NewPolicy, AnalyzedPolicy<'b>);

/// The policies and rules so far.
pub(super) struct Predecessors<'b> {
    /// By pattern, and by the literal that the condition needs.
    policies: HashMap<(String, Option<Named>), Vec<Predecessor<'b>>>,
    /// The rules that deny, by pattern and subject.
    rules: HashMap<(String, &'b str), Vec<&'b RuleTuple>>,
}

impl<'b> Predecessors<'b> {
    pub(super) fn new(rulebook: &'b Rulebook) -> Self {
        let has_relations = rulebook.facts().relations.is_some();
        let mut denying: HashMap<_, Vec<_>> = HashMap::new();
        for Rule { tuple, .. } in rulebook.rules().iter().filter(|it| it.effect == Effect::Deny) {
            // No condition says who has a relation, so that such a rule is never certain to match.
            if has_relations && relation_of_subject(&tuple.sub).is_some() {
                continue;
            }
            denying.entry((tuple.obj.to_string(), &*tuple.sub)).or_default().push(tuple);
        }
        Self { policies: HashMap::new(), rules: denying }
    }

    /// Adds a policy that comes after all policies so far.
    pub(super) fn insert(&mut self, policy: &'b NewPolicy, analyzed: AnalyzedPolicy<'b>) {
        let key = (policy.resource.to_string(), needed(analyzed));
        self.policies.entry(key).or_default().push((policy, analyzed));
    }

    /// Returns what may apply whenever `policy` does, at most [`MAX_COMPARED`] of it, and the number of the others.
    pub(super) fn candidates(&self, policy: AnalyzedPolicy<'_>) -> (Vec<Winner<'b>>, usize) {
        let literals = literals(policy.condition);
        let texts = literals.iter().filter_map(|(_, operand)| text(operand)).chain([WILDCARD]);
        // Sorted sets: the same folder always has the same findings.
        let subjects: BTreeSet<&str> = texts.collect();
        let keys: BTreeSet<Option<Named>> = literals
            .iter()
            .map(|(path, operand)| Some(named(path, operand)))
            // A policy that needs no literal may apply in any case.
            .chain([None])
            .collect();
        let (mut found, mut left_out) = (Vec::new(), 0);
        for pattern in covering(policy.resource) {
            // No rule beats a policy that denies.
            let rules = subjects.iter().filter(|_| policy.effect == Effect::Allow);
            let rules = rules.filter_map(|sub| self.rules.get(&(pattern.clone(), *sub)));
            let rules =
                rules.flatten().map(|tuple| Winner::Rule(tuple, Box::new(rule_condition(tuple))));
            let policies =
                keys.iter().filter_map(|key| self.policies.get(&(pattern.clone(), key.clone())));
            let policies =
                policies.flatten().map(|(policy, analyzed)| Winner::Policy(policy, *analyzed));
            for candidate in rules.chain(policies) {
                if found.len() < MAX_COMPARED {
                    found.push(candidate);
                } else {
                    left_out += 1;
                }
            }
        }
        (found, left_out)
    }
}

/// Returns a literal that every policy must name that implies this one.
fn needed(policy: AnalyzedPolicy<'_>) -> Option<Named> {
    // A deny also applies to values that its condition does not name.
    if policy.effect == Effect::Deny {
        return None;
    }
    let parts = match policy.condition {
        // Every part of a conjunction must be true, so any of them may be the one that is needed.
        Condition::And(children) => children,
        single => std::slice::from_ref(single),
    };
    parts.iter().find_map(|part| {
        let Condition::Test(test) = part else { return None };
        let Predicate::Compare(Operator::Eq, operand) = &test.predicate else { return None };
        let is_fixed = matches!(
            test.attribute,
            // The resource of a policy gives these a value that no condition names.
            AttributePath::Request(RequestField::Resource | RequestField::Object)
        );
        // `!= true` implies `== false`.
        let is_named = matches!(operand, Operand::Text(_) | Operand::Number(_));
        let is_needed = is_named && !is_fixed && test.if_missing != Some(true);
        is_needed.then(|| named(&test.attribute, operand))
    })
}

fn named(path: &AttributePath, operand: &Operand) -> Named {
    // The form for debugging tells the text `1` from the number.
    (path.to_string(), format!("{operand:?}"))
}

fn text(operand: &Operand) -> Option<&str> {
    if let Operand::Text(text) = operand { Some(text) } else { None }
}

/// Returns every text and number with which the condition compares an attribute.
fn literals(condition: &Condition) -> Vec<(&AttributePath, Operand)> {
    let mut found = Vec::new();
    for test in condition.tests() {
        let Predicate::Compare(_, operand) = &test.predicate else { continue };
        match operand {
            Operand::Text(_) | Operand::Number(_) => found.push((&test.attribute, operand.clone())),
            Operand::List(list) => {
                let texts = list.texts().map(|text| Operand::Text(text.into()));
                let all = texts.chain(list.numbers().map(Operand::Number));
                found.extend(all.map(|operand| (&test.attribute, operand)));
            }
            _ => {}
        }
    }
    found
}
