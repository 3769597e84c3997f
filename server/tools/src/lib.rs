//! The commands `init`, `check`, `test`, `import`, `keys`, `tenants`, `audit`, `secrets`, `schema` and `resolver` of the binary.

pub mod audit;
pub mod check;
pub mod humanize;
pub mod import;
pub mod init;
pub mod keys;
mod operator;
pub mod policy_test;
pub mod resolver_cli;
pub mod schema;
pub mod secrets;
mod service_url;
pub mod tenants;
