//! Entities as the database gives them to keep them in memory.

use portcullis_engine::entities::{EntityChange, EntityInput};
use portcullis_engine::{Json, json};

use super::found::StoredEntity;
use crate::transactions::error::StoreError;
use crate::transactions::stored_records::Columns;

/// An entity. The texts of its content are JSON.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntityRow<'t> {
    pub(super) kind: &'t str,
    pub(super) id: &'t str,
    pub(super) roles: &'t str,
    pub(super) domain_roles: &'t str,
    pub(super) properties: &'t str,
}

impl<'t> EntityRow<'t> {
    /// Returns the entity of a stored row.
    pub(super) fn from_stored(stored: &'t StoredEntity) -> Self {
        Self {
            kind: &stored.kind,
            id: &stored.id,
            roles: &stored.roles,
            domain_roles: &stored.domain_roles,
            properties: &stored.properties,
        }
    }

    pub(super) fn read(columns: &mut Columns<'t>) -> Option<Self> {
        Some(Self {
            kind: columns.next()?,
            id: columns.next()?,
            roles: columns.next()?,
            domain_roles: columns.next()?,
            properties: columns.next()?,
        })
    }
}

/// Reads a column; `what` names it in errors.
fn parse<'t>(text: &'t str, what: &'static str) -> Result<Json<'t>, StoreError> {
    json::parse(text.as_bytes()).map_err(StoreError::corrupt(what))
}

/// An entity with its content as trees.
pub(super) struct ParsedRow<'t> {
    row: EntityRow<'t>,
    roles: Json<'t>,
    domain_roles: Json<'t>,
    properties: Json<'t>,
}

impl<'t> ParsedRow<'t> {
    /// Reads the content of `row`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]
    pub(super) fn parse(row: EntityRow<'t>) -> Result<Self, StoreError> {
        Ok(Self {
            row,
            roles: parse(row.roles, "entities.roles")?,
            domain_roles: parse(row.domain_roles, "entities.domain_roles")?,
            properties: parse(row.properties, "entities.properties")?,
        })
    }

    /// Returns the entity as a table takes it.
    pub(super) fn input(&self) -> EntityInput<'_> {
        EntityInput {
            entity_type: self.row.kind,
            id: self.row.id,
            roles: self.roles.as_array().unwrap_or_default(),
            domain_roles: self.domain_roles.as_object().unwrap_or_default(),
            properties: self.properties.as_object().unwrap_or_default(),
        }
    }

    /// Returns the change of a table that `changed`, the source of this row, makes.
    pub(super) fn change(&self, changed: &StoredEntity) -> EntityChange<'_> {
        match changed.is_deleted {
            true => EntityChange::Remove { entity_type: self.row.kind, id: self.row.id },
            false => EntityChange::Put(self.input()),
        }
    }
}
