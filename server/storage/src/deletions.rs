//! Deletion of what is too old, erased or of a deleted tenant.

pub mod erased_denials;
pub mod erasure;
pub mod retention;
