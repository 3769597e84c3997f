//! Stored entities, and the answers to writes of them.

use portcullis_engine::fields::text as read_text;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::new_entity::{DomainRoles, Properties};
use crate::fields::owned;
use crate::input::Field;
use crate::{Timestamp, schema};

/// Longest name of a source, in characters.
const MAX_SOURCE: usize = 128;

/// The name of a job that keeps entities or tuples up to date.
#[derive(Debug)]
pub struct SourceName;

impl SourceName {
    /// The name in a body.
    pub fn field<'j>() -> impl Field<'j, Value = String> {
        owned(read_text(MAX_SOURCE), || schema::text(MAX_SOURCE))
    }
}

/// An entity as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[schema(examples(json!({
    "type": "user",
    "id": "alice",
    "roles": ["doctor"],
    "domain_roles": {"ws-1": ["owner"]},
    "properties": {"clearance": 3, "ward": "er"},
    "source": "hr",
    "updated_at": "2026-05-16T09:30:00.000Z",
})))]
pub struct EntityRecord {
    #[serde(rename = "type")]
    pub kind: String,
    pub id: String,
    pub roles: Vec<String>,
    #[schema(value_type = BTreeMap<String, Vec<String>>)]
    pub domain_roles: DomainRoles,
    #[schema(value_type = Object)]
    pub properties: Properties,
    /// The job that wrote the entity last, if it was one.
    #[schema(required)]
    pub source: Option<String>,
    pub updated_at: Timestamp,
}

/// The answer to a write of entities, or to a part of a sync of tuples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(examples(json!({"written": 2, "unchanged": 0, "deleted": 0, "entities_revision": 41})))]
pub struct WrittenEntities {
    /// The records that are new or changed.
    pub written: u64,
    /// The records that were as they were sent.
    pub unchanged: u64,
    /// The records that the end of a sync deleted.
    pub deleted: u64,
    /// The revision of the directory that includes the call.
    pub entities_revision: u64,
    /// The sync, if it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sync: Option<Uuid>,
}
