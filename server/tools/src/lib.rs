//! Commands of the binary that need no running service: `test`, `import`, `keys` and `resolver`.

pub mod humanize;
pub mod import;
pub mod keys;
pub mod policy_test;
pub mod resolver_cli;
