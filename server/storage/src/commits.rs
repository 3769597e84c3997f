//! The commit of a write: its revision, its author, its audit records.

pub mod audit;
pub(crate) mod author;
pub(crate) mod commit;
pub mod revision_changes;
pub mod revisions;
