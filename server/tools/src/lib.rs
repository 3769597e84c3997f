//! The commands `init`, `check`, `test`, `export`, `plan`, `apply`, `drift`, `import`, `keys`, `tenants`, `audit`, `secrets`
//! and `resolver` of the binary.

pub mod as_code;
pub mod audit;
pub mod check;
pub mod convert;
pub mod fmt;
pub mod humanize;
pub mod import;
pub mod init;
pub mod keys;
pub mod matrix;
mod operator;
pub mod policy_test;
pub mod report_format;
pub mod resolver_cli;
pub mod schema;
pub mod secrets;
mod service_url;
pub mod tenants;
