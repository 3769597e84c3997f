//! Tuples as callers write them.

use chrono::{DateTime, Utc};

use crate::schema::RelationNumber;

/// The table has more tuples, nodes or bytes of ids than it can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the relations take more than 4 GiB of memory")]
pub struct TuplesFull;

/// The id of a subject that stands for everybody of its type.
pub(crate) const EVERYONE: &str = "*";

/// An object or a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Object<'o> {
    /// The type.
    pub object_type: &'o str,
    /// The id, unique in the type.
    pub id: &'o str,
}

/// One stored edge: a subject has a relation to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuple<'t> {
    /// The object.
    pub object: Object<'t>,
    /// The relation of the object.
    pub relation: RelationNumber,
    /// The subject; the id `*` is everybody of the type.
    pub subject: Object<'t>,
    /// All who have this relation to the subject, instead of the subject itself.
    pub subject_relation: Option<RelationNumber>,
    /// The instant from which on the tuple does not count.
    pub expires_at: Option<DateTime<Utc>>,
}

/// A change of one tuple. Tuples that differ in `expires_at` alone are the same tuple.
#[derive(Clone, Copy, Debug)]
pub enum TupleChange<'t> {
    /// Adds the tuple, or gives it this expiry.
    Put(Tuple<'t>),
    /// Removes the tuple, if there is one.
    Remove(Tuple<'t>),
}
