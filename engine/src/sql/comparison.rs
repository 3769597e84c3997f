//! Translates comparisons of two sides.

use std::ops::RangeInclusive;

use chrono::{DateTime, Datelike, NaiveDate, Timelike, Utc};
use uuid::Uuid;

use super::clause::{Array, Clause, Term};
use super::columns::{Column, Items, Kind, Presence, ScalarType};
use super::dialect::Dialect;
use super::number;
use super::param::SqlParam;
use crate::operator::{Form, Operator, Order, Part, Quantifier};
use crate::period::{Direction, Period};
use crate::value::{self, AttributeValue};

use Kind::{List, Scalar};

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
const INSTANT_AS_TEXT: &str = "a column of type `timestamptz` has no exact text; only operators of date-times and \
    `exists` read it";
const MIXED_NUMBERS: &str =
    "PostgreSQL rounds when it compares a column of integers with one of doubles";
const ARRAY_OF_ROWS: &str =
    "a list that is a table of rows has no exact comparison with each item of an array";
pub(super) const UNQUALIFIED: &str = "declare the compared column with its table, such as `d.owner`: the subquery that reads the \
    list has columns too";
const INSTANT_RANGE: &str = "the instant is a leap second, or its year is not from 1 to 9999";
/// The years of dates and instants. In others PostgreSQL and Rust write more than four digits, or a sign.
const YEARS: RangeInclusive<i32> = 1..=9999;
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
        (Side::Column(left), Side::Value(right)) => {
            column_with_value(dialect, left, operator, right)
        }
        (Side::Value(left), Side::Column(right)) => {
            value_with_column(dialect, left, operator, right)
        }
        (Side::Column(left), Side::Column(right)) => columns(dialect, left, operator, right),
    }
}

fn column_with_value<'c>(
    dialect: Dialect,
    column: &'c Column,
    operator: Operator,
    value: AttributeValue<'c>,
) -> Exact<'c> {
    match operator.row().form {
        Form::Order(order) => ordered_with_value(column, order, value),
        Form::Instants(order) => {
            let Some(instant) = value.instant() else { return Ok(UNDETERMINED) };
            instants(dialect, column, order, instant)
        }
        Form::Member => match (column.kind, value) {
            (Scalar(kind), AttributeValue::List(list)) => {
                one_of(column, kind, list).map(|held| unless_negated(operator, held))
            }
            _ => Ok(UNDETERMINED),
        },
        Form::Part(part) => match (column.kind, value) {
            (List(kind), item) if part == Part::Anywhere && item.is_scalar() => {
                Ok(has(column, kind, item))
            }
            (Scalar(ScalarType::Instant), AttributeValue::Text(_)) => Err(INSTANT_AS_TEXT),
            (Scalar(kind), AttributeValue::Text(text)) if kind.is_text() => {
                Ok(part_of(part, Term::Text(column), Term::text(text)))
            }
            _ => Ok(UNDETERMINED),
        },
        Form::Items(quantifier) => match (column.kind, value) {
            (List(kind), AttributeValue::List(list)) => {
                Ok(column_has(column, quantifier, params(list, kind)))
            }
            _ => Ok(UNDETERMINED),
        },
        Form::Near(direction) => match value {
            AttributeValue::Period(period) => near(dialect, column, period, direction),
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
    match (column.kind, value) {
        (Scalar(ScalarType::Instant), AttributeValue::Text(_)) => Err(INSTANT_AS_TEXT),
        (Scalar(kind), AttributeValue::Text(text)) if kind.is_text() => {
            Ok(ordered_with_text(column, kind, order, text))
        }
        (Scalar(ScalarType::Integer | ScalarType::Number), AttributeValue::Number(number)) => {
            Ok(number::compare(column, order, number))
        }
        (Scalar(ScalarType::Boolean), AttributeValue::Bool(value)) if order.is_equality() => {
            Ok(match column.presence {
                Some(presence) => tests_null(column, presence, value == (order == Order::Eq)),
                None => {
                    Clause::Compare(Term::Column(column), order, Term::Value(SqlParam::Bool(value)))
                }
            })
        }
        _ => Ok(UNDETERMINED),
    }
}

/// Returns whether the presence of a column is `truth`, in the form that an index serves.
fn tests_null(column: &Column, presence: Presence, truth: bool) -> Clause<'_> {
    let is_null = Clause::IsNull(column);
    if (presence == Presence::Absent) == truth { is_null } else { is_null.negated() }
}

