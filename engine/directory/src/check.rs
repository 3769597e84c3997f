//! Checks: has the subject the relation to the object?

use crate::combined::GraphBuffer;
use crate::instances::{Instance, POSSIBLE};
use crate::max_work::{MAX_EDGES, MaxWork};
use crate::resource::{FirstHop, Resource};
use crate::schema::RelationId;
use crate::subject::{GraphSubject, UndeterminedRelation};
use crate::table::{Moment, Object};
use crate::walk::Walk;

impl GraphSubject<'_> {
    /// Returns whether the subject has `relation` to the object `id` of the relation's type. `hops` are the edges of the
    /// object that the request has; they stand for its stored ones.
    ///
    /// # Errors
    /// More than [`MAX_EDGES`] edges would have to be looked at, including the edges of the subject's closure, or an unknown
    /// claim could change the answer.
    pub fn has(
        &self,
        relation: RelationId,
        id: &str,
        hops: &[FirstHop<'_>],
        buffer: &mut GraphBuffer,
    ) -> Result<bool, UndeterminedRelation> {
        let of_closure = self.edges_below(relation).ok_or(UndeterminedRelation::TooManyEdges)?;
        let mut left = MaxWork::new(MAX_EDGES);
        // A closure that is complete has at most `MAX_EDGES` edges.
        left.edges -= of_closure;
        self.has_within(relation, id, hops, &mut left, buffer)
    }

    /// Returns the number of edges of the closure, if `relation` needs it; `None` if they are too many.
    pub(crate) fn edges_below(&self, relation: RelationId) -> Option<usize> {
        let (schema, Some(closure)) = (&self.graph.schema, &self.closure) else { return Some(0) };
        if schema.reach(relation.term()).has_usersets { closure.edges } else { Some(0) }
    }

    /// Answers as [`Self::has`] does, within the work that is `left` beside the closure.
    pub(crate) fn has_within(
        &self,
        relation: RelationId,
        id: &str,
        hops: &[FirstHop<'_>],
        left: &mut MaxWork,
        buffer: &mut GraphBuffer,
    ) -> Result<bool, UndeterminedRelation> {
        let (graph, Some(closure)) = (self.graph, &self.closure) else { return Ok(false) };
        let has_claims = graph.schema.reach(relation.term()).has_claims;
        let mut walk = Walk {
            graph,
            closure,
            resource: Resource { node: None, hops },
            moment: Moment::new(self.now),
            left: *left,
            unknown: if has_claims { &self.unknown } else { &[] },
            doubted: None,
        };
        let type_id = graph.schema.type_id_of(relation);
        // Set afterwards, because `node` depends on what is unknown to the walk.
        walk.resource.node =
            walk.node(type_id, Object { object_type: graph.schema.type_name(type_id), id });
        let Some(node) = walk.resource.start() else { return Ok(false) };
        let root = Instance { node, term: relation.term() };
        let mut holds = walk.decide(root, buffer);
        let mut is_open = false;
        // What does not certainly hold could hold: it is asked again, as if each unknown claim could name any object.
        if holds == Some(false) && !walk.unknown.is_empty() {
            let possible = Instance { term: root.term | POSSIBLE, ..root };
            holds = walk.decide(possible, buffer);
            is_open = holds == Some(true);
        }
        *left = walk.left;
        match (holds, walk.doubted) {
            (Some(true), Some(claim)) if is_open => Err(UndeterminedRelation::Claim(claim)),
            (Some(holds), _) if !is_open => Ok(holds),
            _ => Err(UndeterminedRelation::TooManyEdges),
        }
    }
}

impl Walk<'_> {
    /// Decides an instance. `None` if it is too much work.
    fn decide(&mut self, root: Instance, buffer: &mut GraphBuffer) -> Option<bool> {
        let reach = self.graph.schema.reach(root.term & !POSSIBLE);
        // Where claims are unknown, the walk leads into usersets.
        let combines = if self.unknown.is_empty() { reach.has_all } else { reach.combines };
        match combines {
            false => self.any(root, &mut buffer.instances),
            true if self.has_plain_factors(root.term) => self.all(root, &mut buffer.instances),
            true => buffer.combined(self, root),
        }
    }
}
