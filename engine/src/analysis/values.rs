//! Values of one attribute with which several tests of it have wanted truths.
//!
//! Equality, membership, prefixes, orders, networks, instants and presence are exact, as long as the right side is a
//! literal. Of everything else, the truths may be more than are possible, and never fewer: an answer "there is no such
//! value" is always right. Budgets (`docs/semantics.md`, section 4.8) are left aside.

use super::scope::Scope;
use super::search::Demand;
use super::truth_set::TruthSet;
use super::{numbers, relation, texts};
use crate::condition::{AttributePath, Operand, Predicate, RequestField, Test};
use crate::operator::Operator;
use crate::value::AttributeValue;

/// The kind of a present value that operators compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComparedKind {
    Text,
    Number,
    Bool,
    List,
}

/// Returns whether the attribute at `path` may have a value, or be absent, so that all demands are met.
pub(super) fn exists(path: &AttributePath, scope: &Scope<'_>, demands: &[Demand<'_>]) -> bool {
    if scope.lacks(path) {
        return is_met_absent(demands);
    }
    match path {
        AttributePath::Request(_) => is_met_present(path, scope, demands),
        AttributePath::User(_) | AttributePath::Resource(_) => {
            is_met_absent(demands) || is_met_present(path, scope, demands)
        }
        // A claim may be an object, which no operator compares.
        AttributePath::Token(_) => {
            is_met_absent(demands)
                || is_met_present(path, scope, demands)
                || agree(demands, |test| match test.predicate {
                    Predicate::Exists => TruthSet::TRUE,
                    _ => TruthSet::UNDETERMINED,
                })
        }
        // A failure of the resolver leaves every test undetermined.
        AttributePath::Resolver(_) => {
            is_met_absent(demands)
                || is_met_present(path, scope, demands)
                || agree(demands, |_| TruthSet::UNDETERMINED)
        }
    }
}

/// Returns whether some present value meets all demands.
pub(super) fn is_met_present(
    path: &AttributePath,
    scope: &Scope<'_>,
    demands: &[Demand<'_>],
) -> bool {
    let has = |kind| kinds(path).contains(&kind);
    let bools = [true, false].map(AttributeValue::Bool);
    let is_met = |value| agree(demands, |test| of_value(test, value, scope));
    (has(ComparedKind::Text) && texts::exist(path, scope, demands))
        || (has(ComparedKind::Number) && numbers::exist(scope, demands))
        || (has(ComparedKind::Bool) && bools.into_iter().any(is_met))
        || (has(ComparedKind::List) && agree(demands, |test| of_list(path, test, scope)))
}

/// Returns the kinds that present values of the attribute may have.
pub(super) fn kinds(path: &AttributePath) -> &'static [ComparedKind] {
    match path {
        AttributePath::Request(RequestField::Roles) => &[ComparedKind::List],
        AttributePath::Request(_) => &[ComparedKind::Text],
        _ => &[ComparedKind::Text, ComparedKind::Number, ComparedKind::Bool, ComparedKind::List],
    }
}

fn is_met_absent(demands: &[Demand<'_>]) -> bool {
    agree(demands, |test| match test.predicate {
        Predicate::Exists => TruthSet::FALSE,
        _ => TruthSet::of(test.if_missing),
    })
}

/// Returns whether all demands are met at the same time if each test has one of its `possible` truths. Tests of one
/// predicate have one truth.
pub(super) fn agree(demands: &[Demand<'_>], possible: impl Fn(&Test) -> TruthSet) -> bool {
    let mut shared: Vec<(SharedPredicate<'_>, TruthSet)> = Vec::new();
    for demand in demands {
        let possible = possible(demand.test);
        if !possible.has(demand.truths) {
            return false;
        }
        if possible.is_settled() {
            continue;
        }
        let (predicate, is_negated) = SharedPredicate::of(&demand.test.predicate);
        let truths = possible.and(demand.truths);
        let truths = if is_negated { truths.negated() } else { truths };
        match shared.iter_mut().find(|(known, _)| *known == predicate) {
            None => shared.push((predicate, truths)),
            Some((_, known)) if known.has(truths) => *known = known.and(truths),
            Some(_) => return false,
        }
    }
    true
}

/// A predicate, without a negation in its operator.
#[derive(PartialEq)]
enum SharedPredicate<'c> {
    Compare(Operator, &'c Operand),
    Other(&'c Predicate),
}

impl<'c> SharedPredicate<'c> {
    /// Returns the predicate, and whether its operator is the negation of the shared one.
    fn of(predicate: &'c Predicate) -> (Self, bool) {
        let Predicate::Compare(operator, operand) = predicate else {
            return (Self::Other(predicate), false);
        };
        let (operator, is_negated) = match operator {
            Operator::Ne => (Operator::Eq, true),
            Operator::NotIn => (Operator::In, true),
            Operator::Gte => (Operator::Lt, true),
            Operator::Gt => (Operator::Lte, true),
            other => (*other, false),
        };
        (Self::Compare(operator, operand), is_negated)
    }
}

/// Returns the truths that a test may have for a text, a number, a boolean or an instant.
pub(super) fn of_value(test: &Test, value: AttributeValue<'_>, scope: &Scope<'_>) -> TruthSet {
    let text = if let AttributeValue::Text(text) = value { Some(text) } else { None };
    match &test.predicate {
        Predicate::Exists => TruthSet::TRUE,
        Predicate::Compare(operator, Operand::Attribute(right)) => {
            let kind = match value {
                AttributeValue::Number(_) => ComparedKind::Number,
                AttributeValue::Bool(_) => ComparedKind::Bool,
                _ => ComparedKind::Text,
            };
            relation::truths(*operator, kind, right, scope)
        }
        Predicate::Compare(operator, literal) => {
            TruthSet::of(operator.holds(value, literal.literal()))
        }
        // A pattern may be over a budget, and then the test is undetermined.
        Predicate::Matches(_) => text.map_or(TruthSet::UNDETERMINED, |_| TruthSet::ANY),
        Predicate::IpIn(networks) => TruthSet::of(text.and_then(|text| networks.contain(text))),
        Predicate::During(window) => {
            TruthSet::of(value.instant().map(|instant| window.covers(instant)))
        }
    }
}

/// Returns the truths that a test may have for a list.
fn of_list(path: &AttributePath, test: &Test, scope: &Scope<'_>) -> TruthSet {
    match &test.predicate {
        Predicate::Exists => TruthSet::TRUE,
        Predicate::Compare(operator, Operand::Attribute(right)) => {
            relation::truths(*operator, ComparedKind::List, right, scope)
        }
        Predicate::Compare(Operator::Contains, item) => match (path, item) {
            (AttributePath::Request(_), Operand::Text(_)) => TruthSet::DETERMINED,
            // Roles are texts.
            (AttributePath::Request(_), _) => TruthSet::FALSE,
            _ => TruthSet::DETERMINED,
        },
        _ => TruthSet::UNDETERMINED,
    }
}
