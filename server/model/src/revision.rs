//! Revisions of a tenant's content, and what they changed (`docs/semantics.md`, section 16).

use std::time::Duration;

use portcullis_engine::Json;
use portcullis_engine::invalid::{Place, Problems};
use serde::Serialize;
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;
use utoipa::openapi::schema::ObjectBuilder;

use crate::apply::PlannedChange;
use crate::audit::{ChangeAuthor, ChangeSource};
use crate::fields::short;
use crate::input::{self, DeclaredBody, Field, Members, field};
use crate::{Timestamp, document, schema};

/// The way the revision was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema, EnumString, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", const_into_str)]
pub enum RevisionVia {
    /// A route of one kind of record.
    Api,
    /// An apply.
    Apply,
    /// The restoration of an earlier revision.
    Restore,
    /// The publication of a draft.
    Draft,
    /// The content from before the history began.
    Import,
    /// The service itself.
    Service,
}

/// A revision as the store keeps it and the API lists it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "revision": 813,
    "at": "2026-05-16T09:30:00.000Z",
    "actor": "ines-admin",
    "credential": "service_key",
    "key": "019e301f-05c0-7a4e-9c1b-5f0e8d3a7b69",
    "key_name": "deploy",
    "via": "apply",
    "message": "raise the priority of vip-record",
    "source": {"commit": "3f2c", "ref": "main", "url": null, "message": "raise the priority of vip-record"},
    "request_id": "019e3020-2ac4-7d54-8f0b-2c4b1a9d6e70",
    "count": 1,
})))]
pub struct RevisionRecord {
    pub revision: u64,
    pub at: Timestamp,
    #[serde(flatten)]
    pub author: ChangeAuthor,
    pub via: RevisionVia,
    /// The words of who applied it.
    #[schema(required)]
    pub message: Option<String>,
    /// The origin of the apply that made it.
    #[schema(required)]
    pub source: Option<ChangeSource>,
    #[schema(required)]
    pub request_id: Option<String>,
    /// The number of records that changed.
    pub count: i64,
}

/// Reads the number of a revision.
pub fn read_revision(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<u64> {
    let number = match json {
        // The text of a fraction or of a negative number does not parse as an unsigned integer.
        Json::Number(number) => number.to_string().parse().ok(),
        _ => None,
    };
    if number.is_none() {
        problems.expected(at, "a revision: an integer of at least 0");
    }
    number
}

/// The number of a revision.
pub fn revision<'j>() -> impl Field<'j, Value = u64> {
    field(read_revision, revision_schema)
}

/// Returns the schema of the number of a revision.
pub(crate) fn revision_schema() -> ObjectBuilder {
    schema::integer(0, i64::MAX)
}

/// The revision whose rules decide a search or a matrix.
pub(crate) fn at_revision<'j>() -> impl Field<'j, Value = u64> {
    field(read_revision, || {
        revision_schema().description(Some("The revision whose rules decide; for managers"))
    })
}

/// Longest message of a restoration, in characters.
const MAX_MESSAGE: usize = 1_024;

/// The body of `POST /api/v1/revisions/{n}/restore`.
#[derive(Clone, Debug, Default)]
pub struct RestoreBody {
    pub message: Option<String>,
}

impl DeclaredBody<'_> for RestoreBody {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let message = short(MAX_MESSAGE).about("Why; the history shows it");
        Some(Self { message: members.optional("message", message) })
    }
}

document!(RestoreBody => {
    input::describe(RestoreBody::declare)
        .about("The words of who restores")
        .example(json!({"message": "back to before the release"}))
});

/// The change of a record between two revisions.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!(example_change())))]
pub struct RecordChange {
    /// The id; the name of a role or type; the tenant's id of settings and cases.
    pub record: String,
    #[serde(flatten)]
    pub change: PlannedChange,
    /// The change in one sentence.
    pub words: String,
}

fn example_change() -> Value {
    json!({
        "record": "019e301e-9d1a-7c1b-8a3f-3d2f6b1c7e01",
        "kind": "policy",
        "name": "vip-record",
        "action": "update",
        "fields": [{"path": "/priority", "before": 10, "after": 20}],
        "words": "policy `vip-record`: `priority` from 10 to 20",
    })
}

/// A page of changes.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "changes": [example_change()],
    "complete": true,
    "next": null,
})))]
pub struct RevisionChanges {
    pub changes: Vec<RecordChange>,
    /// Whether there are no further changes.
    pub complete: bool,
    /// The `cursor` of the next page.
    #[schema(required)]
    pub next: Option<String>,
}

/// A revision with its changes.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RevisionDetail {
    #[serde(flatten)]
    pub revision: RevisionRecord,
    #[serde(flatten)]
    pub changes: RevisionChanges,
}

/// The changes from one revision to another.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(examples(json!({
    "from": 812,
    "to": 813,
    "changes": [example_change()],
    "complete": true,
    "next": null,
})))]
pub struct RevisionDiff {
    pub from: u64,
    pub to: u64,
    #[serde(flatten)]
    pub changes: RevisionChanges,
}

/// A revision that changed a certain record, with this change.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RecordRevision {
    #[serde(flatten)]
    pub revision: RevisionRecord,
    pub change: RecordChange,
}

/// The revisions that are kept. The newest one of a tenant always is.
#[derive(Clone, Copy, Debug)]
pub struct HistoryRetention {
    /// The longest time that a revision is kept; `None` without a limit.
    pub age: Option<Duration>,
    /// The most bytes of the records before and after the changes of one tenant.
    pub bytes: u64,
}

impl Default for HistoryRetention {
    fn default() -> Self {
        Self { age: None, bytes: 256 * 1024 * 1024 }
    }
}
