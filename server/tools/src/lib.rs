//! The commands `test`, `import`, `keys` and `resolver` of the binary.

pub mod humanize;
pub mod import;
pub mod keys;
pub mod policy_test;
pub mod resolver_cli;
