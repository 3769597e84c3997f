//! Sets of numbers between two bounds.

use std::ops::Bound;

use crate::number::Number;
use crate::operator::Operator;

/// A set of numbers between two bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) low: Bound<Number>,
    pub(super) high: Bound<Number>,
}

impl Interval {
    /// Returns the numbers for which the comparison, or its negation, holds. `None` for operators that do not order.
    pub(super) fn of(operator: Operator, negated: bool, bound: Number) -> Option<Self> {
        use Bound::{Excluded, Included, Unbounded};
        let (low, high) = match (operator, negated) {
            (Operator::Lt, false) | (Operator::Gte, true) => (Unbounded, Excluded(bound)),
            (Operator::Lte, false) | (Operator::Gt, true) => (Unbounded, Included(bound)),
            (Operator::Gt, false) | (Operator::Lte, true) => (Excluded(bound), Unbounded),
            (Operator::Gte, false) | (Operator::Lt, true) => (Included(bound), Unbounded),
            _ => return None,
        };
        Some(Self { low, high })
    }

    pub(super) fn is_two_sided(&self) -> bool {
        !matches!((self.low, self.high), (Bound::Unbounded, _) | (_, Bound::Unbounded))
    }

    /// Returns the intersection of two intervals, which may be empty.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            low: tighter(self.low, other.low, |x, y| x > y),
            high: tighter(self.high, other.high, |x, y| x < y),
        }
    }
}

/// Returns the bound that admits fewer numbers. `keep_a` compares the numbers of `a` and `b`.
fn tighter(
    a: Bound<Number>,
    b: Bound<Number>,
    keep_a: fn(Number, Number) -> bool,
) -> Bound<Number> {
    match (a, b) {
        (Bound::Unbounded, bound) | (bound, Bound::Unbounded) => bound,
        (Bound::Included(x) | Bound::Excluded(x), Bound::Included(y) | Bound::Excluded(y)) => {
            match x == y {
                true if matches!(a, Bound::Excluded(_)) => a,
                true => b,
                false if keep_a(x, y) => a,
                false => b,
            }
        }
    }
}
