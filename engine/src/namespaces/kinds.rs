//! Sets of types of values.

use super::attribute_kind::AttributeKind;
use crate::condition::{Operand, Predicate};
use crate::operator::ComparedKind;
use crate::types::PropertyType;

/// The set of types that one side of a test may have, one bit per type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KindSet(u8);

impl KindSet {
    /// A text that need not be a date-time or an address.
    const TEXT: Self = Self(1);
    pub(super) const DATETIME: Self = Self(2);
    pub(super) const ADDRESS: Self = Self(4);
    const NUMBER: Self = Self(8);
    const BOOLEAN: Self = Self(16);
    pub(super) const TEXTS: Self = Self(32);
    const NUMBERS: Self = Self(64);
    const LISTS: Self = Self(32 | 64);
    pub(super) const ANY_TEXT: Self = Self(0b111);
    pub(super) const ANY: Self = Self(0b111_1111);

    pub(super) fn for_resolver(kind: AttributeKind) -> Self {
        match kind {
            AttributeKind::Text => Self::ANY_TEXT,
            AttributeKind::Number => Self::NUMBER,
            AttributeKind::Boolean => Self::BOOLEAN,
            AttributeKind::Texts => Self::TEXTS,
            AttributeKind::Numbers => Self::NUMBERS,
        }
    }

    pub(super) fn for_properties(kinds: &[PropertyType]) -> Option<Self> {
        kinds.iter().map(|kind| Self::for_property(*kind)).reduce(Self::or)
    }

    fn for_property(kind: PropertyType) -> Self {
        match kind {
            PropertyType::Text => Self::TEXT,
            PropertyType::Number => Self::NUMBER,
            PropertyType::Boolean => Self::BOOLEAN,
            PropertyType::Datetime => Self::DATETIME,
            PropertyType::Ip => Self::ADDRESS,
            PropertyType::Texts => Self::TEXTS,
            PropertyType::Numbers => Self::NUMBERS,
        }
    }

    /// Returns the types of the right side of a test, unless it is an attribute.
    pub(super) fn for_right_side(predicate: &Predicate) -> Self {
        let Predicate::Compare(_, literal) = predicate else { return Self::ANY };
        match literal {
            Operand::Attribute(_) => Self::ANY,
            Operand::Text(_) | Operand::Instant(_) | Operand::Duration { .. } => Self::ANY_TEXT,
            Operand::Number(_) => Self::NUMBER,
            Operand::Bool(_) => Self::BOOLEAN,
            Operand::List(list) => {
                let (texts, numbers) = (list.texts().next(), list.numbers().next());
                match (texts.is_some(), numbers.is_some()) {
                    (true, false) => Self::TEXTS,
                    // An empty list and a mixed one may be both.
                    (false, true) => Self::NUMBERS,
                    _ => Self::TEXTS.or(Self::NUMBERS),
                }
            }
        }
    }

    /// Returns whether a value of these types may be a list.
    pub(super) fn may_be_list(self) -> bool {
        self.has(Self::LISTS)
    }

    /// Returns whether a value of these types may be a number.
    pub(super) fn may_be_number(self) -> bool {
        self.has(Self::NUMBER)
    }

    /// Returns the types of the items of lists of these types.
    pub(super) fn of_items(self) -> Self {
        // An attribute that nothing declares may have items of every type but lists.
        if self == Self::ANY {
            return Self(Self::ANY.0 & !Self::LISTS.0);
        }
        let texts = if self.has(Self::TEXTS) { Self::ANY_TEXT } else { Self(0) };
        let numbers = if self.has(Self::NUMBERS) { Self::NUMBER } else { Self(0) };
        texts.or(numbers)
    }

    /// Returns the types of a side of this kind whose value, or an item of it, may equal the other side.
    pub(super) fn beside(kind: ComparedKind, other: ComparedKind) -> Self {
        match (kind, other) {
            (ComparedKind::Text | ComparedKind::Duration, _) => Self::ANY_TEXT,
            (ComparedKind::Number, _) => Self::NUMBER,
            (ComparedKind::Bool, _) => Self::BOOLEAN,
            (ComparedKind::List, ComparedKind::Text | ComparedKind::Duration) => Self::TEXTS,
            (ComparedKind::List, ComparedKind::Number) => Self::NUMBERS,
            // No resolver answers a list of booleans, and no property is one.
            (ComparedKind::List, ComparedKind::Bool) => Self(0),
            (ComparedKind::List, ComparedKind::List) => Self::TEXTS.or(Self::NUMBERS),
        }
    }

    pub(super) fn has(self, types: Self) -> bool {
        self.0 & types.0 != 0
    }

    /// Returns whether a text, a number or a boolean of these types may equal the literal, or an item of it.
    pub(super) fn may_equal(self, literal: &Operand) -> bool {
        match literal {
            Operand::Text(text) => self.has_text(text),
            Operand::List(list) => {
                list.texts().next().is_none()
                    || self.has(Self::NUMBER)
                    || list.texts().any(|text| self.has_text(text))
            }
            _ => true,
        }
    }

    fn has_text(self, text: &str) -> bool {
        self.has(Self::TEXT)
            || (self.has(Self::DATETIME) && PropertyType::Datetime.admits_text(text))
            || (self.has(Self::ADDRESS) && PropertyType::Ip.admits_text(text))
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
