//! Values of one attribute with which several tests of it have wanted truths.
//!
//! Equality, membership, prefixes, orders, networks, instants and presence are exact, as long as the right side is a
//! literal. Of everything else, the truths may be more than are possible, and never fewer: an answer "there is no such
//! value" is always right. Budgets (`docs/semantics.md`, section 4.8) are left aside.

use super::outcomes::{Demand, NO_ITEMS, agree, for_value};
use super::scope::Scope;
use super::{numbers, relation, texts};
use crate::condition::{AttributePath, Operand, Predicate, Test};
use crate::number::Number;
use crate::operator::ComparedKind;
use crate::truths::TruthSet;
use crate::value::AttributeValue;

/// Returns whether the attribute at `path` may have a value, or be absent, so that all demands are met.
pub(super) fn exists(path: &AttributePath, scope: &Scope<'_>, demands: &[Demand<'_>]) -> bool {
    if scope.lacks(path) {
        return is_met_absent(demands);
    }
    match path {
        AttributePath::Request(_) => is_met_present(path, scope, demands),
        // An item is present, and may be an object.
        AttributePath::Item => {
            is_met_present(path, scope, demands) || agree(demands, |_| TruthSet::UNDETERMINED)
        }
        // A claim may be an object, and so may an attribute of an AuthZEN request. No operator compares objects.
        AttributePath::User(_)
        | AttributePath::Resource(_)
        | AttributePath::Action(_)
        | AttributePath::Context(_)
        | AttributePath::Token(_) => {
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
    relation::kinds(path).iter().any(|kind| match kind {
        ComparedKind::Text => texts::exist(path, scope, demands),
        ComparedKind::Number => numbers::exist(scope, demands),
        ComparedKind::Bool => {
            let mut bools = [true, false].map(AttributeValue::Bool).into_iter();
            bools.any(|value| agree(demands, |test| for_value(test, value, scope)))
        }
        ComparedKind::List => is_met_by_list(path, scope, demands),
        // No attribute is a duration.
        ComparedKind::Duration => false,
    })
}

/// Returns whether a list may meet all demands. Lists of one length are alike, and so are the lengths between two that the
/// tests name.
fn is_met_by_list(path: &AttributePath, scope: &Scope<'_>, demands: &[Demand<'_>]) -> bool {
    let mut lengths = vec![0, 1];
    for demand in demands {
        if let Predicate::Length(_, Operand::Number(number)) = &demand.test.predicate {
            // A comparison with the number has each of its truths at one of these lengths.
            let floor = number.as_f64().clamp(0.0, f64::from(u32::MAX)) as u64;
            lengths.extend([floor.saturating_sub(1), floor, floor + 1]);
        }
    }
    lengths.sort_unstable();
    lengths.dedup();
    lengths.into_iter().any(|length| agree(demands, |test| for_list(path, test, length, scope)))
}

fn is_met_absent(demands: &[Demand<'_>]) -> bool {
    agree(demands, |test| match test.predicate {
        Predicate::Exists => TruthSet::FALSE,
        _ => TruthSet::from_truth(test.if_missing),
    })
}

/// Returns the truths that a test may have for a list of this length.
fn for_list(path: &AttributePath, test: &Test, length: u64, scope: &Scope<'_>) -> TruthSet {
    match &test.predicate {
        Predicate::Exists => TruthSet::TRUE,
        Predicate::Compare(operator, Operand::Attribute(right)) => {
            relation::truths(*operator, ComparedKind::List, right, scope)
        }
        Predicate::Compare(operator, literal) => {
            let Some(literal) = literal.literal() else { return TruthSet::UNDETERMINED };
            let truth = operator.holds(NO_ITEMS, literal);
            // Roles are texts.
            let has_items = length > 0
                && (!matches!(path, AttributePath::Request(_))
                    || matches!(literal, AttributeValue::Text(_) | AttributeValue::List(_)));
            match truth {
                Some(_) if has_items => TruthSet::DETERMINED,
                truth => TruthSet::from_truth(truth),
            }
        }
        Predicate::Matches(_)
        | Predicate::IpIn(_)
        | Predicate::During(_)
        | Predicate::Unordered(..) => TruthSet::UNDETERMINED,
        Predicate::Items(items) if length == 0 => {
            TruthSet::from_truth(Some(!items.quantifier().deciding()))
        }
        Predicate::Items(_) => TruthSet::ANY,
        Predicate::Length(operator, Operand::Number(number)) => {
            TruthSet::from_truth(operator.holds_in_order(Number::from(length).cmp(number)))
        }
        Predicate::Length(..) => TruthSet::ANY,
    }
}
