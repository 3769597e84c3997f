//! The relations of types that two folders define in different ways.

use std::collections::BTreeMap;

use portcullis_bundle::Bundle;
use portcullis_model::relation_declaration::RelationDeclaration;
use serde::Serialize;

/// A relation of a type, with the definition of each folder; `None` where a folder has none.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct RelationChange {
    #[serde(rename = "type")]
    pub kind: String,
    pub relation: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Returns the relations whose definitions differ, in the order of types and names.
pub(super) fn changes(before: &Bundle, after: &Bundle) -> Vec<RelationChange> {
    let mut all: BTreeMap<(&str, &str), [Option<String>; 2]> = BTreeMap::new();
    for (side, bundle) in [before, after].into_iter().enumerate() {
        for declared in bundle.types.iter().flatten() {
            for (name, relation) in &declared.relations {
                all.entry((&declared.kind, name)).or_default()[side] = Some(shown(relation));
            }
        }
    }
    let changed = all.into_iter().filter(|(_, [before, after])| before != after);
    let changes = changed.map(|((kind, relation), [before, after])| RelationChange {
        kind: kind.to_owned(),
        relation: relation.to_owned(),
        before,
        after,
    });
    changes.collect()
}

/// Returns a definition as a file has it: its line, or its members.
fn shown(RelationDeclaration(definition): &RelationDeclaration) -> String {
    let json = definition.to_json();
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

impl RelationChange {
    /// Returns the change as a line of a report.
    pub(super) fn line(&self) -> String {
        let Self { kind, relation, before, after } = self;
        let what = format!("relation `{relation}` of `{kind}`");
        match (before, after) {
            (Some(before), Some(after)) => format!("{what}: `{after}`, was `{before}`"),
            (None, Some(after)) => format!("{what} is new: `{after}`"),
            (Some(before), None) => format!("{what} is gone: it was `{before}`"),
            (None, None) => what,
        }
    }
}
