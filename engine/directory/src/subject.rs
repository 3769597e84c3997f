//! A subject of questions, with its closure.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::claim::UnknownClaim;
use crate::closure::{Closure, ClosureKey};
use crate::closures::{AskedSubject, ClaimedObjects};
use crate::combined::GraphBuffer;
use crate::derivation::Derivation;
use crate::graph::Graph;
use crate::max_work::{MAX_EDGES, MaxWork};
use crate::schema::{RelationId, TypeId};
use crate::table::{Moment, Node, Object};

/// A subject whose relations are asked for at one instant.
#[derive(Clone, Debug)]
pub struct GraphSubject<'g> {
    pub(crate) graph: &'g Graph,
    /// `None` for a subject of a type that is not declared: it has no relations.
    pub(crate) closure: Option<Arc<Closure>>,
    /// The claims that could make it a member of any object.
    pub(crate) unknown: Vec<UnknownClaim>,
    pub(crate) now: DateTime<Utc>,
}

impl GraphSubject<'_> {
    /// Returns the first unknown claim on which a relation depends.
    pub(crate) fn doubted(&self, relation: RelationId) -> Option<UnknownClaim> {
        let schema = &self.graph.schema;
        if self.unknown.is_empty() || !schema.reach(relation.term()).has_claims {
            return None;
        }
        let cone = schema.cone(relation.term());
        self.unknown.iter().find(|claim| cone[claim.relation.term() as usize]).copied()
    }

    /// Returns whether what is known of claims does not tell to whom the relation certainly is: one stands behind a `!`.
    pub(crate) fn has_negated_doubts(&self, relation: RelationId) -> bool {
        let negates = self.graph.schema.reach(relation.term()).negates_claims;
        negates && self.doubted(relation).is_some()
    }
}

/// The reason why nobody can say whether a subject has a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndeterminedRelation {
    /// The question looks at more than [`MAX_EDGES`] edges.
    TooManyEdges,
    /// All relations of the check look at more than [`MAX_EDGES_OF_CHECK`] edges.
    ///
    /// [`MAX_EDGES_OF_CHECK`]: crate::MAX_EDGES_OF_CHECK
    CheckIsSpent,
    /// The claim could give it, and what it says is not known.
    Claim(UnknownClaim),
}

/// The claims that a subject's own token has.
#[derive(Clone, Copy, Debug, Default)]
pub struct SubjectClaims<'c> {
    /// The objects that claims list.
    pub listed: &'c [ClaimedObjects<'c>],
    /// The claims that do not say which they are.
    pub unknown: &'c [UnknownClaim],
}

impl Graph {
    /// Finds everything that stands for a subject at `now`, or takes it from what is kept. The id `*` is not a subject.
    pub fn subject(
        &self,
        subject: Object<'_>,
        claims: SubjectClaims<'_>,
        now: DateTime<Utc>,
        buffer: &mut GraphBuffer,
    ) -> GraphSubject<'_> {
        let of_nobody = GraphSubject { graph: self, closure: None, unknown: Vec::new(), now };
        // With the whole bound there is always a subject.
        self.subject_within(subject, claims, (now, MAX_EDGES), buffer).unwrap_or(of_nobody)
    }

    /// Finds a subject as [`Self::subject`] does. `None` if nothing is kept and it takes a look at more than `max_edges` edges,
    /// which are fewer than those of any check.
    pub(crate) fn subject_within(
        &self,
        subject: Object<'_>,
        claims: SubjectClaims<'_>,
        (now, max_edges): (DateTime<Utc>, usize),
        buffer: &mut GraphBuffer,
    ) -> Option<GraphSubject<'_>> {
        let unknown = claims.unknown.to_vec();
        let Some(subject_type) = self.schema.type_id(subject.object_type) else {
            return Some(GraphSubject { graph: self, closure: None, unknown, now });
        };
        let asked = AskedSubject { subject_type, id: subject.id, claims: claims.listed };
        let closure = match self.closures.get(&asked, now) {
            Some(closure) => closure,
            None => {
                let closure = Arc::new(self.close(&asked, (now, max_edges), buffer));
                // This bound is lower than that of a check elsewhere, for which the closure may be small enough.
                if closure.edges.is_none() && max_edges < MAX_EDGES {
                    return None;
                }
                // One that is too large for any check is kept as well: the next check need not find that out.
                self.closures.insert(Arc::clone(&closure));
                closure
            }
        };
        Some(GraphSubject { graph: self, closure: Some(closure), unknown, now })
    }

    pub(crate) fn close(
        &self,
        asked: &AskedSubject<'_>,
        (now, max_edges): (DateTime<Utc>, usize),
        buffer: &mut GraphBuffer,
    ) -> Closure {
        let key = ClosureKey {
            subject_type: asked.subject_type,
            id: asked.id.into(),
            claims: asked.claims().map(|(relation, id)| (relation, id.into())).collect(),
        };
        let mut closure = self.unclosed(key);
        let moment = self.fill(&mut closure, (Moment::new(now), max_edges), true, buffer);
        closure.valid = (now, moment.until());
        closure
    }

    /// Returns a closure without members.
    pub(crate) fn unclosed(&self, key: ClosureKey) -> Closure {
        Closure::new(
            key,
            |relation| self.schema.type_id_of(relation),
            |type_id, id| self.find(type_id, id),
        )
    }

    /// Finds the members of a closure. Without negations they are all that could be members.
    pub(crate) fn fill(
        &self,
        closure: &mut Closure,
        (moment, max_edges): (Moment, usize),
        has_negations: bool,
        GraphBuffer { instances, derivation: memory, .. }: &mut GraphBuffer,
    ) -> Moment {
        instances.clear();
        let limits = (moment, MaxWork::new(max_edges));
        let mut derivation =
            Derivation::new(self, self.schema.closure(), instances, memory, limits);
        derivation.has_negations = has_negations;
        let own = self.seeds(closure.key.subject_type, &closure.key.id);
        let is_complete = derivation.derive(&own, &closure.claimed).is_some();
        closure.edges = is_complete.then(|| max_edges - derivation.left.edges);
        let moment = derivation.moment;
        let usersets = if is_complete { &memory.usersets[..] } else { &[] };
        let usersets = usersets.iter().map(|(relation, node)| (Some(*relation), *node));
        closure.set_members(own.into_iter().map(|node| (None, node)).chain(usersets).collect());
        moment
    }

    /// Returns the nodes that stand for a subject in tuples without a subject relation: itself, and everybody of its type.
    fn seeds(&self, subject_type: TypeId, id: &str) -> Vec<Node> {
        let nodes = [self.find(subject_type, id), self.everyone(subject_type)];
        let mut own: Vec<Node> = nodes.into_iter().flatten().collect();
        // A search asks for the subject `*`, which has the node of everybody.
        own.dedup();
        own
    }
}
