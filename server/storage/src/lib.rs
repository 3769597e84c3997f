//! The store: the only crate that names sqlx and writes SQL.
//!
//! Every function takes a [`Tx`], which is bound to one tenant, and every statement starts from that
//! tenant, so it does not find the id of another tenant's record. Each statement is written once, in SQL that
//! SQLite and PostgreSQL both read (`$1`, `ON CONFLICT`, `RETURNING`), and runs through the macros of `macros.rs`.

mod commit;
pub mod deliveries;
pub mod delivery_queues;
pub mod encryption;
mod error;
pub mod events;
mod json_list;
mod macros;
mod migrations;
mod notices;
pub mod policies;
mod postgres;
pub mod providers;
mod reserved;
pub mod resolvers;
pub mod resources;
pub mod rules;
mod schema;
pub mod service_keys;
mod sqlite;
mod store;
pub mod tenants;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tx;
pub mod webhooks;

pub use commit::Committed;
pub use error::{OpenError, StoreError};
pub use notices::{Notice, Notices, RevisionNotice};
pub use store::Store;
pub use tx::{Tx, WebhookWrites};

#[cfg(test)]
mod tests;
