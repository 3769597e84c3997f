//! The use cases of the service. A handler, a command and the development mode call the same function.
//!
//! A use case takes the wired service, the verified caller and parsed input. It returns a plain result or an
//! [`OperationError`](portcullis_runtime::error::OperationError). A function that takes a transaction is a part of several use cases.

pub mod apply;
pub mod audit;
pub mod batch_checks;
pub mod batch_items;
pub mod checks;
mod common_plans;
pub mod content_at;
mod content_bound;
pub mod content_rulebook;
pub mod datetimes_as_texts;
pub mod decisions;
mod deletions;
pub mod directory;
mod draft_content;
pub mod drafts;
pub mod entities;
pub mod etag;
pub mod explained_relations;
pub mod failed_cases;
pub mod filters;
pub mod folder_data;
mod gated_writes;
pub mod key_holders;
pub mod matrices;
mod open_scope;
pub mod ownership;
mod past_plans;
pub mod permissions;
mod plan_by_plan;
mod plan_source;
pub mod policies;
pub mod proposals;
mod recent_reasons;
mod record_views;
pub mod recorded_checks;
mod recorded_sides;
mod recording;
pub mod registration;
pub mod replays;
pub mod resolvers;
pub mod resources;
pub mod revisions;
pub mod roles;
pub mod rules;
pub mod search;
pub mod secrets;
pub mod service_keys;
mod shadow_gates;
pub mod shadow_plans;
pub mod shadow_reports;
mod shadowing;
mod stored_guards;
mod stored_settings;
mod sync_parts;
pub mod tenant_content;
pub mod tenant_states;
pub mod tenants;
pub mod tuples;
pub mod types;
mod warnings;
pub mod webhooks;
pub mod written;

#[cfg(test)]
mod tests;
