//! One edge of a table.

use super::nodes::Node;
use crate::schema::RelationNumber;

/// The subject relation of a tuple without one.
const PLAIN: u16 = u16::MAX;

/// The relations of an edge: on the way from the object its relation first, on the way back the subject's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct EdgeKey(u32);

/// A range of keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeKeys {
    pub(super) first: EdgeKey,
    pub(super) last: EdgeKey,
}

impl EdgeKey {
    fn pack(high: u16, low: u16) -> Self {
        Self(u32::from(high) << 16 | u32::from(low))
    }

    /// Returns the key of a tuple, as on the way from its object.
    pub(crate) fn new(relation: RelationNumber, subject_relation: Option<RelationNumber>) -> Self {
        Self::pack(relation.0, subject_relation.map_or(PLAIN, |number| number.0))
    }

    /// Returns the key on the other way.
    pub(crate) fn turned(self) -> Self {
        Self(self.0.rotate_left(16))
    }

    /// Returns the keys, on the way from an object, of its relation.
    pub(crate) fn for_relation(relation: RelationNumber) -> EdgeKeys {
        Self::with_high(relation.0)
    }

    /// Returns the keys, on the way back, of a subject: of itself, or of all who have a relation to it.
    pub(crate) fn for_subject(subject_relation: Option<RelationNumber>) -> EdgeKeys {
        Self::with_high(subject_relation.map_or(PLAIN, |number| number.0))
    }

    fn with_high(high: u16) -> EdgeKeys {
        EdgeKeys { first: Self::pack(high, 0), last: Self::pack(high, u16::MAX) }
    }

    /// Returns every key.
    pub(super) fn all() -> EdgeKeys {
        EdgeKeys { first: Self(0), last: Self(u32::MAX) }
    }

    /// Returns this key alone.
    pub(crate) fn only(self) -> EdgeKeys {
        EdgeKeys { first: self, last: self }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the halves of a key")]
    fn halves(self) -> (u16, u16) {
        ((self.0 >> 16) as u16, self.0 as u16)
    }

    /// Returns the relation of the object, in a key on the way from it.
    pub(crate) fn relation(self) -> RelationNumber {
        RelationNumber(self.halves().0)
    }

    /// Returns the relation of the subject, in a key on the way from the object.
    pub(crate) fn subject_relation(self) -> Option<RelationNumber> {
        Some(RelationNumber(self.halves().1)).filter(|number| number.0 != PLAIN)
    }
}

/// An edge: its object, the key on the way from it, and its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) object: Node,
    pub(crate) key: EdgeKey,
    pub(crate) subject: Node,
}

/// The way along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From objects to subjects.
    Forward,
    /// From subjects to objects.
    Back,
}

impl Way {
    /// Returns the edge that leads from one node to another.
    pub(crate) fn edge(self, from: Node, key: EdgeKey, to: Node) -> Edge {
        match self {
            Self::Forward => Edge { object: from, key, subject: to },
            Self::Back => Edge { object: to, key: key.turned(), subject: from },
        }
    }
}
