//! Tuples: the relations of subjects to objects that are stored (`docs/semantics.md`, section 12.11).

mod bodies;
mod new_tuple;
mod record;

pub use bodies::{MAX_TUPLES, RelationsBody, RelationsSyncBody};
pub use new_tuple::{EVERYBODY, NewTuple, ObjectName, TupleSelection};
pub use record::{DeletedRelations, TupleRecord, TupleResult, TupleWrite, WrittenRelations};

#[cfg(test)]
mod tests;