/// Compares a column with a text. Values of a type have the order of their texts.
fn ordered_with_text<'c>(
    column: &'c Column,
    kind: ScalarType,
    order: Order,
    text: &str,
) -> Clause<'c> {
    match param(AttributeValue::Text(text), kind) {
        Some(value) => Clause::Compare(Term::Column(column), order, Term::Value(value)),
        // No value of the column equals the text, so that only NULL makes a difference.
        None if order.is_equality() => Clause::if_present([column], order == Order::Ne),
        // An order compares still: as the texts that a check sees.
        None => Clause::Compare(Term::Text(column), order, Term::text(text)),
    }
}

/// Returns the clause of the operator, where `held` is the clause of the operator without its negation.
fn unless_negated(operator: Operator, held: Clause<'_>) -> Clause<'_> {
    let (_, is_negated) = operator.positive();
    if is_negated { held.negated() } else { held }
}

fn value_with_column<'c>(
    dialect: Dialect,
    value: AttributeValue<'c>,
    operator: Operator,
    column: &'c Column,
) -> Exact<'c> {
    let of_list = matches!(value, AttributeValue::List(_)) || matches!(column.kind, List(_));
    if let Some(mirrored) = operator.mirrored(of_list) {
        return column_with_value(dialect, column, mirrored, value);
    }
    match (operator.row().form, value, column.kind) {
        (Form::Member, item, List(kind)) if item.is_scalar() => {
            Ok(unless_negated(operator, has(column, kind, item)))
        }
        (Form::Part(_), AttributeValue::Text(_), Scalar(ScalarType::Instant)) => {
            Err(INSTANT_AS_TEXT)
        }
        (Form::Part(part), AttributeValue::Text(text), Scalar(kind)) if kind.is_text() => {
            Ok(part_of(part, Term::text(text), Term::Text(column)))
        }
        (Form::Items(Quantifier::All), AttributeValue::List(list), List(kind)) => {
            // Values that no item equals do not matter: each item has to be one of the values.
            let (values, _) = params(list, kind);
            Ok(values_have(values, column))
        }
        (
            Form::Order(_)
            | Form::Instants(_)
            | Form::Member
            | Form::Part(_)
            | Form::Items(_)
            | Form::Near(_),
            ..,
        ) => Ok(UNDETERMINED),
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
        (Form::Member, Scalar(item), List(kind)) => {
            column_in_column(dialect, (right, kind), (left, item))
                .map(|held| unless_negated(operator, held))
        }
        (Form::Part(Part::Anywhere), List(kind), Scalar(item)) => {
            column_in_column(dialect, (left, kind), (right, item))
        }
        (Form::Order(_) | Form::Part(_), Scalar(Instant), Scalar(other))
        | (Form::Order(_) | Form::Part(_), Scalar(other), Scalar(Instant))
            if other.is_text() || other == Instant =>
        {
            Err(INSTANT_AS_TEXT)
        }
        (Form::Part(part), Scalar(left_kind), Scalar(right_kind))
            if left_kind.is_text() && right_kind.is_text() =>
        {
            Ok(part_of(part, Term::Text(left), Term::Text(right)))
        }
        (Form::Order(order), Scalar(left_kind), Scalar(right_kind)) => {
            ordered_columns(dialect, (left, left_kind), order, (right, right_kind))
        }
        (Form::Items(quantifier), List(left_kind), List(right_kind)) => {
            list_has(dialect, (left, left_kind), quantifier, (right, right_kind))
        }
        (
            Form::Order(_)
            | Form::Instants(_)
            | Form::Member
            | Form::Part(_)
            | Form::Items(_)
            | Form::Near(_),
            ..,
        ) => Ok(UNDETERMINED),
    }
}

