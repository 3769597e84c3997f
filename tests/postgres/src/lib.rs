//! A real PostgreSQL for tests, without a container engine: one server per test run, and a database of its
//! own for every test.
//!
//! ```no_run
//! use portcullis_test_postgres::Cluster;
//!
//! # fn migrate(_url: &str) {}
//! let Some(cluster) = Cluster::shared() else { return };
//! let database = cluster.database_from("server", |draft| migrate(draft.url()));
//! // … open `database.url()`, do something, and look behind the curtain:
//! assert_eq!(database.sql("SELECT count(*) FROM tenants"), "0");
//! ```
//!
//! The server is started by the first test that asks for it, shared by all processes of the run, and stopped
//! by a watchdog when the runner (`cargo test`, `cargo nextest`) is gone. Where there is no PostgreSQL and
//! none can be installed, tests are skipped with a line on the standard error; under `CI=true` they fail.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a harness that does not work is a failed test"
)]

mod cluster;
mod database;
mod programs;
mod run;
mod session;

pub use cluster::Cluster;
pub use database::{Database, Role};
pub use session::{Session, SqlError};
