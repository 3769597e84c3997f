//! Explanations: why a subject has a relation to an object, or has not.

mod answer;
mod costs;
mod ground;
mod proof;

use crate::combined::GraphBuffer;
use crate::instances::Instance;
use crate::max_work::MAX_EDGES;
use crate::resource::{FirstHop, Resource};
use crate::schema::RelationId;
use crate::subject::{GraphSubject, UndeterminedRelation};
use crate::table::Object;
use ground::Ground;
use proof::Proof;

pub use answer::{Branch, EdgeOrigin, LookedAt, PathEdge, RelationExplanation};

impl<'g> GraphSubject<'g> {
    /// Explains the answer of [`GraphSubject::has`]. Takes many times as long.
    pub fn explain<'e>(
        &'e self,
        relation: RelationId,
        id: &'e str,
        hops: &'e [FirstHop<'e>],
        buffer: &mut GraphBuffer,
    ) -> Result<RelationExplanation<'e>, UndeterminedRelation> {
        let (holds, mut left) = (self.has(relation, id, hops, buffer)?, usize::MAX);
        Ok(self.explain_answer((relation, id, hops), holds, &mut left, buffer))
    }

    /// Explains an answer. Takes the edges that it looks at from `left`.
    pub(crate) fn explain_answer<'e>(
        &'e self,
        (relation, id, hops): (RelationId, &'e str, &'e [FirstHop<'e>]),
        holds: bool,
        left: &mut usize,
        buffer: &mut GraphBuffer,
    ) -> RelationExplanation<'e> {
        let mut explanation = RelationExplanation { holds, ..RelationExplanation::default() };
        let (graph, Some(closure)) = (self.graph, &self.closure) else { return explanation };
        explanation.looked_at.usersets = closure.usersets();
        let type_id = graph.schema.type_id_of(relation);
        let object = Object { object_type: graph.schema.type_name(type_id), id };
        let node = graph.table.find(object).or_else(|| closure.unknown(type_id, id));
        let resource = Resource { node, hops };
        let Some(start) = resource.start() else { return explanation };
        // The ground begins with the closure of the subject.
        let Some(beside_closure) = left.checked_sub(MAX_EDGES) else {
            explanation.is_complete = false;
            return explanation;
        };
        let mut ground =
            Ground::new(graph, closure, self.now, (resource, object, beside_closure), buffer);
        let root = Instance { node: start, term: relation.term() };
        let expanded = ground.expand(root);
        // No more than is left: the closure looks at `MAX_EDGES` at most, and the rest at what is beside them.
        *left -= ground.looked_at_edges();
        if expanded.is_none() {
            explanation.is_complete = false;
            return explanation;
        }
        let costs = costs::costs(&ground.rules);
        let mut proof = Proof::new(&ground, &ground.rules, &costs);
        // The root was added first.
        if costs[0].is_some() {
            proof.holds()
        } else {
            proof.holds_not()
        }
        (explanation.branches, explanation.is_complete) = proof.finish();
        shorten(&ground, &mut explanation.branches);
        explanation.looked_at = ground.looked_at(explanation.looked_at);
        explanation
    }
}

/// A longer path is not shortened.
const MAX_SHORTENED: usize = 64;
/// A path among more instances is not shortened: each edge that is tried takes time for all of them.
const MAX_INSTANCES: usize = 1_000;

/// Leaves out edges of the only path, as long as the others are enough. The shortest path has such edges only if one edge can
/// stand for several: where it meets an object twice, or where two factors need the same edge.
fn shorten<'e>(ground: &Ground<'e>, branches: &mut Vec<Branch<'e>>) {
    let [Branch { path, .. }] = &branches[..] else { return };
    let is_large = path.len() > MAX_SHORTENED || ground.rules.len() > MAX_INSTANCES;
    let has_factors = ground.rules.iter().any(|rule| rule.is_all);
    if is_large || !(has_factors || meets_an_object_twice(path)) {
        return;
    }
    let mut rules = ground.with_only(&ground.rules, path);
    let mut place = 0;
    while let [Branch { path, .. }] = &branches[..]
        && let Some(left_out) = path.get(place)
    {
        // A path may use an edge twice.
        let others: Vec<_> = path.iter().filter(|edge| *edge != left_out).copied().collect();
        let fewer = ground.with_only(&rules, &others);
        let costs = costs::costs(&fewer);
        place += 1;
        if costs[0].is_some() {
            let mut proof = Proof::new(ground, &fewer, &costs);
            proof.holds();
            *branches = proof.finish().0;
            // The shortest path of what is left can be another one.
            (rules, place) = (fewer, 0);
        }
    }
}

fn meets_an_object_twice(path: &[PathEdge<'_>]) -> bool {
    let mut edges = path.iter().enumerate();
    edges.any(|(place, edge)| path[place..].iter().any(|other| other.subject == edge.object))
}
