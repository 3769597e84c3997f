//! Builds a table from tuples in any order.

use std::sync::Arc;

use super::edge::{Edge, EdgeKey};
use super::edges::EdgeSet;
use super::moment::Expiries;
use super::nodes::NodesBuilder;
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
        let renumber = |edge: Edge| Edge {
            object: renumbered[edge.object as usize],
            key: edge.key,
            subject: renumbered[edge.subject as usize],
        };
        let mut edges = self.edges;
        edges.iter_mut().for_each(|edge| *edge = renumber(*edge));
        edges.sort_unstable();
        edges.dedup();
        let expiries = self.expiries.into_iter().map(|(edge, expiry)| (renumber(edge), expiry));
        let edges = EdgeSet::new(edges, expiries.collect(), Some(nodes.len()));
        TupleTable { base: Arc::new(Base { nodes, edges }), overlay: Arc::default() }
    }
}