/// Compares columns of texts, of numbers or of booleans.
fn ordered_columns<'c>(
    dialect: Dialect,
    (left, left_kind): (&'c Column, ScalarType),
    order: Order,
    (right, right_kind): (&'c Column, ScalarType),
) -> Exact<'c> {
    use ScalarType::{Boolean, Integer, Number};
    match (left_kind, right_kind) {
        (Integer, Number) | (Number, Integer) if dialect == Dialect::Postgres => {
            return Err(MIXED_NUMBERS);
        }
        (Integer | Number, Integer | Number) => {}
        (Boolean, Boolean) if order.is_equality() => {}
        (left_kind, right_kind) if !(left_kind.is_text() && right_kind.is_text()) => {
            return Ok(UNDETERMINED);
        }
        (left_kind, right_kind) if left_kind == right_kind => {}
        // Columns of two types compare as the texts that a check sees.
        _ => return Ok(Clause::Compare(Term::Text(left), order, Term::Text(right))),
    }
    Ok(Clause::Compare(Term::Column(left), order, Term::Column(right)))
}

/// Returns whether a list has the value of another column.
fn column_in_column<'c>(
    dialect: Dialect,
    (list, kind): (&'c Column, ScalarType),
    (item, item_kind): (&'c Column, ScalarType),
) -> Exact<'c> {
    use ScalarType::{Instant, Integer, Number, Text};
    if let Some(items) = &list.items {
        // The subquery would find a bare name in its own table first.
        if item.parts.len() == 1 {
            return Err(UNQUALIFIED);
        }
        return Ok(match columns(dialect, &items.column, Operator::Eq, item)? {
            UNDETERMINED => Clause::if_present([list, item], false),
            equal => Clause::Exists(list, Box::new(equal)),
        });
    }
    match (kind, item_kind) {
        (Text, Instant) => Err(INSTANT_AS_TEXT),
        (Integer, Number) | (Number, Integer) => Err(MIXED_NUMBERS),
        (Text, other) if other.is_text() => Ok(Clause::Has(list, Term::Text(item))),
        _ if kind == item_kind => Ok(Clause::Has(list, Term::Column(item))),
        // A value of another type equals no item.
        _ => Ok(Clause::if_present([list, item], false)),
    }
}

/// Returns whether a list has a value.
fn has<'c>(list: &'c Column, kind: ScalarType, item: AttributeValue<'_>) -> Clause<'c> {
    match (param(item, kind), &list.items) {
        (None, _) => Clause::if_present([list], false),
        (Some(item), None) => Clause::Has(list, Term::Value(item)),
        (Some(item), Some(items)) => {
            let equal = Clause::Compare(Term::Column(&items.column), Order::Eq, Term::Value(item));
            Clause::Exists(list, Box::new(equal))
        }
    }
}

/// Returns the clause of an array of PostgreSQL that an index serves, where a condition on its items compares each with known
/// values; `None` if that is not all that it does.
pub(super) fn contained<'c>(
    column: &'c Column,
    quantifier: Quantifier,
    operator: Operator,
    value: AttributeValue<'_>,
) -> Option<Clause<'c>> {
    let (List(kind), None) = (column.kind, &column.items) else { return None };
    match (quantifier, operator, value) {
        // An item of another type is not compared.
        (Quantifier::Any, Operator::Eq, item) => {
            param(item, kind).map(|item| Clause::Has(column, Term::Value(item)))
        }
        (Quantifier::Any, Operator::In, AttributeValue::List(list)) => {
            Some(column_has(column, Quantifier::Any, params(list, kind)))
        }
        (Quantifier::All, Operator::In, AttributeValue::List(list)) => {
            Some(values_have(params(list, kind).0, column))
        }
        _ => None,
    }
}

