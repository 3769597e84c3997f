//! Connections to SQLite and PostgreSQL: primaries, migrations, what a database must have, its notifications.

pub mod changes;
pub(crate) mod database;
pub(crate) mod hosts;
pub(crate) mod migrations;
pub(crate) mod notices;
pub(crate) mod postgres;
pub(crate) mod primary;
pub(crate) mod reachability;
pub(crate) mod schema;
pub(crate) mod sqlite;
pub(crate) mod sqlite_pools;
pub(crate) mod suitability;
