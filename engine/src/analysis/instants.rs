//! Instants with which tests have wanted truths.

use std::cmp::Ordering;

use chrono::{DateTime, Utc};

use super::outcomes::{Demand, agree, for_value};
use super::scope::Scope;
use crate::condition::{Operand, Predicate, Test};
use crate::operator::Form;
use crate::truths::TruthSet;
use crate::value::AttributeValue;
use crate::witnesses::Points;

/// Returns whether an instant may meet all demands: one of the literals, or one of a gap between them.
pub(super) fn exist(scope: &Scope<'_>, demands: &[Demand<'_>]) -> bool {
    let literals = demands.iter().filter_map(|demand| match demand.test.predicate {
        Predicate::Compare(_, Operand::Instant(instant)) => Some(instant),
        _ => None,
    });
    let literals = Points::new(literals);
    let is_literal = literals.iter().any(|instant| {
        agree(demands, |test| for_value(test, AttributeValue::Instant(*instant), scope))
    });
    is_literal || literals.gaps().any(|gap| agree(demands, |test| below(test, gap.high)))
}

/// Returns the truths that a test may have for an instant just before `bound`, after every earlier literal; after all
/// literals if there is no bound.
fn below(test: &Test, bound: Option<&DateTime<Utc>>) -> TruthSet {
    match &test.predicate {
        Predicate::Compare(operator, operand) => match (operator.row().form, operand) {
            (Form::Instants(_), Operand::Instant(literal)) => {
                let is_before = bound.is_some_and(|bound| bound <= literal);
                let order = if is_before { Ordering::Less } else { Ordering::Greater };
                TruthSet::from_truth(operator.holds_in_time(order))
            }
            // The present may be any instant, so that both truths count.
            (Form::Near(_), _) => TruthSet::DETERMINED,
            (
                Form::Instants(_) | Form::Order(_) | Form::Member | Form::Part(_) | Form::Items(_),
                _,
            ) => TruthSet::UNDETERMINED,
        },
        Predicate::During(_) => TruthSet::DETERMINED,
        // An instant is not an address.
        Predicate::Exists
        | Predicate::Matches(_)
        | Predicate::IpIn(_)
        | Predicate::Items(_)
        | Predicate::Length(..)
        | Predicate::Unordered(..) => TruthSet::UNDETERMINED,
    }
}