/// Returns whether a list has any or all of the values, beside which there are `others` that it cannot have.
fn column_has(
    column: &Column,
    quantifier: Quantifier,
    (values, others): (Vec<SqlParam>, usize),
) -> Clause<'_> {
    match (quantifier, &column.items) {
        (Quantifier::Any, _) if values.is_empty() => Clause::if_present([column], false),
        (Quantifier::All, _) if others > 0 => Clause::if_present([column], false),
        (Quantifier::All, _) if values.is_empty() => Clause::if_present([column], true),
        (_, None) => Clause::Arrays(quantifier, Array::Column(column), Array::Values(values)),
        (Quantifier::Any, Some(items)) => {
            Clause::Exists(column, Box::new(Clause::In(&items.column, values)))
        }
        (Quantifier::All, Some(items)) => Clause::all(values.into_iter().map(|value| {
            let equal = Clause::Compare(Term::Column(&items.column), Order::Eq, Term::Value(value));
            Clause::Exists(column, Box::new(equal))
        })),
    }
}

/// Returns whether each item of a list is one of the values.
fn values_have(values: Vec<SqlParam>, column: &Column) -> Clause<'_> {
    let Some(items) = &column.items else {
        return Clause::Arrays(Quantifier::All, Array::Values(values), Array::Column(column));
    };
    let is_other = match values.is_empty() {
        // Without values every item is another one.
        true => Clause::Constant(Some(true)),
        false => Clause::In(&items.column, values).negated(),
    };
    has_no(column, items, is_other)
}

/// Returns whether no item of a list is such a one. A pair without a value is not an item.
fn has_no<'c>(list: &'c Column, items: &'c Items, is_such: Clause<'c>) -> Clause<'c> {
    let is_item = match &items.pairs {
        Some(_) => Clause::IsNull(&items.column).negated(),
        None => Clause::Constant(Some(true)),
    };
    Clause::Exists(list, Box::new(Clause::all([is_item, is_such]))).negated()
}

/// Returns whether a list has any or all items of another one.
fn list_has<'c>(
    dialect: Dialect,
    (left, left_kind): (&'c Column, ScalarType),
    quantifier: Quantifier,
    (right, right_kind): (&'c Column, ScalarType),
) -> Exact<'c> {
    if left_kind.is_text() != right_kind.is_text() {
        return Ok(match quantifier {
            Quantifier::Any => Clause::if_present([left, right], false),
            // Every list has each item of an empty one.
            Quantifier::All => values_have(Vec::new(), right).unless(Clause::is_null(left)),
        });
    }
    // The subquery would find a bare name in its own table first.
    let has_rows = left.items.is_some() || right.items.is_some();
    if has_rows && (left.parts.len() == 1 || right.parts.len() == 1) {
        return Err(UNQUALIFIED);
    }
    match (&left.items, &right.items, quantifier) {
        (None, None, _) if left_kind != right_kind => Err(MIXED_NUMBERS),
        (None, None, _) => {
            Ok(Clause::Arrays(quantifier, Array::Column(left), Array::Column(right)))
        }
        (_, Some(items), Quantifier::Any) => {
            Ok(Clause::Exists(right, Box::new(has_item(dialect, (left, left_kind), items)?)))
        }
        (_, Some(items), Quantifier::All) => {
            let is_other = has_item(dialect, (left, left_kind), items)?.negated();
            Ok(has_no(right, items, is_other))
        }
        (Some(items), None, Quantifier::Any) => {
            Ok(Clause::Exists(left, Box::new(has_item(dialect, (right, right_kind), items)?)))
        }
        (Some(_), None, Quantifier::All) => Err(ARRAY_OF_ROWS),
    }
}

/// Returns whether a list has the present one of the items of another list.
fn has_item<'c>(dialect: Dialect, list: (&'c Column, ScalarType), items: &'c Items) -> Exact<'c> {
    match items.column.kind {
        Scalar(kind) => column_in_column(dialect, list, (&items.column, kind)),
        List(_) => Ok(UNDETERMINED),
    }
}

/// Returns the items of a list as values of the type, and the number of the others.
fn params(list: value::List<'_>, kind: ScalarType) -> (Vec<SqlParam>, usize) {
    let (mut values, mut others) = (Vec::new(), 0);
    list.for_each(|item| match param(item, kind) {
        Some(value) => values.push(value),
        None => others += 1,
    });
    (values, others)
}

