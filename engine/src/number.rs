//! JSON numbers, compared by their exact value (`docs/semantics.md`, section 1.3).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::Serialize;

/// A finite JSON number. Integers from −2⁶³ to 2⁶⁴−1 are exact; every other number is an IEEE 754 double. Comparison
/// is by value: `1` equals `1.0`, and no 64-bit integer is rounded.
#[derive(Clone, Copy, Serialize)]
#[serde(transparent)]
pub struct Number(Repr);

/// Canonical: a value has exactly one representation, which makes equality a comparison of fields.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum Repr {
    /// Below zero.
    Negative(i64),
    /// Zero and above.
    Natural(u64),
    /// Not an integer, or an integer outside the 64-bit range.
    Double(f64),
}

/// 2⁶⁴, the first double above the exact range.
const NATURAL_END: f64 = 18_446_744_073_709_551_616.0;
/// −2⁶³, the last double inside the exact range.
const NEGATIVE_START: f64 = -9_223_372_036_854_775_808.0;

impl Number {
    /// Makes a number of `value`; `None` for NaN and the infinities, which JSON cannot represent.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is integral and inside the target's range"
    )]
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let integral = value.fract() == 0.0;
        // Negative zero is in this range, too: it becomes 0.
        Some(Self(if integral && (0.0..NATURAL_END).contains(&value) {
            Repr::Natural(value as u64)
        } else if integral && (NEGATIVE_START..0.0).contains(&value) {
            Repr::Negative(value as i64)
        } else {
            Repr::Double(value)
        }))
    }

    /// Returns the exact integer; `None` if the number is a double.
    pub(crate) fn integer(self) -> Option<i128> {
        match self.0 {
            Repr::Negative(value) => Some(i128::from(value)),
            Repr::Natural(value) => Some(i128::from(value)),
            Repr::Double(_) => None,
        }
    }

    /// Returns the number as a `u32` if it is an integer in that range.
    #[inline]
    pub(crate) fn as_u32(self) -> Option<u32> {
        self.integer().and_then(|value| value.try_into().ok())
    }

    /// Compares the number with a natural number.
    #[inline]
    pub(crate) fn cmp_natural(self, natural: u32) -> Ordering {
        match self.0 {
            Repr::Natural(value) => value.cmp(&u64::from(natural)),
            Repr::Negative(_) => Ordering::Less,
            Repr::Double(_) => self.cmp(&Self::from(u64::from(natural))),
        }
    }

    /// Returns the nearest double.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    pub fn as_f64(self) -> f64 {
        match self.0 {
            Repr::Negative(value) => value as f64,
            Repr::Natural(value) => value as f64,
            Repr::Double(value) => value,
        }
    }

    /// Returns the number as an `i32` if it is an integer in that range.
    pub fn as_i32(self) -> Option<i32> {
        self.integer().and_then(|value| value.try_into().ok())
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(Repr::Natural(value))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        match u64::try_from(value) {
            Ok(natural) => Self(Repr::Natural(natural)),
            Err(_) => Self(Repr::Negative(value)),
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (Repr::Natural(a), Repr::Natural(b)) => a.cmp(&b),
            (Repr::Negative(a), Repr::Negative(b)) => a.cmp(&b),
            (Repr::Negative(_), Repr::Natural(_)) => Ordering::Less,
            (Repr::Natural(_), Repr::Negative(_)) => Ordering::Greater,
            // Canonical doubles are finite and never zero, so the total order equals the numeric order.
            (Repr::Double(a), Repr::Double(b)) => a.total_cmp(&b),
            // The other side is an integer, because two doubles are matched above.
            (Repr::Double(a), _) => double_against_integer(a, other.integer().unwrap_or_default()),
            (_, Repr::Double(b)) => {
                double_against_integer(b, self.integer().unwrap_or_default()).reverse()
            }
        }
    }
}

/// Compares a canonical double with an exact integer. The two are never equal.
#[expect(
    clippy::cast_possible_truncation,
    reason = "inside the exact range a double's floor fits an i128, outside it saturates to the right side"
)]
fn double_against_integer(double: f64, integer: i128) -> Ordering {
    // With an equal floor the double has a fraction, because whole doubles in the exact range are kept as integers.
    if double.floor() as i128 >= integer { Ordering::Greater } else { Ordering::Less }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            Repr::Negative(value) => value.hash(state),
            Repr::Natural(value) => value.hash(state),
            Repr::Double(value) => value.to_bits().hash(state),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Negative(value) => value.fmt(f),
            Repr::Natural(value) => value.fmt(f),
            Repr::Double(value) => value.fmt(f),
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        match crate::json::parse(text.as_bytes()) {
            Ok(crate::json::Json::Number(number)) => number,
            other => panic!("{text} is not a number: {other:?}"),
        }
    }

    #[test]
    fn numbers_compare_by_exact_value() {
        // Each row is in strictly ascending order.
        let ascending = [
            "-1e300",
            "-9223372036854777856",
            "-9223372036854775808",
            "-9223372036854775807",
            "-1.5",
            "-1",
            "-0.5",
            "0",
            "5e-324",
            "0.5",
            "1",
            "1.5",
            "9007199254740992",
            "9007199254740993",
            "18446744073709551614",
            "18446744073709551615",
            "18446744073709551616",
            "1e300",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(number(a).cmp(&number(b)), i.cmp(&j), "{a} against {b}");
            }
            for natural in [0, 1, u32::MAX] {
                let exact = number(a).cmp(&Number::from(u64::from(natural)));
                assert_eq!(number(a).cmp_natural(natural), exact, "{a} against {natural}");
            }
        }
    }

    #[test]
    fn one_value_has_one_representation() {
        for (a, b) in [
            ("1", "1.0"),
            ("0", "-0.0"),
            ("-3", "-3.0"),
            ("100", "1e2"),
            ("18446744073709551616", "18446744073709551616.0"),
            ("9007199254740992", "9007199254740992.0"),
        ] {
            assert_eq!(number(a), number(b), "{a} and {b}");
        }
    }
}
