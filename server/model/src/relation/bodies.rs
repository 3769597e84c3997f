//! The bodies that write tuples.

use std::collections::HashSet;

use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::{Invalid, Json};
use serde_json::json;

use super::new_tuple::NewTuple;
use crate::entity::{SourceName, SyncPart};
use crate::fields::at_most;
use crate::input::{self, DeclaredBody, Field, Members, field};
use crate::{document, schema};

/// Most tuples of one call. Other writes of the tenant wait for its transaction.
pub const MAX_TUPLES: usize = 1_000;

/// The body of `POST /api/v1/relations`.
#[derive(Debug)]
pub struct RelationsBody {
    /// Tuples to write. Of those that differ in their expiry alone the last one counts.
    pub write: Vec<NewTuple>,
    /// Tuples to delete, none of them in `write`.
    pub delete: Vec<NewTuple>,
    /// The job that keeps the written tuples up to date, if there is one.
    pub source: Option<String>,
}

impl RelationsBody {
    /// Reads a request body.
    ///
    /// # Errors
    /// Every fault, by JSON pointer.
    pub fn parse(json: &Json<'_>) -> Result<Self, Invalid> {
        let body = input::parse(json, Self::declare)?;
        let (mut problems, root) = (Problems::default(), Place::root());
        body.check(&root, &mut problems);
        problems.finish(Some(body))
    }

    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let about = "Tuples to insert, or to give another expiry";
        let write = members.optional("write", tuples().about(about));
        let delete = members.optional("delete", tuples().about("Tuples to delete"));
        let source = SourceName::field().about("The job that keeps the written tuples up to date");
        let source = members.optional("source", source);
        Some(Self { write: write.unwrap_or_default(), delete: delete.unwrap_or_default(), source })
    }

    /// Notes too many tuples, and those that are both written and deleted.
    fn check(&self, at: &Place<'_>, problems: &mut Problems) {
        if self.write.len() + self.delete.len() > MAX_TUPLES {
            let what = format!("at most {MAX_TUPLES} tuples in `write` and `delete` together");
            problems.expected(at, what);
        }
        // The keys have no expiry, so a tuple cannot be deleted and written with another one either.
        let written: HashSet<_> = self.write.iter().map(NewTuple::key).collect();
        for (index, tuple) in self.delete.iter().enumerate() {
            if written.contains(&tuple.key()) {
                let what = "a tuple that is not in `write`, too";
                problems.expected(&at.key("delete").index(index), what);
            }
        }
    }
}

document!(RelationsBody, naming NewTuple => {
    input::describe(RelationsBody::declare).about("Tuples to write and to delete").example(json!({
        "write": [{"object": "document:d7", "relation": "viewer", "subject": "user:ann"}],
        "delete": [{"object": "document:d7", "relation": "viewer", "subject": "user:bob"}],
    }))
});

/// The body of `POST /api/v1/relations/sync`.
#[derive(Debug)]
pub struct RelationsSyncBody {
    pub part: SyncPart,
    /// At most 1,000. Of those that differ in their expiry alone the last one counts.
    pub relations: Vec<NewTuple>,
}

impl DeclaredBody<'_> for RelationsSyncBody {
    fn declare(members: &mut Members<'_, '_>) -> Option<Self> {
        let relations = members.optional("relations", tuples());
        // The tuples are read before this returns early, so that their faults are noted too.
        let part = SyncPart::declare(members)?;
        Some(Self { part, relations: relations.unwrap_or_default() })
    }
}

document!(RelationsSyncBody, naming NewTuple => {
    input::describe(RelationsSyncBody::declare)
        .about("A part of a full sync of tuples, or the whole of it")
        .example(json!({
            "source": "hr",
            "relations": [{"object": "group:eng", "relation": "member", "subject": "user:ann"}],
            "finish": true,
        }))
});

/// Tuples, as many as one call may have.
pub fn tuples<'j>() -> impl Field<'j, Value = Vec<NewTuple>> {
    field(read_tuples, || {
        schema::list(schema::named::<NewTuple>())
            .max_items(Some(MAX_TUPLES))
            .description(Some("A tuple that is there twice counts once"))
    })
}

fn read_tuples(json: &Json<'_>, at: &Place<'_>, problems: &mut Problems) -> Option<Vec<NewTuple>> {
    at_most(MAX_TUPLES, "tuples", NewTuple::read)(json, at, problems)
}
