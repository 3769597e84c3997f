//! Numbers that columns of a type are compared with. A number that the type cannot hold lies between two that it can.

use std::cmp::Ordering;

use super::clause::{Clause, Term};
use super::columns::{Column, Kind, ScalarType};
use super::param::SqlParam;
use crate::number::Number;
use crate::operator::Order;

/// The neighbours of a number among the values of a type: the largest at or below it and the smallest at or above it.
/// They are equal if the type can hold the number.
struct Neighbours {
    below: Option<SqlParam>,
    above: Option<SqlParam>,
}

/// Returns the value of a number in a type; `None` if the type cannot hold it.
pub(super) fn held(number: Number, kind: ScalarType) -> Option<SqlParam> {
    let Neighbours { below, above } = neighbours(number, kind);
    below.filter(|below| above.as_ref() == Some(below))
}

/// Compares a column of numbers with a number.
pub(super) fn compare<'c>(column: &'c Column, order: Order, number: Number) -> Clause<'c> {
    let Kind::Scalar(kind) = column.kind else { return Clause::Constant(None) };
    let Neighbours { below, above } = neighbours(number, kind);
    let exact = below.is_some() && below == above;
    let (bound, order) = match order {
        _ if exact => (below, order),
        Order::Lt | Order::Lte => (below, Order::Lte),
        Order::Gt | Order::Gte => (above, Order::Gte),
        // No value of the column equals the number.
        Order::Eq | Order::Ne => (None, order),
    };
    match bound {
        Some(bound) => Clause::Compare(Term::Column(column), order, Term::Value(bound)),
        // Nothing equals the number, lies at or below it, or at or above it.
        None => Clause::if_present([column], order == Order::Ne),
    }
}

fn neighbours(number: Number, kind: ScalarType) -> Neighbours {
    match kind {
        ScalarType::Integer => integers_beside(number),
        _ => doubles_beside(number),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast saturates, and the range is checked")]
fn integers_beside(number: Number) -> Neighbours {
    let (below, above) = match number.integer() {
        Some(integer) => (integer, integer),
        None => (number.as_f64().floor() as i128, number.as_f64().ceil() as i128),
    };
    // A number beyond the range has the end of the range at its side.
    let below = i64::try_from(below.min(i128::from(i64::MAX))).ok();
    let above = i64::try_from(above.max(i128::from(i64::MIN))).ok();
    Neighbours { below: below.map(SqlParam::Integer), above: above.map(SqlParam::Integer) }
}

fn doubles_beside(number: Number) -> Neighbours {
    let nearest = number.as_f64();
    let order = Number::from_f64(nearest).map_or(Ordering::Equal, |near| near.cmp(&number));
    let (below, above) = match order {
        Ordering::Equal => (nearest, nearest),
        Ordering::Less => (nearest, nearest.next_up()),
        Ordering::Greater => (nearest.next_down(), nearest),
    };
    Neighbours { below: Some(SqlParam::Number(below)), above: Some(SqlParam::Number(above)) }
}
