//! The tests of every set-up, and what all tests stand on.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "all of it is test code, helpers included"
)]

pub(crate) mod support;

mod access;
mod actions;
mod apply;
mod assumed_tuples;
pub(crate) mod authentication;
mod authzen;
mod batch;
mod bodies;
mod check;
mod checks_by_key;
mod connections;
pub(crate) mod console;
pub(crate) mod decisions;
pub(crate) mod deliveries;
mod drafts;
mod entities;
mod errors;
mod gates;
mod health;
mod legacy_check;
mod load;
mod metrics;
mod named_conditions;
mod permissions;
pub(crate) mod policies;
mod process;
mod quotas;
mod references;
pub(crate) mod relation_checks;
mod relation_rows;
mod relations;
mod replays;
pub(crate) mod resolvers;
mod resources;
mod revisions;
mod roles;
mod rules;
pub(crate) mod search;
mod shadows;
mod types;
