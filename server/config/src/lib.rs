//! Configuration: environment variables, read once at start (`docs/semantics.md`, section 9.2).
//!
//! No other crate reads the environment. The error of a bad or missing value is one line that names it.

mod bucket;
mod clients;
mod compiler;
mod console;
mod database;
mod decision_log;
mod edge;
mod egress;
mod env_file;
mod error;
mod known;
mod limits;
mod mode;
mod process;
mod quotas;
mod secrets;
mod service;
pub mod settings;
mod traces;
mod units;
mod variables;

pub use clients::{CredentialHeader, GivenCredential};
pub use compiler::own_compiler;
pub use database::{
    database_file, open_database, open_existing_database, open_or_create_database,
    open_served_database, refuse_bypass, refuse_bypassing_role, with_standbys, without_password,
};
pub use decision_log::{DecisionLogConfig, open_archive};
pub use edge::{EdgeConfig, TlsConfig};
pub use error::ConfigError;
pub use process::LogFormat;
pub use service::Config;
pub use traces::TraceSettings;
pub use variables::Variables;

#[cfg(test)]
mod tests;
