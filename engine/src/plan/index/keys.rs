//! The keys of the index: scalars, prefixes, and the kinds of values.

use hashbrown::{Equivalent, HashMap};

use crate::number::Number;
use crate::plan::slots::{Slot, Symbol};
use crate::value::AttributeValue;

/// The number of a sought value, while the index is built.
pub(super) type KeyId = u32;

/// A value of an attribute that leads to policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Sought<'c> {
    /// An equal scalar.
    Value(Scalar<&'c str>),
    /// A list that contains the scalar.
    Member(Scalar<&'c str>),
    /// A text that starts with the prefix.
    Prefix(&'c str),
    /// A list that contains a text that starts with the prefix.
    MemberPrefix(&'c str),
}

/// Numbers for sought values: a text is hashed once for each test, however many policies share the test.
#[derive(Default)]
pub(super) struct SoughtKeys<'c> {
    numbers: HashMap<(Slot, Sought<'c>), KeyId>,
    list: Vec<Sought<'c>>,
}

impl<'c> SoughtKeys<'c> {
    /// Returns the number of a value of an attribute.
    pub(super) fn number(&mut self, slot: Slot, sought: Sought<'c>) -> KeyId {
        *self.numbers.entry((slot, sought)).or_insert_with(|| {
            self.list.push(sought);
            // The texts of a plan are far fewer than four billion.
            KeyId::try_from(self.list.len() - 1).unwrap_or(KeyId::MAX)
        })
    }

    /// Returns the values by number.
    pub(super) fn into_list(self) -> Vec<Sought<'c>> {
        self.list
    }
}

/// A text, number or boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scalar<T> {
    Text(T),
    /// An interned text.
    Symbol(Symbol),
    Number(Number),
    Bool(bool),
}

/// An owned [`Scalar`], with the hash of a borrowed one.
pub(super) type Key = Scalar<Box<str>>;

/// The kind of a value. The discriminant is a bit of [`ValueKinds`] and an array index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Absent,
    Text,
    Number,
    Bool,
    List,
    Opaque,
}

/// The number of kinds.
pub(super) const KINDS: usize = 6;

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueKinds(u8);

impl ValueKinds {
    pub(super) const NONE: Self = Self(0);
    // Every kind but `Absent`.
    pub(super) const PRESENT: Self = Self(0b11_1110);

    pub(super) fn with(self, kind: ValueKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    pub(super) fn without(self, kinds: &[ValueKind]) -> Self {
        Self(kinds.iter().fold(self.0, |bits, kind| bits & !(1 << *kind as u8)))
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the discriminant of each kind in the set.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..KINDS).filter(move |kind| self.0 & 1 << kind != 0)
    }
}

impl<'v> Scalar<&'v str> {
    pub(super) fn from_value(value: AttributeValue<'v>) -> Option<Self> {
        match value {
            AttributeValue::Text(text) => Some(Self::Text(text)),
            AttributeValue::Number(number) => Some(Self::Number(number)),
            AttributeValue::Bool(value) => Some(Self::Bool(value)),
            _ => None,
        }
    }

    pub(super) fn kind(self) -> ValueKind {
        match self {
            Self::Text(_) | Self::Symbol(_) => ValueKind::Text,
            Self::Number(_) => ValueKind::Number,
            Self::Bool(_) => ValueKind::Bool,
        }
    }
}

impl Key {
    /// Returns the symbol, if the key is one.
    pub(super) fn symbol(&self) -> Option<Symbol> {
        match self {
            Self::Symbol(symbol) => Some(*symbol),
            Self::Text(_) | Self::Number(_) | Self::Bool(_) => None,
        }
    }
}

impl From<Scalar<&str>> for Key {
    fn from(scalar: Scalar<&str>) -> Self {
        match scalar {
            Scalar::Text(text) => Self::Text(text.into()),
            Scalar::Symbol(symbol) => Self::Symbol(symbol),
            Scalar::Number(number) => Self::Number(number),
            Scalar::Bool(value) => Self::Bool(value),
        }
    }
}

impl Equivalent<Key> for Scalar<&str> {
    fn equivalent(&self, key: &Key) -> bool {
        match (self, key) {
            (Scalar::Text(a), Scalar::Text(b)) => *a == &**b,
            (Scalar::Symbol(a), Scalar::Symbol(b)) => a == b,
            (Scalar::Number(a), Scalar::Number(b)) => a == b,
            (Scalar::Bool(a), Scalar::Bool(b)) => a == b,
            _ => false,
        }
    }
}
