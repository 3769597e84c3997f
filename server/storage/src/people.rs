//! Entities and the relations between them.

pub(crate) mod directory;
pub mod entities;
pub mod relations;
pub mod syncs;
