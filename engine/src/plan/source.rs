//! A policy, or a rule whose subject is a relation, before it is compiled.

use crate::action::{decoded, verb_of};
use crate::condition::{
    AttributePath, Condition, Operand, Predicate, RequestField, ResolverAttribute, Test,
};
use crate::datetimes::Unordering;
use crate::operator::Operator;
use crate::policy::{PlannedPolicy, Policy};
use crate::rbac::{Rule, RuleTuple, WILDCARD};
use crate::relation::{RELATION, relation_of_subject};
use crate::resource::ResourcePattern;
use crate::value::LiteralList;

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
            action_test(&rule.tuple),
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

/// Returns the test of the action of a rule; `None` for the wildcard. An encoded verb of the rule's resource stands for the
/// decoded one, too: that is the action of a check which leaves it out.
fn action_test(tuple: &RuleTuple) -> Option<Condition> {
    let act = &*tuple.act;
    match &tuple.obj {
        ResourcePattern::Exact(resource) if verb_of(resource) == act && *decoded(act) != *act => {
            let both = [act.into(), (&*decoded(act)).into()];
            let both = Operand::List(LiteralList::new(both.into(), Vec::new()));
            Some(compared(AttributePath::Request(RequestField::Action), Operator::In, both))
        }
        _ => test_of(RequestField::Action, act),
    }
}

/// Returns the test of a text that a rule names; `None` for the wildcard.
fn test_of(field: RequestField, text: &str) -> Option<Condition> {
    let path = AttributePath::Request(field);
    (text != WILDCARD).then(|| equals(path, Operand::Text(text.into())))
}

fn equals(attribute: AttributePath, operand: Operand) -> Condition {
    compared(attribute, Operator::Eq, operand)
}

fn compared(attribute: AttributePath, operator: Operator, operand: Operand) -> Condition {
    let predicate = Predicate::Compare(operator, operand);
    Condition::Test(Test { attribute, predicate, if_missing: None })
}
