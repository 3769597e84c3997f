//! Lists: all objects to which a subject has a relation, and all subjects that have a relation to an object.

mod bitmaps;
mod candidates;
mod objects;
mod rows;
mod subjects;

pub use candidates::{Candidate, KnownCandidates};
pub use objects::ObjectList;
pub use rows::{HopObjects, RowBudget, RowHop, RowsTooLarge};
pub use subjects::{SubjectList, SubjectQuestion};
