//! Entities as the database gives them to keep them in memory.

use portcullis_engine::entities::{EntityChange, EntityInput};
use portcullis_engine::{Json, json};

use crate::error::StoreError;
use crate::macros::row;
use crate::stored_records::{Columns, Records};

row! {
    /// An entity that changed or is deleted. The texts of its content are JSON.
    #[derive(Debug)]
    pub(super) struct ChangedRow {
        pub(super) kind: String,
        pub(super) id: String,
        pub(super) roles: String,
        pub(super) domain_roles: String,
        pub(super) properties: String,
        pub(super) is_deleted: bool,
    }
}

impl ChangedRow {
    /// Returns the entity.
    pub(super) fn row(&self) -> EntityRow<'_> {
        EntityRow {
            kind: &self.kind,
            id: &self.id,
            roles: &self.roles,
            domain_roles: &self.domain_roles,
            properties: &self.properties,
        }
    }
}

/// Entities as one text. Any character may be in a type or an id, so each column has its length before it.
#[derive(Debug)]
pub(super) struct EntityPage(Records);

impl From<Option<String>> for EntityPage {
    /// Takes entities as one text, each with the columns of [`EntityRow`] in their order.
    fn from(text: Option<String>) -> Self {
        Self(Records::from(text))
    }
}

impl EntityPage {
    /// Returns each entity, in no order.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]
    pub(super) fn rows(&self) -> Result<Vec<EntityRow<'_>>, StoreError> {
        self.0.read(EntityRow::read, "entities")
    }
}

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
    fn read(columns: &mut Columns<'t>) -> Option<Self> {
        Some(Self {
            kind: columns.next()?,
            id: columns.next()?,
            roles: columns.next()?,
            domain_roles: columns.next()?,
            properties: columns.next()?,
        })
    }
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
    pub(super) fn of(row: EntityRow<'t>) -> Result<Self, StoreError> {
        let corrupt = |what| move |_| StoreError::Corrupt { what };
        let parse = |text: &'t str| json::parse(text.as_bytes());
        Ok(Self {
            row,
            roles: parse(row.roles).map_err(corrupt("entities.roles"))?,
            domain_roles: parse(row.domain_roles).map_err(corrupt("entities.domain_roles"))?,
            properties: parse(row.properties).map_err(corrupt("entities.properties"))?,
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
    pub(super) fn change(&self, changed: &ChangedRow) -> EntityChange<'_> {
        match changed.is_deleted {
            true => EntityChange::Remove { entity_type: self.row.kind, id: self.row.id },
            false => EntityChange::Put(self.input()),
        }
    }
}
