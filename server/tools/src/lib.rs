//! The commands `init`, `check`, `test`, `lint`, `import`, `keys`, `tenants`, `audit`, `secrets` and `resolver` of the binary.

pub mod audit;
pub mod check;
pub mod humanize;
pub mod import;
pub mod init;
pub mod keys;
pub mod lint;
mod operator;
pub mod policy_test;
pub mod resolver_cli;
pub mod secrets;
mod service_url;
pub mod tenants;
