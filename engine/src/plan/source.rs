//! A policy, or a rule whose subject is a relation, before it is compiled.

use crate::condition::{
    AttributePath, Condition, Operand, Predicate, RequestField, ResolverAttribute, Test,
};
use crate::datetimes::Unordering;
use crate::operator::Operator;
use crate::policy::{PlannedPolicy, Policy};
use crate::rbac::{Rule, WILDCARD};
use crate::relation::{RELATION, relation_of_subject};

/// A policy before it is compiled.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) policy: PlannedPolicy,
    /// `None` if the stored condition does not compile.
    pub(super) condition: Option<Condition>,
}

impl Source {
    /// Makes a policy, whose orders of declared date-times are undetermined.
    pub(super) fn from_policy(policy: Policy, orders: &mut Unordering<'_>) -> Self {
        let Policy { id, name, effect, priority, condition, resource } = policy;
        let policy = PlannedPolicy { id, name: name.into(), effect, priority, is_rule: false };
        let condition = condition.ok();
        Self { policy, condition: condition.map(|own| orders.of(&resource, own)) }
    }

    /// Makes a rule whose subject is a relation a policy; `None` if the subject is a text.
    pub(super) fn from_rule(rule: &Rule) -> Option<Self> {
        let name = relation_of_subject(&rule.tuple.sub)?.into();
        let relation = ResolverAttribute { namespace: RELATION.into(), name };
        // The object needs no test: each rule of a plan matches its resource.
        let tests = [
            test_of(RequestField::Domain, &rule.tuple.dom),
            action_test(&rule.tuple.act),
            Some(equals(AttributePath::Resolver(relation), Operand::Bool(true))),
        ];
        // Explanations take the parts of the tuple from the name.
        let name = rule.tuple.to_string().into();
        let (id, effect) = (rule.id, rule.effect);
        let policy = PlannedPolicy { id, name, effect, priority: 0, is_rule: true };
        let condition = Condition::And(tests.into_iter().flatten().collect());
        Some(Self { policy, condition: Some(condition) })
    }
}

/// Returns the test of the action of a rule; `None` for the wildcard. An action that a check leaves out also matches as the
/// verb is written: it has another text then only if it is encoded.
fn action_test(act: &str) -> Option<Condition> {
    let decoded = test_of(RequestField::Action, act)?;
    if !act.contains('%') {
        return Some(decoded);
    }
    let written = test_of(RequestField::WrittenAction, act)?;
    Some(Condition::Or([decoded, written].into()))
}

/// Returns the test of a text that a rule names; `None` for the wildcard.
fn test_of(field: RequestField, text: &str) -> Option<Condition> {
    let path = AttributePath::Request(field);
    (text != WILDCARD).then(|| equals(path, Operand::Text(text.into())))
}

fn equals(attribute: AttributePath, operand: Operand) -> Condition {
    let predicate = Predicate::Compare(Operator::Eq, operand);
    Condition::Test(Test { attribute, predicate, if_missing: None })
}
