//! The store: the only crate that names sqlx and writes SQL.
//!
//! Every function takes a [`Tx`], which is bound to one tenant, and every statement starts from that
//! tenant, so it does not find the id of another tenant's record. Each statement is written once, in SQL that
//! SQLite and PostgreSQL both read (`$1`, `ON CONFLICT`, `RETURNING`), and runs through the macros of `macros.rs`.

mod commits;
mod console;
mod content;
mod databases;
mod decisions;
mod deletions;
mod delivery;
mod people;
mod store;
mod tenancy;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod transactions;

pub use commits::{audit, revision_changes, revisions};
pub use console::{session_links, sessions};
pub use content::{
    bulk, conditions, content_size, drafts, plan_records, policies, proposals, resolver_locations,
    resolvers, resources, roles, rules, shadows, tenant_cases, types, verbs,
};
pub use databases::changes;
pub use decisions::{
    decision_erasures, decision_files, decision_uploads, denied_persons, record_answers,
};
pub use deletions::{erased_denials, erasure, retention};
pub use delivery::{attempts, deliveries, delivery_queues, events, jobs, webhooks};
pub use people::{entities, relations, syncs};
pub use tenancy::{encryption, providers, secrets, service_keys, tenant_settings, tenants};

pub use commits::commit::Committed;
pub use databases::hosts::is_secret_parameter;
pub use databases::notices::{EntitiesNotice, MAX_PAYLOAD, Notice, Notices, RevisionNotice};
pub use store::standbys::{ReadSource, must_follow};
pub use store::{Store, StoreLimits};
pub use transactions::error::{OpenError, StoreError};
pub use transactions::history::{HistoryPosition, REMEMBERED_COMMITS, epoch};
pub use transactions::row_streams::Records;
pub use transactions::tx::{Tx, WebhookWrites};
pub use transactions::write_turn::WriteTurn;

#[cfg(test)]
mod tests;
