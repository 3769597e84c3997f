//! Tests for which neither the mode nor the database matters, and tests of `selfhost` mode or SQLite itself:
//! it runs once.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "all of it is test code"
)]

mod admin;
#[path = "connections/answers.rs"]
mod answers;
mod api_tour;
#[path = "search/as_checks.rs"]
mod as_checks;
mod as_code;
mod audit;
mod bench;
#[path = "decisions/buckets.rs"]
mod buckets;
mod clients;
mod compilations;
mod condition_forms;
#[path = "check/conditions.rs"]
mod conditions;
#[path = "process/configuration.rs"]
mod configuration;
mod deploy;
mod dev;
mod duckdb;
#[path = "connections/edge.rs"]
mod edge;
mod entity_tags;
#[path = "policies/expressions.rs"]
mod expressions;
mod filter_examples;
mod helpdesk;
mod hostile;
mod https;
mod import;
mod isolation;
mod java_client;
#[path = "authentication/key_sets.rs"]
mod key_sets;
#[path = "resources/large.rs"]
mod large_resources;
mod limits;
mod lint;
mod locations;
#[path = "policies/matchers.rs"]
mod matchers;
mod matrix;
pub(crate) mod min_entities;
mod min_revision;
mod packages;
mod paging;
mod policy_test;
mod query_parameters;
mod receivers;
#[path = "search/related_as_checks.rs"]
mod related_as_checks;
mod resolver_cli;
mod schema_command;
mod schemathesis;
mod service_keys;
#[path = "authentication/settings.rs"]
mod settings;
#[path = "process/signals.rs"]
mod signals;
mod spicedb;
mod tenant_states;
#[path = "connections/tls.rs"]
mod tls;
mod traces;
#[path = "policies/trees.rs"]
mod trees;
mod tutorial;
mod webhooks;
#[path = "health/without_database.rs"]
mod without_database;
