//! The content of a tenant: the use cases of each kind of record, and the content read whole, also of an earlier revision.

pub(crate) mod bound;
pub mod conditions;
pub mod content_at;
pub mod content_rulebook;
pub(crate) mod kinds;
pub mod policies;
pub mod registration;
pub mod resolvers;
pub mod resources;
pub mod revisions;
pub mod roles;
pub mod rules;
pub(crate) mod stored_guards;
pub(crate) mod stored_settings;
pub mod tenant_content;
pub mod types;
mod warnings;
pub mod webhooks;
