//! Builds a table from tuples in any order.

use std::sync::Arc;

use super::edge::{Edge, EdgeKey};
use super::edges::EdgeSet;
use super::moment::Expiries;
use super::nodes::{Node, NodesBuilder};
use super::stored::{Base, TupleTable};
use super::tuple::{Tuple, TuplesFull};

/// The maximum number of tuples: the numbers of lists of edges need as many bits.
const MAX_TUPLES: usize = 1 << 29;

/// Builds a [`TupleTable`] from tuples in any order. The last of several equal tuples counts.
#[derive(Default)]
pub struct TupleTableBuilder {
    nodes: NodesBuilder,
    edges: Vec<Edge>,
    expiries: Expiries,
}

impl TupleTable {
    /// Returns a builder of a table.
    pub fn builder() -> TupleTableBuilder {
        TupleTableBuilder::default()
    }
}

impl TupleTableBuilder {
    /// Adds a tuple.
    ///
    /// # Errors
    /// [`TuplesFull`] if the table cannot hold it.
    pub fn push(&mut self, tuple: Tuple<'_>) -> Result<(), TuplesFull> {
        let key = EdgeKey::new(tuple.relation, tuple.subject_relation);
        let object = self.nodes.intern(tuple.object)?;
        let edge = Edge { object, key, subject: self.nodes.intern(tuple.subject)? };
        // The last of equal tuples counts, so that it also ends the expiry of the others.
        match tuple.expires_at {
            Some(expiry) => drop(self.expiries.insert(edge, expiry)),
            None => drop(self.expiries.remove(&edge)),
        }
        if self.edges.len() == MAX_TUPLES {
            return Err(TuplesFull);
        }
        self.edges.push(edge);
        Ok(())
    }

    /// Makes the table.
    pub fn finish(self) -> TupleTable {
        let (nodes, renumbered) = self.nodes.finish();
        let mut edges = self.edges;
        edges.iter_mut().for_each(|edge| *edge = renumber(*edge, &renumbered));
        edges.sort_unstable();
        edges.dedup();
        let expiries = self.expiries.into_iter();
        let expiries = expiries.map(|(edge, expiry)| (renumber(edge, &renumbered), expiry));
        let edges = EdgeSet::new(edges, expiries.collect(), Some(nodes.len()));
        TupleTable { base: Arc::new(Base { nodes, edges }), overlay: Arc::default() }
    }
}

/// Returns the edge between the same nodes by their new numbers.
fn renumber(edge: Edge, numbers: &[Node]) -> Edge {
    let [object, subject] = [edge.object, edge.subject].map(|node| numbers[node as usize]);
    Edge { object, key: edge.key, subject }
}
