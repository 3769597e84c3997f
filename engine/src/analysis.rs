//! Claims about policies that hold for every check: this one never applies, that one applies whenever another does.
//!
//! Each question is a search for a check that refutes the claim. The search looks at more values than are possible where
//! it is not exact, and never at fewer: a claim that it makes is always right, as long as no check exceeds a budget of
//! `docs/semantics.md`, section 4.8. A search is bounded by a number of steps, after which the question has no answer.

mod absences;
mod instants;
mod numbers;
mod outcomes;
mod relation;
mod scope;
mod search;
mod texts;
mod values;

use crate::condition::{AttributePath, Condition, Operand, Predicate, RequestField, Test};
use crate::invalid::Place;
use crate::operator::Operator;
use crate::rbac::{Effect, RuleTuple, WILDCARD};
use crate::resource::ResourcePattern;
use crate::truths::TruthSet;

pub use absences::implicit_attributes;
use outcomes::Demand;
use scope::Scope;
use search::{Goal, Search};

/// The maximum number of steps of one question. A step is the evaluation of one test for one value. Conditions that
/// people write take tens to thousands; this many take about 10 ms.
const MAX_QUESTION_STEPS: usize = 200_000;

/// A policy, as far as it matters when it applies.
#[derive(Clone, Copy, Debug)]
pub struct AnalyzedPolicy<'c> {
    /// The resources to which the policy applies.
    pub resource: &'c ResourcePattern,
    /// The effect, which says whether it applies if its condition is undetermined.
    pub effect: Effect,
    /// The condition.
    pub condition: &'c Condition,
}

/// Answers questions about policies, within a number of steps for all of them.
#[derive(Debug)]
pub struct Analysis {
    steps: usize,
}

impl Analysis {
    /// Makes an analysis whose questions together take at most this many steps.
    pub fn new(steps: usize) -> Self {
        Self { steps }
    }

    /// Returns whether no check makes the policy apply. `None` if the question takes too many steps.
    pub fn never_applies(&mut self, policy: AnalyzedPolicy<'_>) -> Option<bool> {
        let scope = Scope { resource: policy.resource, absent: None };
        self.finds(scope, &[policy.applies()]).map(|found| !found)
    }

    /// Returns whether `other` applies to every check to which `policy` applies, and is known to apply before a resolver
    /// is asked that `policy` does not ask for. `None` if the question takes too many steps.
    pub fn implies(
        &mut self,
        policy: AnalyzedPolicy<'_>,
        other: AnalyzedPolicy<'_>,
    ) -> Option<bool> {
        if !other.resource.covers(policy.resource) {
            return Some(false);
        }
        let (from, to) = (policy.applies(), other.applies());
        if from.truths.is_within(to.truths) && from.condition == to.condition {
            return Some(true);
        }
        // A policy that needs no resolver may be found to apply while `other` still waits for one.
        if !other.condition.resolved_attributes().is_empty() {
            return Some(false);
        }
        let scope = Scope { resource: policy.resource, absent: None };
        let not_to = Goal { truths: to.truths.others(), ..to };
        self.finds(scope, &[from, not_to]).map(|found| !found)
    }

    /// Returns whether a deny applies to every check without the attribute, and not to every check at all. `None` if the
    /// question takes too many steps.
    pub fn denies_without(
        &mut self,
        policy: AnalyzedPolicy<'_>,
        attribute: &AttributePath,
    ) -> Option<bool> {
        let applies = policy.applies();
        let spares = Goal { truths: applies.truths.others(), ..applies };
        let scope = Scope { resource: policy.resource, absent: None };
        if !self.finds(scope, &[spares])? {
            return Some(false);
        }
        let without = Scope { absent: Some(attribute), ..scope };
        self.finds(without, &[spares]).map(|found| !found)
    }

    fn finds(&mut self, scope: Scope<'_>, goals: &[Goal<'_>]) -> Option<bool> {
        let mut steps = self.steps.min(MAX_QUESTION_STEPS);
        let before = steps;
        let found = Search::new(scope, &mut steps).finds(goals).ok();
        // One question cannot use up the steps of all others.
        self.steps -= before - steps;
        found
    }
}

impl<'c> AnalyzedPolicy<'c> {
    fn applies(self) -> Goal<'c> {
        Goal { condition: self.condition, truths: TruthSet::applying(self.effect) }
    }
}

/// Returns whether some value of the attribute makes the test true or false.
pub fn is_determinable(test: &Test) -> bool {
    let scope = Scope { resource: &ResourcePattern::Any, absent: None };
    let demand = Demand { test, truths: TruthSet::DETERMINED };
    values::is_met_present(&test.attribute, &scope, &[demand])
}

/// Returns the first tests that no value of their attribute makes true or false, at most `most`, each with its JSON pointer.
/// The condition is at `at`.
pub fn never_decided<'c>(
    condition: &'c Condition,
    at: &Place<'_>,
    most: usize,
) -> Vec<(String, &'c Test)> {
    let mut found = Vec::new();
    condition.visit_tests(at, &mut |test, at| {
        if found.len() < most && !is_determinable(test) {
            found.push((at.to_string(), test));
        }
    });
    found
}

/// Returns the condition that is true exactly for the checks that the rule matches, apart from their resource.
pub fn rule_condition(tuple: &RuleTuple) -> Condition {
    let mut all = Vec::new();
    if tuple.sub != WILDCARD {
        let principals = [
            comparison(RequestField::Subject, Operator::Eq, &tuple.sub),
            comparison(RequestField::Roles, Operator::Contains, &tuple.sub),
        ];
        all.push(Condition::Or(principals.into()));
    }
    for (name, text) in [(RequestField::Domain, &tuple.dom), (RequestField::Action, &tuple.act)] {
        if text != WILDCARD {
            all.push(comparison(name, Operator::Eq, text));
        }
    }
    Condition::And(all.into())
}

fn comparison(field: RequestField, operator: Operator, text: &str) -> Condition {
    Condition::Test(Test {
        attribute: AttributePath::Request(field),
        predicate: Predicate::Compare(operator, Operand::Text(text.into())),
        if_missing: None,
    })
}

#[cfg(test)]
mod tests;
