//! Entities of the directory (`docs/semantics.md`, section 12).

mod bodies;
mod entity_body;
mod new_entity;
mod patch;
mod record;

pub use bodies::{EntitiesBody, MAX_ENTITIES, SyncBody, SyncPart};
pub use entity_body::EntityBody;
pub use new_entity::{DomainRoles, MAX_ID, MAX_TYPE, NewEntity, Properties, is_type};
pub(crate) use new_entity::{MAX_PROPERTY_NAME, entity_type};
pub use patch::EntityPatch;
pub use record::SourceName;
pub use record::{EntityRecord, WrittenEntities};

#[cfg(test)]
mod tests;
