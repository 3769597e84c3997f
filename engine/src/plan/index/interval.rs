//! Sets of numbers between two bounds.

use std::ops::Bound;

use crate::number::Number;
use crate::period::{Direction, TimeSpan};

/// A set of numbers between two bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) low: Bound<Number>,
    pub(super) high: Bound<Number>,
}

impl Interval {
    /// Makes the interval of the numbers below `bound`, and of `bound` itself if `inclusive`.
    pub(super) fn below(bound: Number, inclusive: bool) -> Self {
        let high = if inclusive { Bound::Included(bound) } else { Bound::Excluded(bound) };
        Self { low: Bound::Unbounded, high }
    }

    /// Makes the interval of the numbers above `bound`, and of `bound` itself if `inclusive`.
    pub(super) fn above(bound: Number, inclusive: bool) -> Self {
        let low = if inclusive { Bound::Included(bound) } else { Bound::Excluded(bound) };
        Self { low, high: Bound::Unbounded }
    }

    /// Makes the interval of the ages in seconds of the instants at most `length` before or after the present.
    pub(super) fn from_ages(length: TimeSpan, direction: Direction) -> Self {
        let (zero, length) = (Number::from(0i64), i64::from(length.seconds()));
        let (low, high) = match direction {
            Direction::Past => (zero, Number::from(length)),
            Direction::Future => (Number::from(-length), zero),
        };
        Self { low: Bound::Included(low), high: Bound::Included(high) }
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
                // Of two bounds at one number, the excluded one admits fewer.
                true if matches!(a, Bound::Excluded(_)) => a,
                true => b,
                false if keep_a(x, y) => a,
                false => b,
            }
        }
    }
}
