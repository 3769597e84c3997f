//! Translates comparisons of two sides.

use chrono::{DateTime, Datelike, Timelike, Utc};

use super::clause::{Clause, Term};
use super::columns::{Column, ColumnType, ScalarType};
use super::dialect::Dialect;
use super::number;
use super::param::SqlParam;
use crate::operator::{Form, Operator, Order, Part};
use crate::value::{AttributeValue, List};

use ColumnType::{List as Array, Scalar};

/// A side of a comparison. A known side is present.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side<'c> {
    Column(&'c Column),
    Value(AttributeValue<'c>),
    Absent,
}

/// A clause, or the reason why there is no exact one.
type Exact<'c> = Result<Clause<'c>, &'static str>;

const DATE_AS_TEXT: &str =
    "a text column compares no instants; declare a column of type `timestamptz`";
const INSTANT_AS_TEXT: &str = "a column of type `timestamptz` has no exact text; only `before`, `after` and `exists` \
    read it";
const MIXED_NUMBERS: &str =
    "PostgreSQL rounds when it compares a column of integers with one of doubles";
const INSTANT_RANGE: &str = "the instant is a leap second, or its year is not from 1 to 9999";
const UNDETERMINED: Clause<'static> = Clause::Constant(None);

/// Translates `left operator right`. The clause is NULL where a column is.
pub(super) fn compare<'c>(
    dialect: Dialect,
    left: Side<'c>,
    operator: Operator,
    right: Side<'c>,
) -> Exact<'c> {
    match (left, right) {
        (Side::Absent, _) | (_, Side::Absent) => Ok(UNDETERMINED),
        (Side::Value(left), Side::Value(right)) => {
            Ok(Clause::Constant(operator.holds(left, right)))
        }
        (Side::Column(left), Side::Value(right)) => column_with_value(left, operator, right),
        (Side::Value(left), Side::Column(right)) => value_with_column(left, operator, right),
        (Side::Column(left), Side::Column(right)) => columns(dialect, left, operator, right),
    }
}

fn column_with_value<'c>(
    column: &'c Column,
    operator: Operator,
    value: AttributeValue<'c>,
) -> Exact<'c> {
    match operator.row().form {
        Form::Order(order) => ordered_with_value(column, order, value),
        Form::Instants(order) => {
            let Some(instant) = value.instant() else { return Ok(UNDETERMINED) };
            instants(column, order, instant)
        }
        Form::Member => match (column.kind, value) {
            (Scalar(kind), AttributeValue::List(list)) => {
                one_of(column, kind, list).map(|held| unless_negated(operator, held))
            }
            _ => Ok(UNDETERMINED),
        },
        Form::Part(part) => match (column.kind, value) {
            (Array(kind), item) if part == Part::Anywhere && item.is_scalar() => {
                Ok(has(column, kind, item))
            }
            (Scalar(ScalarType::Instant), AttributeValue::Text(_)) => Err(INSTANT_AS_TEXT),
            (Scalar(ScalarType::Text), AttributeValue::Text(text)) => {
                Ok(part_of(part, Term::Column(column), Term::text(text)))
            }
            _ => Ok(UNDETERMINED),
        },
    }
}

/// Compares a column with a value of its type.
fn ordered_with_value<'c>(
    column: &'c Column,
    order: Order,
    value: AttributeValue<'c>,
) -> Exact<'c> {
    let with = |value| Ok(Clause::Compare(Term::Column(column), order, value));
    match (column.kind, value) {
        (Scalar(ScalarType::Instant), AttributeValue::Text(_)) => Err(INSTANT_AS_TEXT),
        (Scalar(ScalarType::Text), AttributeValue::Text(text)) => with(Term::text(text)),
        (Scalar(ScalarType::Integer | ScalarType::Number), AttributeValue::Number(number)) => {
            Ok(number::compare(column, order, number))
        }
        (Scalar(ScalarType::Boolean), AttributeValue::Bool(value)) if order.is_equality() => {
            with(Term::Value(SqlParam::Bool(value)))
        }
        _ => Ok(UNDETERMINED),
    }
}

