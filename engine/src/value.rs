//! Values as conditions read them: borrowed views of a request, a token, an answer or a literal.

use chrono::{DateTime, Datelike, FixedOffset, SecondsFormat, Timelike, Utc};
use compact_str::CompactString;
use smallvec::SmallVec;

use crate::json::Json;
use crate::number::Number;
use crate::packed::{Packed, PackedList};
use crate::period::Period;
use crate::roles::Roles;

/// The value of an attribute, or of a literal on the right side.
#[derive(Clone, Copy, Debug)]
pub enum AttributeValue<'r> {
    /// A string.
    Text(&'r str),
    /// A number.
    Number(Number),
    /// A boolean.
    Bool(bool),
    /// A list of scalars. Items of other types equal nothing.
    List(List<'r>),
    /// A date-time literal of a policy.
    Instant(DateTime<Utc>),
    /// A duration literal of a policy, beside the present.
    Period(Period),
    /// A present value that no operator compares, such as an object in a token.
    Opaque,
    /// Unknown because its resolver failed; it may even be absent. Every test of it is undetermined.
    Failed,
    /// Unknown because its resolver was not called.
    NotRequested,
}

/// A list, borrowed in the form in which it is stored.
#[derive(Clone, Copy, Debug)]
pub enum List<'r> {
    /// A list of a request or a token.
    Json(&'r [Json<'r>]),
    /// The roles of the subject.
    Roles(&'r Roles<'r>),
    /// A list literal of a policy.
    Literals(&'r LiteralList),
    /// A list of an entity.
    Packed(PackedList<'r>),
}

impl<'r> From<Packed<'r>> for AttributeValue<'r> {
    #[inline]
    fn from(packed: Packed<'r>) -> Self {
        match packed {
            Packed::Text(text) => Self::Text(text),
            Packed::Number(number) => Self::Number(number),
            Packed::Bool(value) => Self::Bool(value),
            Packed::List(list) => Self::List(List::Packed(list)),
            Packed::Opaque => Self::Opaque,
        }
    }
}

impl<'r> From<&'r Json<'r>> for AttributeValue<'r> {
    fn from(json: &'r Json<'r>) -> Self {
        match json {
            Json::String(text) => Self::Text(text),
            Json::Number(number) => Self::Number(*number),
            Json::Bool(value) => Self::Bool(*value),
            Json::Array(items) => Self::List(List::Json(items)),
            Json::Null | Json::Object(_) => Self::Opaque,
        }
    }
}

impl<'r> AttributeValue<'r> {
    /// Returns the value as JSON: a scalar or a list of scalars, or else `null`, which no operator compares.
    pub fn to_json(self) -> Json<'r> {
        match self {
            Self::Text(text) => Json::String(text.into()),
            Self::Number(number) => Json::Number(number),
            Self::Bool(value) => Json::Bool(value),
            Self::List(list) => {
                let mut items = Vec::new();
                list.for_each(|item| items.push(item.to_json()));
                Json::Array(items)
            }
            Self::Instant(_)
            | Self::Period(_)
            | Self::Opaque
            | Self::Failed
            | Self::NotRequested => Json::Null,
        }
    }
}

impl AttributeValue<'_> {
    /// Returns whether two scalars of one type are equal; `None` if the types differ or are not scalars.
    pub fn equals(self, other: AttributeValue<'_>) -> Option<bool> {
        match (self, other) {
            (Self::Text(a), AttributeValue::Text(b)) => Some(a == b),
            (Self::Number(a), AttributeValue::Number(b)) => Some(a == b),
            (Self::Bool(a), AttributeValue::Bool(b)) => Some(a == b),
            _ => None,
        }
    }

    /// Returns whether the value can be an item of a list.
    pub fn is_scalar(self) -> bool {
        matches!(self, Self::Text(_) | Self::Number(_) | Self::Bool(_))
    }

    /// Returns the instant of a date-time literal or of a text in RFC 3339.
    pub fn instant(self) -> Option<DateTime<Utc>> {
        match self {
            Self::Text(text) => parse_instant(text),
            Self::Instant(instant) => Some(instant),
            _ => None,
        }
    }
}

/// Parses an RFC 3339 date-time; `None` for any other text. Ignores digits of the second's fraction after the ninth.
pub(crate) fn parse_instant(text: &str) -> Option<DateTime<Utc>> {
    // chrono also accepts a Unicode minus sign, and a leap second in any minute.
    let instant = DateTime::parse_from_rfc3339(text).ok()?.to_utc();
    let in_leap_second = instant.nanosecond() >= 1_000_000_000;
    let leap_possible = (instant.hour(), instant.minute()) == (23, 59);
    (text.is_ascii() && (leap_possible || !in_leap_second)).then_some(instant)
}

/// The largest offset of a date-time in minutes, in seconds: it brings each instant that a date-time can name into the
/// years 0 to 9999.
const LARGEST_OFFSET: i32 = (23 * 60 + 59) * 60;

/// Writes an instant in RFC 3339: in UTC, unless the year has not four digits there.
pub(crate) fn date_time(instant: DateTime<Utc>) -> String {
    let offset = match instant.year() {
        ..0 => LARGEST_OFFSET,
        0..10_000 => 0,
        10_000.. => -LARGEST_OFFSET,
    };
    match FixedOffset::east_opt(offset).filter(|_| offset != 0) {
        Some(offset) => instant.with_timezone(&offset).to_rfc3339(),
        None => instant.to_rfc3339_opts(SecondsFormat::AutoSi, true),
    }
}

