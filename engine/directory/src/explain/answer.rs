//! The answer of an explanation.

use chrono::{DateTime, Utc};

use crate::table::Object;

/// The reason why a subject has a relation to an object, or has not.
#[derive(Clone, Debug)]
pub struct RelationExplanation<'e> {
    /// Whether it has.
    pub holds: bool,
    /// One path if the relation holds by one. Where a line combines parts by `&&` and `!`, one branch for each part,
    /// whether the relation holds or not.
    pub branches: Vec<Branch<'e>>,
    /// Whether there is no other branch. False if there are too many, or if finding them is too much work.
    pub is_complete: bool,
    /// The places that were looked at.
    pub looked_at: LookedAt<'e>,
}

impl Default for RelationExplanation<'_> {
    fn default() -> Self {
        Self {
            holds: false,
            branches: Vec::new(),
            is_complete: true,
            looked_at: LookedAt::default(),
        }
    }
}

/// A part of a line.
#[derive(Clone, Debug)]
pub struct Branch<'e> {
    /// The text of the part: the name of the relation, or a factor of its line.
    pub part: &'e str,
    /// Whether the part stands behind a `!`.
    pub is_negated: bool,
    /// Whether the part holds.
    pub holds: bool,
    /// The edges by which the part holds, from the object to the subject; empty if it does not.
    pub path: Vec<PathEdge<'e>>,
}

/// The places that were looked at for an answer.
#[derive(Clone, Debug, Default)]
pub struct LookedAt<'e> {
    /// The number of usersets that the subject is in.
    pub usersets: usize,
    /// The number of other objects to which relations of the object lead.
    pub ancestors: usize,
    /// The relations of the object and its ancestors that have edges: type and name, sorted.
    pub relations: Vec<(&'e str, &'e str)>,
    /// The first edges that would have counted, but expired.
    pub expired: Vec<PathEdge<'e>>,
}

/// An edge of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathEdge<'e> {
    /// The object.
    pub object: Object<'e>,
    /// The relation of the object.
    pub relation: &'e str,
    /// The subject, or an object to which the relation leads; the id `*` is everybody of the type.
    pub subject: Object<'e>,
    /// All who have this relation to the subject, instead of the subject itself.
    pub subject_relation: Option<&'e str>,
    /// The instant from which on the edge does not count.
    pub expires_at: Option<DateTime<Utc>>,
    /// The place that the edge comes from.
    pub origin: EdgeOrigin,
}

/// The place that an edge comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeOrigin {
    /// A stored tuple.
    Tuple,
    /// The request, as a first hop.
    Request,
    /// A claim of the token.
    Claim,
}
