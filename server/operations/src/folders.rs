//! Tenants kept as files: makes what a tenant has stored equal to its folder.

mod apply;
mod store;

pub use apply::{ChangeKind, ObjectChange, apply, clear};
pub use store::store;
