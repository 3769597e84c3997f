//! Tuples: the relations of subjects to objects that are stored (`docs/semantics.md`, section 12.11).

mod assumed;
mod bodies;
mod fit;
mod new_tuple;
mod record;

pub use assumed::{AssumedTuples, MAX_ASSUMED, RELATIONS};
pub use bodies::{MAX_TUPLES, RelationsBody, RelationsSyncBody, tuples};
pub use fit::{RelationsOfTuple, in_table, schema_of, with_tuples};
pub use new_tuple::{EVERYBODY, NewTuple, ObjectName, TupleSelection};
pub use record::{DeletedRelations, TupleRecord, TupleResult, TupleWrite, WrittenRelations};

#[cfg(test)]
mod tests;
