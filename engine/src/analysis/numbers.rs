//! Numbers with which tests have wanted truths.

use std::cmp::Ordering;

use super::outcomes::{Demand, NO_ITEMS, agree, for_value};
use super::scope::Scope;
use crate::condition::{Operand, Predicate, Test};
use crate::number::Number;
use crate::truths::TruthSet;
use crate::value::AttributeValue;
use crate::witnesses::Points;

/// Returns whether a number may meet all demands: one of the literals, or one of a gap between them.
pub(super) fn exist(scope: &Scope<'_>, demands: &[Demand<'_>]) -> bool {
    let mut literals: Vec<Number> = Vec::new();
    for demand in demands {
        match &demand.test.predicate {
            Predicate::Compare(_, Operand::Number(number)) => literals.push(*number),
            Predicate::Compare(_, Operand::List(list)) => literals.extend(list.numbers()),
            _ => {}
        }
    }
    let literals = Points::new(literals);
    let is_literal = literals.iter().any(|number| {
        agree(demands, |test| for_value(test, AttributeValue::Number(*number), scope))
    });
    is_literal
        || literals.gaps().any(|gap| agree(demands, |test| below(test, gap.high.copied(), scope)))
}

/// Returns the truths that a test may have for a number just below `bound`, above every smaller literal; above all
/// literals if there is no bound.
fn below(test: &Test, bound: Option<Number>, scope: &Scope<'_>) -> TruthSet {
    // Stands for any number where it does not matter which.
    let other = AttributeValue::Number(Number::from(0u64));
    match &test.predicate {
        Predicate::Compare(operator, Operand::Number(literal)) => {
            let is_less = bound.is_some_and(|bound| bound <= *literal);
            let order = if is_less { Ordering::Less } else { Ordering::Greater };
            TruthSet::from_truth(operator.holds_in_order(order))
        }
        // The number is not an item of a list.
        Predicate::Compare(operator, Operand::List(_)) => {
            TruthSet::from_truth(operator.holds(other, NO_ITEMS))
        }
        // No other test depends on which number it is.
        _ => for_value(test, other, scope),
    }
}
