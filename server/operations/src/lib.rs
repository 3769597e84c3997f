//! The use cases of the service. A handler, a command and the development mode call the same function.
//!
//! A use case takes the wired service, the verified caller and parsed input. It returns a plain result or an
//! [`OperationError`](portcullis_runtime::error::OperationError). A function that takes a transaction is a part of several use
//! cases.

mod admin;
pub mod apply;
mod ask;
mod changes;
mod content;
mod decide;
pub mod drafts;
mod people;
mod record;
pub mod sessions;

pub use admin::{
    audit, datetimes_as_texts, key_holders, secrets, service_keys, tenant_states, tenants,
};
pub use ask::{filters, matrices, permissions, search, try_out};
pub use changes::{etag, ownership, written};
pub use content::{
    conditions, content_at, content_rulebook, policies, registration, resolvers, resources,
    revisions, roles, rules, tenant_content, types, webhooks,
};
pub use decide::{
    assumed, batch_checks, batch_items, checks, explained_checks, hints, probe, recorded_checks,
};
pub use people::{directory, entities, folder_data, tuples};
pub use record::{decisions, replays};
