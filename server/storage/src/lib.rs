//! The store: the only crate that names sqlx and writes SQL.
//!
//! Every function takes a [`Tx`], which is bound to one tenant, and every statement starts from that
//! tenant, so it does not find the id of another tenant's record. Each statement is written once, in SQL that
//! SQLite and PostgreSQL both read (`$1`, `ON CONFLICT`, `RETURNING`), and runs through the macros of `macros.rs`.

pub mod attempts;
pub mod audit;
mod audit_entry;
mod author;
pub mod bulk;
pub mod changes;
mod column_values;
mod commit;
pub mod content_size;
mod database;
pub mod decision_erasures;
pub mod decision_files;
pub mod decision_uploads;
mod delivered_denials;
pub mod deliveries;
pub mod delivery_queues;
mod delivery_rows;
mod denial_queues;
mod denial_segments;
pub mod denied_persons;
mod directory;
pub mod drafts;
pub mod encryption;
pub mod entities;
pub mod erased_denials;
pub mod erasure;
mod error;
pub mod events;
mod history;
mod hosts;
pub mod jobs;
mod json_list;
mod lost_commits;
mod macros;
mod migrations;
mod newest_commit;
mod notices;
mod ordered_ids;
mod paging;
pub mod plan_records;
mod plan_sizes;
pub mod policies;
mod postgres;
mod primary;
pub mod proposals;
pub mod providers;
mod quotas;
mod reachability;
mod recent_reads;
pub mod record_answers;
mod record_changes;
pub mod relations;
mod reserved;
pub mod resolver_locations;
pub mod resolvers;
pub mod resources;
pub mod retention;
pub mod revision_changes;
pub mod revisions;
pub mod roles;
mod row_lists;
mod row_streams;
pub mod rules;
mod schema;
pub mod secrets;
pub mod service_keys;
mod settled_denials;
pub mod shadows;
mod sqlite;
mod sqlite_fault;
mod sqlite_files;
mod sqlite_pools;
mod standbys;
mod store;
mod stored_cases;
mod stored_records;
mod suitability;
pub mod syncs;
pub mod tenant_cases;
pub mod tenant_settings;
pub mod tenants;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tx;
pub mod types;
pub mod verbs;
pub mod webhooks;
mod write_fault;
mod write_turn;

pub use commit::Committed;
pub use error::{OpenError, StoreError};
pub use history::{HistoryPosition, REMEMBERED_COMMITS, epoch};
pub use hosts::is_secret_parameter;
pub use notices::{EntitiesNotice, MAX_PAYLOAD, Notice, Notices, RevisionNotice};
pub use row_streams::Records;
pub use standbys::ReadSource;
pub use store::{Store, StoreLimits};
pub use tx::{Tx, WebhookWrites};
pub use write_turn::WriteTurn;

#[cfg(test)]
mod tests;
