//! Relations in explanations of checks.

use std::fmt::Write as _;

use chrono::SecondsFormat;
use portcullis_directory::{
    Branch, EdgeOrigin, LookedAt, Object, PathEdge, RelationExplanation, Schema,
};
use portcullis_engine::ExplainedAttribute;
use portcullis_engine::entities::USER;
use portcullis_model::relation::{NewTuple, ObjectName};
use portcullis_storage::relations::TupleKey;
use serde::Serialize;

/// The source of an edge that the request has.
pub(crate) const REQUEST: &str = "request";

/// An attribute with what the graph says about it, if it is a relation.
#[derive(Debug, Serialize)]
pub struct AttributeWithRelation<'e> {
    #[serde(flatten)]
    pub attribute: ExplainedAttribute<'e>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub relation: Option<&'e ExplainedRelation>,
}

/// The reason why a subject has a relation to an object, or has not.
#[derive(Debug, Default, Serialize)]
pub struct ExplainedRelation {
    words: String,
    /// The edges by which the relation holds, from the object to the subject.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    path: Vec<ExplainedEdge>,
    /// The parts of a line with `&&` and `!`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    branches: Vec<ExplainedBranch>,
    /// False if there are more branches, or if finding them is too much work.
    complete: bool,
    /// The places that were looked at for a relation that does not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    looked_at: Option<ExplainedPlaces>,
}

#[derive(Debug, Serialize)]
struct ExplainedBranch {
    part: String,
    negated: bool,
    holds: bool,
    path: Vec<ExplainedEdge>,
}

/// An edge of a path.
#[derive(Debug, Serialize)]
pub(crate) struct ExplainedEdge {
    object: String,
    relation: String,
    subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject_relation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// `request`, `token`, or the source of the stored tuple if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
}

#[derive(Debug, Serialize)]
struct ExplainedPlaces {
    /// The number of usersets that the subject is in.
    groups: usize,
    /// The number of other objects to which relations of the object lead.
    ancestors: usize,
    /// The relations of these objects that have edges, each as `<type>.<relation>`.
    relations: Vec<String>,
    /// The first tuples that would have counted, but expired.
    expired: Vec<ExplainedEdge>,
}

impl ExplainedRelation {
    /// Returns the explanation as answers show it, or the reason why the relation is undetermined. Stored tuples have no source.
    pub fn new(explanation: Result<&RelationExplanation<'_>, &str>) -> Self {
        let explanation = match explanation {
            Ok(explanation) => explanation,
            Err(cause) => return Self { words: cause.to_owned(), ..Self::default() },
        };
        let holds = explanation.holds;
        // One part needs no list of parts: its path is the path of the relation.
        let (path, branches) = match &explanation.branches[..] {
            [branch] if holds => (&branch.path[..], &[][..]),
            branches => (&[][..], branches),
        };
        Self {
            words: words(explanation),
            path: path.iter().map(ExplainedEdge::from).collect(),
            branches: branches.iter().map(ExplainedBranch::from).collect(),
            complete: explanation.is_complete,
            looked_at: (!holds).then(|| (&explanation.looked_at).into()),
        }
    }
}

impl ExplainedRelation {
    /// Returns every edge that is shown.
    pub(crate) fn edges(&mut self) -> impl Iterator<Item = &mut ExplainedEdge> {
        let branches = self.branches.iter_mut().flat_map(|branch| &mut branch.path);
        let expired = self.looked_at.iter_mut().flat_map(|places| &mut places.expired);
        self.path.iter_mut().chain(branches).chain(expired)
    }
}

impl ExplainedEdge {
    /// Returns the key of the tuple, if the types have its relations.
    pub(crate) fn key(&self, schema: &Schema) -> Option<TupleKey> {
        let (object, subject) =
            (ObjectName::parse(&self.object)?, ObjectName::parse(&self.subject)?);
        let relation = schema.number(schema.relation(&object.kind, &self.relation)?);
        let subject_relation = match &self.subject_relation {
            Some(name) => Some(schema.number(schema.relation(&subject.kind, name)?)),
            None => None,
        };
        Some(TupleKey { object, relation, subject, subject_relation })
    }

    /// Returns whether it is the edge of a tuple.
    pub(crate) fn is(&self, tuple: &NewTuple) -> bool {
        self.object == tuple.object.to_string()
            && self.relation == tuple.relation
            && self.subject == tuple.subject.to_string()
            && self.subject_relation == tuple.subject_relation
    }
}

