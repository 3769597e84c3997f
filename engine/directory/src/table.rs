//! The table of tuples: a large base, and a small overlay of what changed since.
//!
//! A [`TupleTable`] is immutable. Equal nodes exist once, and no tuple has an allocation for itself.
//!
//! ```
//! use portcullis_directory::{Object, RelationNumber, Tuple, TupleChange, TupleTable};
//!
//! let [ann, bob] = ["ann", "bob"].map(|id| Object { object_type: "user", id });
//! let eng = Object { object_type: "group", id: "eng" };
//! let member = |subject| Tuple {
//!     object: eng,
//!     relation: RelationNumber(1),
//!     subject,
//!     subject_relation: None,
//!     expires_at: None,
//! };
//! let mut builder = TupleTable::builder();
//! builder.push(member(ann))?;
//! let table = builder.finish();
//! let changed = table.changed([TupleChange::Put(member(bob)), TupleChange::Remove(member(ann))])?;
//! assert_eq!(changed.iter().collect::<Vec<_>>(), [member(bob)]);
//! # Ok::<(), portcullis_directory::TuplesFull>(())
//! ```

mod builder;
mod changes;
mod edge;
mod edges;
mod lists;
mod moment;
mod nodes;
mod stored;
mod tuple;

pub use builder::TupleTableBuilder;
pub(crate) use edge::{Edge, EdgeKey, Way};
pub(crate) use moment::Moment;
pub(crate) use nodes::{MAX_NODES, NOWHERE, Node};
pub use stored::TupleTable;
pub(crate) use stored::{EdgesAt, merged};
pub(crate) use tuple::EVERYONE;
pub use tuple::{Object, Tuple, TupleChange, TuplesFull};

#[cfg(test)]
mod tests;
