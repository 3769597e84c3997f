//! The directory of a tenant: entities, tuples, and the facts that a decision reads from them.

pub mod directory;
pub mod entities;
pub mod folder_data;
mod sync_parts;
pub mod tuples;
