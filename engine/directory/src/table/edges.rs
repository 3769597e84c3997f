//! A set of edges that can be walked in both ways.

use super::edge::{Edge, EdgeKey, Way};
use super::lists::{EdgeLists, Word, leads_to};
use super::moment::Expiries;
use super::nodes::Node;

/// An immutable set of edges.
#[derive(Default)]
pub(super) struct EdgeSet {
    forward: EdgeLists,
    back: EdgeLists,
    pub(super) expiries: Expiries,
    pub(super) len: usize,
}

impl EdgeSet {
    /// Makes the set of sorted edges without duplicates. `dense` is the number of nodes, if most have edges.
    pub(super) fn new(edges: Vec<Edge>, mut expiries: Expiries, dense: Option<u32>) -> Self {
        expiries.shrink_to_fit();
        // The edges are sorted by their objects, so that only the way back is sorted anew.
        let forward = EdgeLists::new(&words(&edges, &expiries, Way::Forward), dense);
        let mut back = words(&edges, &expiries, Way::Back);
        back.sort_unstable_by_key(|(from, key, word)| (*from, *key, word.node()));
        let back = EdgeLists::new(&back, dense);
        Self { forward, back, expiries, len: edges.len() }
    }

    #[inline]
    pub(super) fn lists(&self, way: Way) -> &EdgeLists {
        match way {
            Way::Forward => &self.forward,
            Way::Back => &self.back,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.forward.is_empty()
    }

    pub(super) fn has(&self, edge: Edge) -> bool {
        leads_to(self.forward.for_key(edge.object, edge.key), edge.subject).is_some()
    }

    /// Returns every edge, in the order of objects if most nodes have edges.
    pub(super) fn iter(&self) -> impl Iterator<Item = Edge> {
        let all = self.forward.iter();
        all.map(|(object, key, word)| Edge { object, key, subject: word.node() })
    }

    /// Returns the heap bytes.
    pub(super) fn weight(&self) -> usize {
        self.forward.weight() + self.back.weight() + self.expiries.allocation_size()
    }
}

/// Returns the edges as one way has them: the node from which they lead, their key, and their word.
fn words(edges: &[Edge], expiries: &Expiries, way: Way) -> Vec<(Node, EdgeKey, Word)> {
    let words = edges.iter().map(|edge| {
        let expires = !expiries.is_empty() && expiries.contains_key(edge);
        match way {
            Way::Forward => (edge.object, edge.key, Word::new(edge.subject, expires)),
            Way::Back => (edge.subject, edge.key.turned(), Word::new(edge.object, expires)),
        }
    });
    words.collect()
}
