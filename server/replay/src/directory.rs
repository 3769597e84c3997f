//! The answers of the directory to the checks that are recorded, as entities.

use portcullis_engine::entities::{EntityInput, EntityTable, USER};
use portcullis_engine::{Json, KnownEntities};

use crate::inputs::RecordedInputs;

/// The type of the entities that stand for resources.
const RESOURCE: &str = "resource";

/// The entities of some records, by their places: a table for many of them takes a part of the time of many tables.
#[derive(Debug, Default)]
pub struct RecordedDirectory(Option<EntityTable>);

impl RecordedDirectory {
    /// Collects what the directory supplied to `records`.
    pub fn new(records: &[RecordedInputs<'_>]) -> Self {
        let mut builder = EntityTable::builder();
        let mut is_empty = true;
        for (place, record) in records.iter().enumerate() {
            for (entity_type, properties) in
                [(USER, record.directory.get("user")), (RESOURCE, record.directory.get("resource"))]
            {
                let Some(properties) = properties.and_then(Json::as_object) else { continue };
                let id = &*place.to_string();
                let (roles, domain_roles) = (&[][..], &[][..]);
                let entity = EntityInput { entity_type, id, roles, domain_roles, properties };
                // A table is full at four billion texts; records are read in parts.
                is_empty &= builder.push(&entity).is_err();
            }
        }
        match is_empty {
            true => Self(None),
            false => Self(builder.finish().ok()),
        }
    }

    /// Returns what the directory knew of the record at `place`.
    pub fn known(&self, place: usize) -> KnownEntities<'_> {
        let Some(table) = &self.0 else { return KnownEntities::default() };
        let id = &*place.to_string();
        let (subject, resource) = (table.get(USER, id), table.get(RESOURCE, id));
        KnownEntities { subject, resource, ..KnownEntities::default() }
    }
}
