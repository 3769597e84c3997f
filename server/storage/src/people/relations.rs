//! The table of tuples (`docs/semantics.md`, section 12.11).
//!
//! Tuples share the revision and the history of entities. A deleted tuple keeps its row for a while: a replica that reads
//! what changed since a revision learns of the deletion.

mod audited;
mod lists;
pub(crate) mod stored;
pub mod syncs;
mod table;
mod writes;

use portcullis_directory::RelationNumber;
use portcullis_model::Timestamp;
use portcullis_model::relation::ObjectName;

pub use crate::people::directory::{EntityOrigin, state};
pub use lists::{TupleFilter, TupleShape, count_of, list, shapes};
pub use stored::sources;
pub use table::{changed_table, table};
pub(crate) use writes::delete_of_entities;
pub use writes::{delete, delete_matching, delete_shapes, write};

/// The parts of a tuple that identify it: all but its expiry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TupleKey {
    pub object: ObjectName,
    pub relation: RelationNumber,
    pub subject: ObjectName,
    /// All who have this relation to the subject are meant, and not the subject itself.
    pub subject_relation: Option<RelationNumber>,
}

/// A tuple that is written.
#[derive(Clone, Debug)]
pub struct NumberedTuple {
    pub key: TupleKey,
    /// The instant from which on the tuple does not count.
    pub expires_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests;
