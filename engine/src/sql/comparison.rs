//! Translates comparisons of two sides.

use chrono::{DateTime, Datelike, Timelike, Utc};

use super::clause::{Clause, Part, Term};
use super::columns::{Column, ColumnType, ScalarType};
use super::dialect::Dialect;
use super::number;
use super::param::SqlParam;
use crate::operator::Operator;
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
    match (operator, column.kind, value) {
        (Operator::Before | Operator::After, ..) => {
            let Some(instant) = value.instant() else { return Ok(UNDETERMINED) };
            instants(column, operator, instant)
        }
        (Operator::In | Operator::NotIn, Scalar(kind), AttributeValue::List(list)) => {
            let held = one_of(column, kind, list)?;
            Ok(if operator == Operator::In { held } else { held.negated() })
        }
        (Operator::Contains, Array(kind), item) if item.is_scalar() => Ok(has(column, kind, item)),
        (_, Scalar(ScalarType::Instant), AttributeValue::Text(_)) => Err(INSTANT_AS_TEXT),
        (_, Scalar(ScalarType::Text), AttributeValue::Text(text)) => {
            let value = Term::Value(SqlParam::Text(text.into()));
            Ok(texts(Term::Column(column), operator, value))
        }
        (_, Scalar(ScalarType::Integer | ScalarType::Number), AttributeValue::Number(number))
            if operator.orders() =>
        {
            Ok(number::compare(column, operator, number))
        }
        (Operator::Eq | Operator::Ne, Scalar(ScalarType::Boolean), AttributeValue::Bool(value)) => {
            let value = Term::Value(SqlParam::Bool(value));
            Ok(Clause::Compare(Term::Column(column), operator, value))
        }
        _ => Ok(UNDETERMINED),
    }
}

fn value_with_column<'c>(
    value: AttributeValue<'c>,
    operator: Operator,
    column: &'c Column,
) -> Exact<'c> {
    let turned = match operator {
        Operator::Eq | Operator::Ne => operator,
        Operator::Lt => Operator::Gt,
        Operator::Lte => Operator::Gte,
        Operator::Gt => Operator::Lt,
        Operator::Gte => Operator::Lte,
        Operator::Before => Operator::After,
        Operator::After => Operator::Before,
        Operator::In | Operator::NotIn => {
            let Array(kind) = column.kind else { return Ok(UNDETERMINED) };
            if !value.is_scalar() {
                return Ok(UNDETERMINED);
            }
            let held = has(column, kind, value);
            return Ok(if operator == Operator::In { held } else { held.negated() });
        }
        Operator::Contains | Operator::StartsWith | Operator::EndsWith => {
            return part_of_value(value, operator, column);
        }
    };
    column_with_value(column, turned, value)
}

/// Translates an operator that looks for a column in a value.
fn part_of_value<'c>(
    value: AttributeValue<'c>,
    operator: Operator,
    column: &'c Column,
) -> Exact<'c> {
    match (value, column.kind) {
        (AttributeValue::List(list), Scalar(kind)) if operator == Operator::Contains => {
            one_of(column, kind, list)
        }
        (AttributeValue::Text(_), Scalar(ScalarType::Instant)) => Err(INSTANT_AS_TEXT),
        (AttributeValue::Text(text), Scalar(ScalarType::Text)) => {
            let value = Term::Value(SqlParam::Text(text.into()));
            Ok(texts(value, operator, Term::Column(column)))
        }
        _ => Ok(UNDETERMINED),
    }
}

fn columns<'c>(
    dialect: Dialect,
    left: &'c Column,
    operator: Operator,
    right: &'c Column,
) -> Exact<'c> {
    use ScalarType::{Boolean, Instant, Integer, Number, Text};
    let terms = || (Term::Column(left), Term::Column(right));
    match (operator, left.kind, right.kind) {
        (Operator::Before, Scalar(Instant), Scalar(Instant)) => {
            let (left, right) = terms();
            Ok(Clause::Compare(left, Operator::Lt, right))
        }
        (Operator::After, Scalar(Instant), Scalar(Instant)) => {
            let (left, right) = terms();
            Ok(Clause::Compare(left, Operator::Gt, right))
        }
        (Operator::Before | Operator::After, Scalar(Text | Instant), Scalar(Text | Instant)) => {
            Err(DATE_AS_TEXT)
        }
        (Operator::In | Operator::NotIn, Scalar(item), Array(kind)) => {
            let held = column_in_column(right, kind, left, item)?;
            Ok(if operator == Operator::In { held } else { held.negated() })
        }
        (Operator::Contains, Array(kind), Scalar(item)) => {
            column_in_column(left, kind, right, item)
        }
        (_, Scalar(Instant), Scalar(Text | Instant)) | (_, Scalar(Text), Scalar(Instant)) => {
            Err(INSTANT_AS_TEXT)
        }
        (_, Scalar(Text), Scalar(Text)) => {
            let (left, right) = terms();
            Ok(texts(left, operator, right))
        }
        (_, Scalar(Integer | Number), Scalar(Integer | Number)) if operator.orders() => {
            if left.kind != right.kind && dialect == Dialect::Postgres {
                return Err(MIXED_NUMBERS);
            }
            let (left, right) = terms();
            Ok(Clause::Compare(left, operator, right))
        }
        (Operator::Eq | Operator::Ne, Scalar(Boolean), Scalar(Boolean)) => {
            let (left, right) = terms();
            Ok(Clause::Compare(left, operator, right))
        }
        _ => Ok(UNDETERMINED),
    }
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

/// Compares two texts.
fn texts<'c>(left: Term<'c>, operator: Operator, right: Term<'c>) -> Clause<'c> {
    let part = match operator {
        Operator::Contains => Part::Anywhere,
        Operator::StartsWith => Part::Start,
        Operator::EndsWith => Part::End,
        _ if operator.orders() => return Clause::Compare(left, operator, right),
        _ => return UNDETERMINED,
    };
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
fn instants<'c>(column: &'c Column, operator: Operator, instant: DateTime<Utc>) -> Exact<'c> {
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
    let operator = match operator {
        Operator::Before if whole < instant => Operator::Lte,
        Operator::Before => Operator::Lt,
        _ => Operator::Gt,
    };
    Ok(Clause::Compare(Term::Column(column), operator, Term::Value(SqlParam::Instant(whole))))
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
