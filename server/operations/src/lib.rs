//! The use cases of the service. A handler, a command and the development mode call the same function.
//!
//! A use case takes the wired service, the verified caller and parsed input. It returns a plain result or an
//! [`error::OperationError`]. A function that takes a transaction is a part of several use cases.

pub mod app;
pub mod apply;
pub mod audit;
pub mod background;
pub mod batch_checks;
pub mod batch_items;
pub mod change_reader;
mod changes;
mod check_metrics;
pub mod checks;
mod common_plans;
pub mod compilations;
pub mod directory;
pub mod edge_metrics;
pub mod entities;
pub mod entity_tables;
pub mod erasure;
pub mod error;
pub mod etag;
pub mod exports;
pub mod failed_cases;
pub mod filter_refusal;
pub mod filters;
pub mod folders;
pub mod freshness;
mod gated_writes;
pub mod gates;
pub mod judgements;
pub mod key_holders;
pub mod large_bodies;
pub mod load_sources;
pub mod matrices;
pub mod metrics;
mod name_metrics;
mod open_scope;
mod ownership;
pub mod permissions;
mod plan_by_plan;
pub mod plans;
pub mod policies;
pub mod proposals;
mod provider_uses;
pub mod quota_metrics;
mod recent_reasons;
pub mod refusals;
pub mod registration;
pub mod resolvers;
pub mod resources;
pub mod roles;
pub mod rules;
pub mod search;
pub mod searches;
pub mod secrets;
pub mod service_keys;
mod tenant_facts;
mod tenant_reads;
pub mod tenant_states;
pub mod tenants;
mod turns;
pub mod uploads;
mod warnings;
pub mod webhooks;
pub mod write_refusal;
pub mod written;

#[cfg(test)]
mod tests;
