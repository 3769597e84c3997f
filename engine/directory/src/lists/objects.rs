//! The objects of a subject: from the subject, layer by layer.

use roaring::RoaringBitmap;

use super::bitmaps::Bitmaps;
use crate::derivation::{Derivation, DerivationBuffer};
use crate::max_work::MaxWork;
use crate::schema::{RelationId, TermId, TypeId};
use crate::subject::GraphSubject;
use crate::table::{Moment, merged};

/// The objects to which a subject has a relation.
#[derive(Clone, Debug)]
pub struct ObjectList<'s> {
    subject: &'s GraphSubject<'s>,
    relation: RelationId,
    nodes: RoaringBitmap,
}

impl GraphSubject<'_> {
    /// Returns all objects to which the subject has `relation`, as if unknown claims gave none. Takes the edges that it looks at
    /// from `max_edges`. `None` if these are too few, or if a check is undetermined because too many edges stand for the
    /// subject.
    pub fn objects(&self, relation: RelationId, max_edges: &mut usize) -> Option<ObjectList<'_>> {
        let mut facts = self.facts(relation.term(), max_edges)?;
        Some(ObjectList { subject: self, relation, nodes: facts.take(relation.term()) })
    }

    /// Derives everything on which a term depends. Takes the edges that are looked at from `left`.
    pub(super) fn facts(&self, term: TermId, left: &mut usize) -> Option<Bitmaps> {
        let (graph, mut facts) = (self.graph, Bitmaps::new(&self.graph.schema));
        let Some(closure) = &self.closure else { return Some(facts) };
        if graph.schema.reach(term).has_usersets && closure.edges.is_none() {
            return None;
        }
        let (cone, mut memory) = (graph.schema.cone(term), DerivationBuffer::default());
        let limits = (Moment::new(self.now), MaxWork::new(*left));
        let mut derivation = Derivation::new(graph, &cone, &mut facts, &mut memory, limits);
        let derived = derivation.derive(closure.members(None), &closure.claimed);
        // Also if it fails: what was looked at is spent.
        *left = derivation.left.edges;
        derived?;
        Some(facts)
    }
}

impl ObjectList<'_> {
    /// Returns the ids in their order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let type_id = self.subject.graph.schema.type_id_of(self.relation);
        self.subject.ids(&self.nodes, type_id)
    }
}

impl GraphSubject<'_> {
    /// Returns the ids of the `nodes` that are of a type, in their order.
    pub(super) fn ids<'s>(
        &'s self,
        nodes: &RoaringBitmap,
        type_id: TypeId,
    ) -> impl Iterator<Item = &'s str> {
        let graph = self.graph;
        let stored = graph.table.ids_of_nodes(nodes, graph.schema.type_name(type_id));
        let unknown = self.closure.iter().flat_map(|closure| closure.unknown_nodes());
        let unknown = unknown.filter(|(node, own, _)| *own == type_id && nodes.contains(*node));
        let mut unknown: Vec<&str> = unknown.map(|(_, _, id)| id).collect();
        // `merged` takes lists that ascend.
        unknown.sort_unstable();
        merged(stored, unknown.into_iter())
    }
}
