//! A real PostgreSQL for tests, without a container engine: one server per test run, and one database per
//! test.
//!
//! ```no_run
//! use portcullis_test_postgres::Cluster;
//!
//! # fn migrate(_url: &str) {}
//! let Some(cluster) = Cluster::shared() else { return };
//! let database = cluster.database_from("server", |draft| migrate(draft.url()));
//! // … open `database.url()`, write something, and read the tables as superuser:
//! assert_eq!(database.sql("SELECT count(*) FROM tenants"), "0");
//! ```
//!
//! The first test that needs the server starts it. All processes of the run share it, and a watchdog stops it when
//! the runner (`cargo test`, `cargo nextest`) ends. If there is no PostgreSQL and none can be installed, tests are
//! skipped with a line on the standard error; under `CI=true` they fail.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a harness that does not work fails the test"
)]

mod cluster;
mod database;
mod programs;
mod replication;
mod run;
mod session;

pub use cluster::Cluster;
pub use database::{Database, Role};
pub use session::{Session, SqlError};