/// Returns the clause of the operator, where `held` is the clause of the operator without its negation.
fn unless_negated(operator: Operator, held: Clause<'_>) -> Clause<'_> {
    let (_, is_negated) = operator.positive();
    if is_negated { held.negated() } else { held }
}

fn value_with_column<'c>(
    value: AttributeValue<'c>,
    operator: Operator,
    column: &'c Column,
) -> Exact<'c> {
    let of_list = matches!(value, AttributeValue::List(_)) || matches!(column.kind, Array(_));
    if let Some(mirrored) = operator.mirrored(of_list) {
        return column_with_value(column, mirrored, value);
    }
    match (operator.row().form, value, column.kind) {
        (Form::Member, item, Array(kind)) if item.is_scalar() => {
            Ok(unless_negated(operator, has(column, kind, item)))
        }
        (Form::Part(_), AttributeValue::Text(_), Scalar(ScalarType::Instant)) => {
            Err(INSTANT_AS_TEXT)
        }
        (Form::Part(part), AttributeValue::Text(text), Scalar(ScalarType::Text)) => {
            Ok(part_of(part, Term::text(text), Term::Column(column)))
        }
        (Form::Order(_) | Form::Instants(_) | Form::Member | Form::Part(_), ..) => Ok(UNDETERMINED),
    }
}

fn columns<'c>(
    dialect: Dialect,
    left: &'c Column,
    operator: Operator,
    right: &'c Column,
) -> Exact<'c> {
    use ScalarType::{Instant, Text};
    match (operator.row().form, left.kind, right.kind) {
        (Form::Instants(order), Scalar(Instant), Scalar(Instant)) => {
            Ok(Clause::Compare(Term::Column(left), order, Term::Column(right)))
        }
        (Form::Instants(_), Scalar(Text | Instant), Scalar(Text | Instant)) => Err(DATE_AS_TEXT),
        (Form::Member, Scalar(item), Array(kind)) => {
            column_in_column(right, kind, left, item).map(|held| unless_negated(operator, held))
        }
        (Form::Part(Part::Anywhere), Array(kind), Scalar(item)) => {
            column_in_column(left, kind, right, item)
        }
        (Form::Order(_) | Form::Part(_), Scalar(Instant), Scalar(Text | Instant))
        | (Form::Order(_) | Form::Part(_), Scalar(Text), Scalar(Instant)) => Err(INSTANT_AS_TEXT),
        (Form::Part(part), Scalar(Text), Scalar(Text)) => {
            Ok(part_of(part, Term::Column(left), Term::Column(right)))
        }
        (Form::Order(order), Scalar(left_kind), Scalar(right_kind)) => {
            ordered_columns(dialect, (left, left_kind), order, (right, right_kind))
        }
        (Form::Order(_) | Form::Instants(_) | Form::Member | Form::Part(_), ..) => Ok(UNDETERMINED),
    }
}

/// Compares columns of texts, of numbers or of booleans.
fn ordered_columns<'c>(
    dialect: Dialect,
    (left, left_kind): (&'c Column, ScalarType),
    order: Order,
    (right, right_kind): (&'c Column, ScalarType),
) -> Exact<'c> {
    use ScalarType::{Boolean, Integer, Number, Text};
    match (left_kind, right_kind) {
        (Integer, Number) | (Number, Integer) if dialect == Dialect::Postgres => {
            return Err(MIXED_NUMBERS);
        }
        (Text, Text) | (Integer | Number, Integer | Number) => {}
        (Boolean, Boolean) if order.is_equality() => {}
        _ => return Ok(UNDETERMINED),
    }
    Ok(Clause::Compare(Term::Column(left), order, Term::Column(right)))
}

