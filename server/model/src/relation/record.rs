//! Stored tuples, and the answers to writes of them.

use serde::Serialize;
use utoipa::ToSchema;

use super::new_tuple::NewTuple;
use crate::Timestamp;

/// A tuple as the store keeps it and the API shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(examples(json!({
    "object": "document:d7",
    "relation": "viewer",
    "subject": "group:eng",
    "subject_relation": "member",
    "expires_at": null,
    "source": "hr",
    "updated_at": "2026-05-16T09:30:00.000Z",
})))]
pub struct TupleRecord {
    /// `<type>:<id>`
    pub object: String,
    pub relation: String,
    /// `<type>:<id>`; `<type>:*` is everybody of the type.
    pub subject: String,
    /// All who have this relation to the subject are meant, and not the subject itself.
    #[schema(required)]
    pub subject_relation: Option<String>,
    /// The instant from which on the tuple does not count.
    #[schema(required)]
    pub expires_at: Option<Timestamp>,
    /// The job that wrote the tuple last, if it was one.
    #[schema(required)]
    pub source: Option<String>,
    pub updated_at: Timestamp,
    /// The place in the order of lists, as cursors have it.
    #[serde(skip)]
    pub place: String,
}

/// The effect of a call on one tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TupleResult {
    /// It is new or changed.
    Written,
    /// It was as it was sent.
    Unchanged,
    /// It was there.
    Deleted,
    /// There was none to delete.
    Absent,
}

/// A tuple that a call wrote or deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TupleWrite {
    pub object: String,
    pub relation: String,
    pub subject: String,
    #[schema(required)]
    pub subject_relation: Option<String>,
    pub result: TupleResult,
}

impl TupleWrite {
    /// Returns what a call did with `tuple`.
    pub fn new(tuple: &NewTuple, result: TupleResult) -> Self {
        Self {
            object: tuple.object.to_string(),
            relation: tuple.relation.clone(),
            subject: tuple.subject.to_string(),
            subject_relation: tuple.subject_relation.clone(),
            result,
        }
    }
}

/// The answer to a write of tuples.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(examples(json!({"written": 2, "unchanged": 0, "deleted": 1, "absent": 0, "entities_revision": 41})))]
pub struct WrittenRelations {
    /// The tuples that are new or changed.
    pub written: u64,
    /// The tuples that were as they were sent.
    pub unchanged: u64,
    pub deleted: u64,
    /// The tuples that were not there to be deleted.
    pub absent: u64,
    /// The revision of the directory that includes the call.
    pub entities_revision: u64,
    /// Each tuple with what was done, the tuples of `write` first, if the query asks for details.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub results: Option<Vec<TupleWrite>>,
}

/// The answer to a deletion of tuples by a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(examples(json!({"deleted": 12, "more": false, "entities_revision": 42})))]
pub struct DeletedRelations {
    pub deleted: u64,
    /// Whether further tuples fit the filter: the same call deletes the next ones.
    pub more: bool,
    /// The revision of the directory that includes the call.
    pub entities_revision: u64,
}