/// Returns whether a column is one of the items of a list.
fn one_of<'c>(column: &'c Column, kind: ScalarType, list: value::List<'_>) -> Exact<'c> {
    let (values, _) = params(list, kind);
    let has_text = list.any(|item| matches!(item, AttributeValue::Text(_)));
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
        (AttributeValue::Text(text), ScalarType::Uuid) => canonical_uuid(text).map(SqlParam::Uuid),
        (AttributeValue::Text(text), ScalarType::Date) => date(text).map(SqlParam::Date),
        (AttributeValue::Bool(value), ScalarType::Boolean) => Some(SqlParam::Bool(value)),
        (AttributeValue::Number(number), ScalarType::Integer | ScalarType::Number) => {
            number::held(number, kind)
        }
        _ => None,
    }
}

/// Parses a UUID in lower-case canonical form.
pub(super) fn canonical_uuid(text: &str) -> Option<Uuid> {
    let uuid = Uuid::parse_str(text).ok()?;
    // `parse_str` reads other forms, too, which no column has.
    (uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()) == text).then_some(uuid)
}

/// Parses a date `YYYY-MM-DD` of the years 1 to 9999.
fn date(text: &str) -> Option<NaiveDate> {
    let date: NaiveDate = text.parse().ok()?;
    // chrono also reads dates without zeros in front.
    (YEARS.contains(&date.year()) && date.to_string() == text).then_some(date)
}

/// Returns whether one text is a part of another.
fn part_of<'c>(part: Part, left: Term<'c>, right: Term<'c>) -> Clause<'c> {
    match (left, right) {
        // Every text has the empty text everywhere.
        (Term::Text(column), Term::Value(SqlParam::Text(text))) if text.is_empty() => {
            Clause::if_present([column], true)
        }
        (left, right) => Clause::Part(part, left, right),
    }
}

/// Compares a column with an instant. A column of microseconds or milliseconds lies before an instant with a finer
/// fraction if it does not lie after its last whole unit.
fn instants<'c>(
    dialect: Dialect,
    column: &'c Column,
    order: Order,
    instant: DateTime<Utc>,
) -> Exact<'c> {
    match column.kind {
        Scalar(ScalarType::Instant) => {}
        Scalar(ScalarType::Text) => return Err(DATE_AS_TEXT),
        _ => return Ok(UNDETERMINED),
    }
    if !YEARS.contains(&instant.year()) || instant.nanosecond() >= 1_000_000_000 {
        return Err(INSTANT_RANGE);
    }
    let unit = dialect.resolution();
    let nanoseconds = instant.nanosecond() / unit * unit;
    let whole = instant.with_nanosecond(nanoseconds).ok_or(INSTANT_RANGE)?;
    let order = match order {
        Order::Lt if whole < instant => Order::Lte,
        Order::Gte if whole < instant => Order::Gt,
        order => order,
    };
    Ok(Clause::Compare(Term::Column(column), order, Term::Value(SqlParam::Instant(whole))))
}

/// Returns whether a column lies in a period on one side of the present.
fn near(dialect: Dialect, column: &Column, period: Period, direction: Direction) -> Exact<'_> {
    let [first, last] = period.ends(direction).map(|(seconds, nanoseconds)| {
        DateTime::from_timestamp(seconds, nanoseconds).ok_or(INSTANT_RANGE)
    });
    let since = instants(dialect, column, Order::Gte, first?)?;
    Ok(Clause::all([since, instants(dialect, column, Order::Lte, last?)?]))
}

impl Column {
    /// Returns whether a check sees a text that may match a pattern.
    pub(super) fn may_match(&self) -> bool {
        matches!(self.kind, Scalar(kind) if kind.is_text() || kind == ScalarType::Instant)
    }

    /// Returns whether a check sees a text that may be a date-time or an address.
    pub(super) fn is_free_text(&self) -> bool {
        matches!(self.kind, Scalar(ScalarType::Text | ScalarType::Instant))
    }
}
