//! Changes of a table: a new overlay over the same base.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use hashbrown::HashMap;

use super::edge::{Edge, EdgeKey};
use super::edges::EdgeSet;
use super::moment::Expiries;
use super::nodes::{Node, NodesBuilder};
use super::stored::{Base, Overlay, TupleTable};
use super::tuple::{Object, Tuple, TupleChange, TuplesFull};

/// An edge that differs from the base.
#[derive(Clone, Copy, Default)]
struct Change {
    /// Whether the edge of the base does not count.
    is_removed: bool,
    /// Whether there is an edge in the overlay, and its expiry.
    added: Option<Option<DateTime<Utc>>>,
}

/// The edges that differ from a base, while they are collected. New nodes are numbered after the base's nodes.
pub(super) struct Changes<'t> {
    base: &'t Base,
    nodes: NodesBuilder,
    edges: HashMap<Edge, Change>,
}

impl<'t> Changes<'t> {
    /// Starts with the changes of an overlay.
    pub(super) fn new(table: &'t TupleTable) -> Result<Self, TuplesFull> {
        let mut changes =
            Self { base: &table.base, nodes: NodesBuilder::default(), edges: HashMap::new() };
        let overlay = &table.overlay;
        // Nodes of the base keep their numbers. Only those of the overlay are numbered anew.
        for edge in overlay.removed.iter() {
            changes.edges.entry(edge).or_default().is_removed = true;
        }
        for edge in overlay.added.iter() {
            let expiry = overlay.added.expiries.get(&edge).copied();
            let object = changes.node(table.get(edge.object))?;
            let edge =
                Edge { object, key: edge.key, subject: changes.node(table.get(edge.subject))? };
            changes.edges.entry(edge).or_default().added = Some(expiry);
        }
        Ok(changes)
    }

    fn node(&mut self, object: Object<'_>) -> Result<Node, TuplesFull> {
        match self.base.nodes.find(object) {
            Some(node) => Ok(node),
            None => Ok(self.base.nodes.len() + self.nodes.intern(object)?),
        }
    }

    fn edge(&mut self, tuple: &Tuple<'_>) -> Result<Edge, TuplesFull> {
        let key = EdgeKey::new(tuple.relation, tuple.subject_relation);
        Ok(Edge { object: self.node(tuple.object)?, key, subject: self.node(tuple.subject)? })
    }

    pub(super) fn apply(&mut self, change: &TupleChange<'_>) -> Result<(), TuplesFull> {
        let (TupleChange::Put(tuple) | TupleChange::Remove(tuple)) = change;
        let edge = self.edge(tuple)?;
        let is_in_base = self.base.edges.has(edge);
        let stored = self.base.edges.expiries.get(&edge).copied();
        let change = match change {
            TupleChange::Remove(_) => Change { is_removed: is_in_base, added: None },
            TupleChange::Put(tuple) if is_in_base && stored == tuple.expires_at => {
                // The base has this very tuple: an earlier change of it is dropped.
                Change::default()
            }
            TupleChange::Put(tuple) => {
                Change { is_removed: is_in_base, added: Some(tuple.expires_at) }
            }
        };
        self.edges.insert(edge, change);
        Ok(())
    }

    /// Makes the overlay.
    pub(super) fn finish(self) -> Overlay {
        let base = self.base.nodes.len();
        let (nodes, renumbered) = self.nodes.finish();
        let (mut added, mut removed, mut expiries) = (Vec::new(), Vec::new(), Expiries::new());
        for (edge, change) in self.edges {
            if change.is_removed {
                removed.push(edge);
            }
            let Some(expiry) = change.added else { continue };
            let nodes = [edge.object, edge.subject];
            let [object, subject] = nodes.map(|node| renumber(node, base, &renumbered));
            let edge = Edge { object, key: edge.key, subject };
            added.push(edge);
            expiries.extend(expiry.map(|expiry| (edge, expiry)));
        }
        // A hash map has no order, and sets of edges need one.
        added.sort_unstable();
        removed.sort_unstable();
        let added = EdgeSet::new(added, expiries, None);
        Overlay { nodes, added, removed: EdgeSet::new(removed, Expiries::new(), None) }
    }
}

impl TupleTable {
    /// Returns the table after changes, the last of which counts where several name one tuple. Takes time for each change
    /// since the base was made.
    ///
    /// # Errors
    /// [`TuplesFull`] if the table cannot hold them.
    pub fn changed<'c>(
        &self,
        changes: impl IntoIterator<Item = TupleChange<'c>>,
    ) -> Result<Self, TuplesFull> {
        let mut all = Changes::new(self)?;
        for change in changes {
            all.apply(&change)?;
        }
        Ok(Self { base: Arc::clone(&self.base), overlay: Arc::new(all.finish()) })
    }

    /// Returns a table of the same tuples without an overlay. Takes time for each tuple.
    ///
    /// # Errors
    /// [`TuplesFull`] if one base cannot hold them.
    pub fn folded(&self) -> Result<Self, TuplesFull> {
        let mut builder = Self::builder();
        for tuple in self.iter() {
            builder.push(tuple)?;
        }
        Ok(builder.finish())
    }
}

/// Returns the sorted number of a node: one of the overlay, from `base` on, has a new one.
fn renumber(node: Node, base: Node, renumbered: &[Node]) -> Node {
    match node.checked_sub(base) {
        Some(new) => base + renumbered[new as usize],
        None => node,
    }
}
