//! The bodies that write entities.

use std::collections::HashMap;

use portcullis_engine::Json;
use portcullis_engine::invalid::{Place, Problems};
use serde_json::json;
use uuid::Uuid;

use super::new_entity::NewEntity;
use super::record::SourceName;
use crate::fields::{at_most, boolean, id};
use crate::input::{self, DeclaredBody, Field, Members, field};
use crate::{document, schema};

/// Most entities of one call. Other writes of the tenant wait for its transaction.
pub const MAX_ENTITIES: usize = 1_000;

/// The body of `PUT /api/v1/entities`.
#[derive(Debug)]
pub struct EntitiesBody {
    /// At most 1,000, no two of one type and id.
    pub entities: Vec<NewEntity>,
    /// The job that keeps the entities up to date, if there is one.
    pub source: Option<String>,
}

impl DeclaredBody<'_> for EntitiesBody {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let source = SourceName::field().about("The job that keeps these entities up to date");
        let entities = members.required("entities", entities());
        let source = members.optional("source", source);
        Some(Self { entities: entities?, source })
    }
}

document!(EntitiesBody, naming NewEntity => {
    input::describe(EntitiesBody::declare).about("Entities to insert or to replace").example(json!({
        "entities": [
            {"type": "user", "id": "alice", "roles": ["doctor"], "properties": {"ward": "er"}},
            {"type": "chart", "id": "c-17", "properties": {"ward": "er"}},
        ],
    }))
});

/// A part of a full sync: what it says beside its records.
#[derive(Debug)]
pub struct SyncPart {
    /// The job whose records are replaced.
    pub source: String,
    /// The sync that the call continues; `None` begins one.
    pub sync: Option<Uuid>,
    /// Whether the call is the last one, which deletes what the sync did not name.
    pub finish: bool,
    /// Whether it may delete more than the settings of the tenant allow.
    pub allow_deletes: bool,
}

impl SyncPart {
    pub(crate) fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let source = SourceName::field().about("The job whose records are replaced");
        let source = members.required("source", source);
        let sync = id().about("The sync that the call continues; absent, it begins one");
        let sync = members.optional("sync", sync);
        let about = "Whether the records of the source that the sync did not name are deleted now";
        let finish = members.optional("finish", boolean().default_is(false).about(about));
        let about =
            "Whether the end of the sync may delete more than `max_deletes` of the settings allows";
        let allow_deletes = boolean().default_is(false).about(about);
        let allow_deletes = members.optional("allow_deletes", allow_deletes);
        Some(Self {
            source: source?,
            sync,
            finish: finish.unwrap_or(false),
            allow_deletes: allow_deletes.unwrap_or(false),
        })
    }
}

/// The body of `POST /api/v1/entities/sync`.
#[derive(Debug)]
pub struct SyncBody {
    pub part: SyncPart,
    /// At most 1,000, no two of one type and id.
    pub entities: Vec<NewEntity>,
}

impl DeclaredBody<'_> for SyncBody {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let entities = members.optional("entities", entities());
        // The entities are read before this returns early, so that their faults are noted too.
        let part = SyncPart::declare(members)?;
        Some(Self { part, entities: entities.unwrap_or_default() })
    }
}

document!(SyncBody, naming NewEntity => {
    input::describe(SyncBody::declare)
        .about("A part of a full sync, or the whole of it")
        .example(json!({
            "source": "hr",
            "entities": [{"type": "user", "id": "alice", "roles": ["doctor"]}],
            "finish": true,
        }))
});

fn entities<'j>() -> impl Field<'j, Value = Vec<NewEntity>> {
    field(read_entities, || {
        schema::list(schema::named::<NewEntity>())
            .max_items(Some(MAX_ENTITIES))
            .description(Some("No type and id may be there twice"))
    })
}

/// Reads entities whose types and ids differ.
fn read_entities(
    json: &Json<'_>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<Vec<NewEntity>> {
    let entities = at_most(MAX_ENTITIES, "entities", NewEntity::read)(json, at, problems)?;
    let mut known = HashMap::with_capacity(entities.len());
    for (index, entity) in entities.iter().enumerate() {
        // The later entity has the fault, and a third one is compared with the second.
        if let Some(first) = known.insert((&*entity.kind, &*entity.id), index) {
            let what = format!("each type and id once, but entity {first} has it, too");
            problems.expected(&at.index(index).key("id"), what);
        }
    }
    Some(entities)
}