/// Returns whether an array column has the value of another column.
fn column_in_column<'c>(
    array: &'c Column,
    kind: ScalarType,
    item: &'c Column,
    item_kind: ScalarType,
) -> Exact<'c> {
    use ScalarType::{Instant, Integer, Number, Text};
    match (kind, item_kind) {
        (Text, Instant) => Err(INSTANT_AS_TEXT),
        (Integer, Number) | (Number, Integer) => Err(MIXED_NUMBERS),
        _ if kind == item_kind => Ok(Clause::Has(array, Term::Column(item))),
        // A value of another type equals no item.
        _ => Ok(Clause::if_present([array, item], false)),
    }
}

/// Returns whether an array column has a value.
fn has<'c>(array: &'c Column, kind: ScalarType, item: AttributeValue<'_>) -> Clause<'c> {
    match param(item, kind) {
        Some(item) => Clause::Has(array, Term::Value(item)),
        None => Clause::if_present([array], false),
    }
}

/// Returns whether a column is one of the items of a list.
fn one_of<'c>(column: &'c Column, kind: ScalarType, list: List<'_>) -> Exact<'c> {
    let mut values = Vec::new();
    let mut has_text = false;
    list.for_each(|item| {
        has_text |= matches!(item, AttributeValue::Text(_));
        values.extend(param(item, kind));
    });
    if kind == ScalarType::Instant && has_text {
        return Err(INSTANT_AS_TEXT);
    }
    if values.is_empty() {
        return Ok(Clause::if_present([column], false));
    }
    Ok(Clause::In(column, values))
}

/// Returns the value as a value of the type; `None` if no value of the type equals it.
fn param(value: AttributeValue<'_>, kind: ScalarType) -> Option<SqlParam> {
    match (value, kind) {
        (AttributeValue::Text(text), ScalarType::Text) => Some(SqlParam::Text(text.into())),
        (AttributeValue::Bool(value), ScalarType::Boolean) => Some(SqlParam::Bool(value)),
        (AttributeValue::Number(number), ScalarType::Integer | ScalarType::Number) => {
            number::held(number, kind)
        }
        _ => None,
    }
}

/// Returns whether one text is a part of another.
fn part_of<'c>(part: Part, left: Term<'c>, right: Term<'c>) -> Clause<'c> {
    match (left, right) {
        // Every text has the empty text everywhere.
        (Term::Column(column), Term::Value(SqlParam::Text(text))) if text.is_empty() => {
            Clause::if_present([column], true)
        }
        (left, right) => Clause::Part(part, left, right),
    }
}

/// Compares a column with an instant. A column of microseconds lies before an instant with a finer fraction if it does
/// not lie after its last whole microsecond.
fn instants<'c>(column: &'c Column, order: Order, instant: DateTime<Utc>) -> Exact<'c> {
    match column.kind {
        Scalar(ScalarType::Instant) => {}
        Scalar(ScalarType::Text) => return Err(DATE_AS_TEXT),
        _ => return Ok(UNDETERMINED),
    }
    if !(1..=9999).contains(&instant.year()) || instant.nanosecond() >= 1_000_000_000 {
        return Err(INSTANT_RANGE);
    }
    let microseconds = instant.nanosecond() / 1_000 * 1_000;
    let whole = instant.with_nanosecond(microseconds).ok_or(INSTANT_RANGE)?;
    let order = if order == Order::Lt && whole < instant { Order::Lte } else { order };
    Ok(Clause::Compare(Term::Column(column), order, Term::Value(SqlParam::Instant(whole))))
}

impl Column {
    /// Returns whether a check could see a text in place of the column's value.
    pub(super) fn may_be_text(&self) -> bool {
        matches!(self.kind, Scalar(ScalarType::Text | ScalarType::Instant))
    }

    /// Returns whether SQLite has the type.
    pub(super) fn is_of_sqlite(&self) -> bool {
        !matches!(self.kind, Array(_) | Scalar(ScalarType::Instant))
    }
}
