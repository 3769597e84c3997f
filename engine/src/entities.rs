//! Entities in memory: the subjects and objects that a tenant's directory knows, as checks and searches read them.
//!
//! An [`EntityTable`] is immutable. A change makes a new table that shares the large base and has a small overlay of
//! changed and removed entities; folding makes a new base of both. Equal texts are stored once, and no entity has its
//! own allocation.
//!
//! ```
//! use portcullis_engine::entities::{EntityInput, EntityTable};
//! use portcullis_engine::json;
//!
//! let roles = json::parse(br#"["editor"]"#)?;
//! let properties = json::parse(br#"{"ward": "er", "level": 3}"#)?;
//! let ann = EntityInput {
//!     entity_type: "user",
//!     id: "ann",
//!     roles: roles.as_array().unwrap_or_default(),
//!     domain_roles: &[],
//!     properties: properties.as_object().unwrap_or_default(),
//! };
//! let mut builder = EntityTable::builder();
//! builder.push(&ann)?;
//! let table = builder.finish()?;
//!
//! let found = table.get("user", "ann").ok_or("no such entity")?;
//! assert_eq!(found.roles().collect::<Vec<_>>(), ["editor"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod entity;
mod narrowed;
mod postings;
mod segment;
mod table;

pub use builder::{EntityInput, EntityTableBuilder, TableFull};
pub use entity::{Entity, EntityProperties, USER, principal};
pub(crate) use narrowed::{NarrowingWork, Property, Sought};
pub(crate) use postings::RowSet;
pub use table::{Entities, EntityChange, EntityTable};

#[cfg(test)]
mod tests;