impl<'r> List<'r> {
    /// Visits each item.
    pub fn for_each(self, mut visit: impl FnMut(AttributeValue<'r>)) {
        self.any(|item| {
            visit(item);
            false
        });
    }

    /// Returns whether `holds` for an item, which is the last one that it is asked for.
    pub(crate) fn any(self, mut holds: impl FnMut(AttributeValue<'r>) -> bool) -> bool {
        match self {
            Self::Json(items) => items.iter().any(|item| holds(item.into())),
            Self::Roles(roles) => roles.iter().any(|role| holds(AttributeValue::Text(role))),
            Self::Packed(list) => list.iter().any(|item| holds(item.into())),
            Self::Literals(list) => {
                list.texts().any(|text| holds(AttributeValue::Text(text)))
                    || list.numbers().any(|number| holds(AttributeValue::Number(number)))
            }
        }
    }

    /// Returns the number of items.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Json(items) => items.len(),
            // What is sent as roles may have more: only texts are roles.
            Self::Roles(roles) => roles.iter().count(),
            Self::Literals(list) => list.len(),
            Self::Packed(list) => list.iter().len(),
        }
    }

    /// Returns the number of items that a search for one item visits. Zero for a literal list, which is sorted.
    pub(crate) fn visited(self) -> usize {
        match self {
            Self::Json(items) => items.len(),
            Self::Roles(Roles::Claimed(roles)) => roles.len(),
            Self::Roles(Roles::Supplied(items)) => items.len(),
            Self::Roles(Roles::Listed(roles) | Roles::Stored(roles)) => roles.len(),
            Self::Roles(Roles::Withheld) => 0,
            Self::Packed(list) => list.iter().len(),
            Self::Literals(_) => 0,
        }
    }

    /// Returns whether the list contains the scalar `item`. Items of another type are not equal to it.
    pub fn has(self, item: AttributeValue<'_>) -> bool {
        match self {
            Self::Literals(list) => list.place(item).is_some(),
            Self::Json(_) | Self::Roles(_) | Self::Packed(_) => {
                self.any(|own| own.equals(item) == Some(true))
            }
        }
    }

    /// Returns whether the list contains an item of the other one.
    pub(crate) fn has_any(self, others: List<'_>) -> bool {
        match others {
            // The literal list is searched, because it is sorted.
            List::Literals(_) => self.any(|own| others.has(own)),
            _ => others.any(|item| self.has(item)),
        }
    }

    /// Returns whether the list contains each item of the other one. Looks at its own items once if the other one is a
    /// literal.
    pub(crate) fn has_all(self, others: List<'_>) -> bool {
        let List::Literals(literals) = others else {
            return !others.any(|item| !self.has(item));
        };
        let mut missing = literals.len();
        let mut found = SmallVec::<[u64; 4]>::from_elem(0, missing.div_ceil(64));
        // Of an empty list nothing can be missing.
        missing == 0
            || self.any(|own| {
                if let Some(place) = literals.place(own) {
                    let bit = 1 << (place % 64);
                    // An item that comes twice counts once.
                    missing -= usize::from(found[place / 64] & bit == 0);
                    found[place / 64] |= bit;
                }
                missing == 0
            })
    }

    /// Returns the number of steps of [`List::has_any`] and [`List::has_all`]: items of this list, or pairs of items.
    pub(crate) fn visited_pairs(self, others: List<'_>) -> usize {
        match others {
            List::Literals(_) => self.visited(),
            _ => self.visited().saturating_mul(others.visited()),
        }
    }
}

/// Returns the bytes that a text has outside of its value: none if it is short.
pub(crate) fn heap_bytes(text: &CompactString) -> usize {
    if text.is_heap_allocated() { text.capacity() } else { 0 }
}

/// Comparing at most this many texts one by one is faster than a binary search.
const FEW: usize = 8;

/// A list literal: strings and numbers, each kind sorted for binary search.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LiteralList {
    texts: Box<[CompactString]>,
    numbers: Box<[Number]>,
}

impl LiteralList {
    /// Makes a list of these strings and numbers, in any order.
    pub fn new(mut texts: Vec<CompactString>, mut numbers: Vec<Number>) -> Self {
        texts.sort_unstable();
        texts.dedup();
        numbers.sort_unstable();
        numbers.dedup();
        Self { texts: texts.into(), numbers: numbers.into() }
    }

    /// Returns the strings.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    /// Returns the numbers.
    pub fn numbers(&self) -> impl Iterator<Item = Number> {
        self.numbers.iter().copied()
    }

    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        self.texts.len() + self.numbers.len()
    }

    /// Returns the place of a value, below the number of values.
    fn place(&self, item: AttributeValue<'_>) -> Option<usize> {
        match item {
            // Most texts of a short list differ in length, which is compared first.
            AttributeValue::Text(text) if self.texts.len() <= FEW => {
                self.texts.iter().position(|own| **own == *text)
            }
            AttributeValue::Text(text) => self.texts.binary_search_by(|own| (**own).cmp(text)).ok(),
            AttributeValue::Number(number) => {
                let place = self.numbers.binary_search(&number).ok()?;
                Some(self.texts.len() + place)
            }
            _ => None,
        }
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        size_of_val::<[CompactString]>(&self.texts)
            + self.texts.iter().map(heap_bytes).sum::<usize>()
            + size_of_val::<[Number]>(&self.numbers)
    }
}