impl From<&Branch<'_>> for ExplainedBranch {
    fn from(branch: &Branch<'_>) -> Self {
        Self {
            part: branch.part.to_owned(),
            negated: branch.is_negated,
            holds: branch.holds,
            path: branch.path.iter().map(ExplainedEdge::from).collect(),
        }
    }
}

impl From<&PathEdge<'_>> for ExplainedEdge {
    fn from(edge: &PathEdge<'_>) -> Self {
        let [object, subject] = [edge.object, edge.subject]
            .map(|Object { object_type, id }| format!("{object_type}:{id}"));
        let expires_at = edge.expires_at.as_ref();
        Self {
            object,
            relation: edge.relation.to_owned(),
            subject,
            subject_relation: edge.subject_relation.map(str::to_owned),
            expires_at: expires_at.map(|at| at.to_rfc3339_opts(SecondsFormat::Millis, true)),
            source: match edge.origin {
                // Its source is looked up later, by the key of the tuple.
                EdgeOrigin::Tuple => None,
                EdgeOrigin::Request => Some(REQUEST.to_owned()),
                EdgeOrigin::Claim => Some("token".to_owned()),
            },
        }
    }
}

impl From<&LookedAt<'_>> for ExplainedPlaces {
    fn from(places: &LookedAt<'_>) -> Self {
        let relations = places.relations.iter().map(|(of, name)| format!("{of}.{name}"));
        Self {
            groups: places.usersets,
            ancestors: places.ancestors,
            relations: relations.collect(),
            expired: places.expired.iter().map(ExplainedEdge::from).collect(),
        }
    }
}

/// Says the answer in one sentence: why it is true, or which parts keep it from being true.
fn words(explanation: &RelationExplanation<'_>) -> String {
    let holds = explanation.holds;
    // A part with `!` speaks for the answer when it does not hold.
    let branches = explanation.branches.iter().filter(|one| (one.holds != one.is_negated) == holds);
    let reasons: Vec<String> = branches.map(|branch| branch_words(branch, holds)).collect();
    if reasons.is_empty() {
        let LookedAt { usersets, ancestors, .. } = explanation.looked_at;
        return format!("no path through {usersets} groups and {ancestors} ancestors");
    }
    reasons.join(", and ")
}

fn branch_words(Branch { part, holds, path, .. }: &Branch<'_>, is_reason: bool) -> String {
    match (holds, is_reason) {
        (true, true) => path_words(path),
        (true, false) => format!("`{part}` holds: {}", path_words(path)),
        (false, _) => format!("`{part}` does not hold"),
    }
}

/// Returns the edges of a path, from the subject to the object: `ann → member of group eng → viewer of folder f1`.
fn path_words(path: &[PathEdge<'_>]) -> String {
    let mut words = path.last().map(|edge| name(edge.subject)).unwrap_or_default();
    for edge in path.iter().rev() {
        // A text takes any other.
        let _ = write!(words, " → {} of {}", edge.relation, name(edge.object));
    }
    words
}

fn name(Object { object_type, id }: Object<'_>) -> String {
    match (object_type, id) {
        (_, "*") => format!("every {object_type}"),
        (USER, _) => id.to_owned(),
        _ => format!("{object_type} {id}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_said_from_the_subject_to_the_object() {
        let object = |object_type, id| Object { object_type, id };
        let edge = |object, relation, subject, origin| PathEdge {
            object,
            relation,
            subject,
            subject_relation: None,
            expires_at: None,
            origin,
        };
        let (d7, f1, eng) =
            (object("document", "d7"), object("folder", "f1"), object("group", "eng"));
        let path = [
            edge(d7, "parent", f1, EdgeOrigin::Request),
            edge(f1, "viewer", eng, EdgeOrigin::Tuple),
            edge(eng, "member", object("user", "ann"), EdgeOrigin::Tuple),
        ];
        let said = "ann → member of group eng → viewer of folder f1 → parent of document d7";
        assert_eq!(path_words(&path), said);
        let open = [edge(d7, "viewer", object("user", "*"), EdgeOrigin::Tuple)];
        assert_eq!(path_words(&open), "every user → viewer of document d7");
    }
}
