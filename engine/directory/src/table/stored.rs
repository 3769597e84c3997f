//! The table as it is read.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use roaring::RoaringBitmap;

use super::edge::{Edge, EdgeKey, EdgeKeys, Way};
use super::edges::EdgeSet;
use super::lists::{EdgeGroup, Word, leads_to, within};
use super::moment::Moment;
use super::nodes::{Node, Nodes};
use super::tuple::{EVERYONE, Object, Tuple};

/// The tuples of one tenant. Cheap to clone.
#[derive(Clone, Default)]
pub struct TupleTable {
    pub(super) base: Arc<Base>,
    pub(super) overlay: Arc<Overlay>,
}

#[derive(Default)]
pub(super) struct Base {
    pub(super) nodes: Nodes,
    pub(super) edges: EdgeSet,
}

/// The changes of a base.
#[derive(Default)]
pub(super) struct Overlay {
    /// The nodes that the base lacks, numbered after the base's nodes.
    pub(super) nodes: Nodes,
    pub(super) added: EdgeSet,
    /// The edges of the base that do not count.
    pub(super) removed: EdgeSet,
}

/// The edges of a node with one key, in one of the two sets of a table.
pub(crate) struct EdgesOf<'t> {
    pub(crate) key: EdgeKey,
    /// In ascending order of the nodes.
    words: &'t [Word],
    /// The words that do not count.
    removed: &'t [Word],
    from: Node,
    way: Way,
    set: &'t EdgeSet,
}

impl<'t> EdgesOf<'t> {
    /// Returns the number of edges, expired ones included.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        // Each removed edge is one of the set.
        self.words.len() - self.removed.len()
    }

    /// Returns the nodes of the edges that count.
    #[inline]
    pub(crate) fn nodes(&self, moment: &mut Moment) -> impl Iterator<Item = Node> {
        self.words.iter().filter(|word| self.counts(**word, moment)).map(|word| word.node())
    }

    /// Returns whether an edge that counts leads to one of `nodes`, which ascend. Takes time for the smaller of both lists,
    /// and the logarithm of the other.
    #[inline]
    pub(crate) fn lead_to_one(&self, nodes: &[Node], moment: &mut Moment) -> bool {
        if self.words.len() <= nodes.len() {
            self.words
                .iter()
                .any(|word| nodes.binary_search(&word.node()).is_ok() && self.counts(*word, moment))
        } else {
            nodes.iter().any(|node| self.lead_to(*node, moment))
        }
    }

    /// Returns whether an edge that counts leads to `node`.
    pub(crate) fn lead_to(&self, node: Node, moment: &mut Moment) -> bool {
        leads_to(self.words, node).is_some_and(|word| self.counts(word, moment))
    }

    #[inline]
    fn counts(&self, word: Word, moment: &mut Moment) -> bool {
        let is_removed = !self.removed.is_empty() && leads_to(self.removed, word.node()).is_some();
        if is_removed || !word.expires() {
            return !is_removed;
        }
        moment.counts(&self.set.expiries, self.way.edge(self.from, self.key, word.node()))
    }
}

/// An overlay of at most this many changes is small beside any base.
const SMALL_OVERLAY: usize = 1024;
/// An overlay is large from this share of the base on: folding then costs each change about as much as applying it.
const LARGE_SHARE: usize = 64;

impl TupleTable {
    /// Returns the number of tuples.
    pub fn len(&self) -> usize {
        // Each removed edge is one of the base.
        self.base.edges.len + self.overlay.added.len - self.overlay.removed.len
    }

    /// Returns whether there is no tuple.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns every tuple.
    pub fn iter(&self) -> impl Iterator<Item = Tuple<'_>> {
        let Overlay { added, removed, .. } = &*self.overlay;
        let base = self.base.edges.iter().map(|edge| (edge, &self.base.edges));
        let base = base.filter(|(edge, _)| !removed.has(*edge));
        let all = base.chain(added.iter().map(move |edge| (edge, added)));
        all.map(|(edge, set)| self.tuple(edge, set))
    }

    fn tuple<'t>(&'t self, edge: Edge, set: &EdgeSet) -> Tuple<'t> {
        Tuple {
            object: self.get(edge.object),
            relation: edge.key.relation(),
            subject: self.get(edge.subject),
            subject_relation: edge.key.subject_relation(),
            expires_at: set.expiries.get(&edge).copied(),
        }
    }

    /// Returns the stored tuple of an edge.
    pub(crate) fn tuple_of(&self, edge: Edge) -> Tuple<'_> {
        let is_added = self.overlay.added.has(edge);
        self.tuple(edge, if is_added { &self.overlay.added } else { &self.base.edges })
    }

    /// Returns whether the overlay is so large that the table should be folded.
    pub fn should_fold(&self) -> bool {
        let changes = self.overlay.added.len + self.overlay.removed.len;
        changes > SMALL_OVERLAY + self.base.edges.len / LARGE_SHARE
    }

    /// Returns the bytes that the table occupies. Tables that share a base each count it.
    pub fn weight(&self) -> usize {
        let base = size_of::<Base>() + self.base.nodes.weight() + self.base.edges.weight();
        base + self.overlay_weight()
    }

    /// Returns the bytes of the changes since the base was made, which tables that share a base have each for itself.
    pub fn overlay_weight(&self) -> usize {
        let Overlay { nodes, added, removed } = &*self.overlay;
        size_of::<Overlay>() + nodes.weight() + added.weight() + removed.weight()
    }

    /// Returns the ids of a type that tuples that count at `now` name, in their order, from the one after `after` on.
    pub(crate) fn named<'t>(
        &'t self,
        of_type: &str,
        after: Option<&str>,
        now: DateTime<Utc>,
    ) -> impl Iterator<Item = &'t str> {
        let [base, new] = self.after(of_type, after).map(|nodes| {
            nodes.filter(move |node| self.is_named(*node, now)).map(|node| self.id(node))
        });
        // `*` stands for everybody of the type, and is not an object.
        merged(base, new).filter(|id| *id != EVERYONE)
    }

    /// Returns the ids of the `nodes` that are of a type, in their order.
    pub(crate) fn ids_of_nodes<'t>(
        &'t self,
        nodes: &RoaringBitmap,
        of_type: &str,
    ) -> impl Iterator<Item = &'t str> {
        let [base, new] =
            self.for_type(of_type).map(|range| nodes.range(range).map(|node| self.id(node)));
        merged(base, new)
    }

    /// Returns the nodes of a type whose ids come after `id`: in the base, and in the overlay.
    fn after(&self, of_type: &str, id: Option<&str>) -> [Range<Node>; 2] {
        let start = self.base.nodes.len();
        let new = self.overlay.nodes.after(of_type, id);
        [self.base.nodes.after(of_type, id), start + new.start..start + new.end]
    }

    /// Returns whether a tuple that counts at `now` names a node.
    pub(crate) fn is_named(&self, node: Node, now: DateTime<Utc>) -> bool {
        let mut moment = Moment::new(now);
        let mut ways = [Way::Forward, Way::Back].into_iter();
        ways.any(|way| {
            let unnamed = self.at(way, node).each(EdgeKey::all(), |edges| {
                edges.nodes(&mut moment).next().is_none().then_some(())
            });
            // `each` ends with `None` at the first edge that counts.
            unnamed.is_none()
        })
    }

    /// Returns the number of an object.
    #[inline]
    pub(crate) fn find(&self, object: Object<'_>) -> Option<Node> {
        let in_base = self.base.nodes.find(object);
        in_base.or_else(|| Some(self.base.nodes.len() + self.overlay.nodes.find(object)?))
    }

    pub(crate) fn get(&self, node: Node) -> Object<'_> {
        match node.checked_sub(self.base.nodes.len()) {
            None => self.base.nodes.get(node),
            Some(node) => self.overlay.nodes.get(node),
        }
    }

    pub(crate) fn id(&self, node: Node) -> &str {
        match node.checked_sub(self.base.nodes.len()) {
            None => self.base.nodes.id(node),
            Some(node) => self.overlay.nodes.id(node),
        }
    }

    /// Returns the nodes of a type: in the base, and in the overlay.
    pub(crate) fn for_type(&self, name: &str) -> [Range<Node>; 2] {
        self.after(name, None)
    }

    /// Returns the edges of a node.
    #[inline]
    pub(crate) fn at(&self, way: Way, node: Node) -> EdgesAt<'_> {
        let Overlay { added, removed, .. } = &*self.overlay;
        EdgesAt {
            table: self,
            way,
            node,
            base: self.base.edges.lists(way).groups(node),
            added: if added.is_empty() { &[] } else { added.lists(way).groups(node) },
            removed: if removed.is_empty() { &[] } else { removed.lists(way).groups(node) },
        }
    }
}

/// The edges of one node in one way.
#[derive(Clone, Copy)]
pub(crate) struct EdgesAt<'t> {
    table: &'t TupleTable,
    way: Way,
    node: Node,
    base: &'t [EdgeGroup],
    added: &'t [EdgeGroup],
    removed: &'t [EdgeGroup],
}

impl<'t> EdgesAt<'t> {
    /// Calls `visit` with the edges of each of these keys, until it returns `None`.
    #[inline]
    pub(crate) fn each(
        self,
        keys: EdgeKeys,
        mut visit: impl FnMut(EdgesOf<'t>) -> Option<()>,
    ) -> Option<()> {
        let Self { table, way, node, base, added, removed } = self;
        let (base_set, overlay) = (&table.base.edges, &*table.overlay);
        let of = |set: &'t EdgeSet, group: &'t EdgeGroup, removed: &'t [Word]| {
            let words = set.lists(way).words(group);
            EdgesOf { key: group.key, words, removed, from: node, way, set }
        };
        for group in within(base, keys) {
            // Only edges of the base are ever removed: a removed one of the overlay leaves it.
            let removed = removed.iter().find(|removed| removed.key == group.key);
            let removed = removed.map_or(&[][..], |group| overlay.removed.lists(way).words(group));
            visit(of(base_set, group, removed))?;
        }
        for group in within(added, keys) {
            visit(of(&overlay.added, group, &[]))?;
        }
        Some(())
    }
}

impl fmt::Debug for TupleTable {
    /// Writes the sizes: a table may have millions of tuples.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TupleTable")
            .field("base", &self.base.edges.len)
            .field("added", &self.overlay.added.len)
            .field("removed", &self.overlay.removed.len)
            .finish()
    }
}

/// Merges two ascending lists of ids.
pub(crate) fn merged<'i>(
    first: impl Iterator<Item = &'i str>,
    second: impl Iterator<Item = &'i str>,
) -> impl Iterator<Item = &'i str> {
    let (mut first, mut second) = (first.peekable(), second.peekable());
    std::iter::from_fn(move || match (first.peek(), second.peek()) {
        (Some(a), Some(b)) if b < a => second.next(),
        (None, _) => second.next(),
        _ => first.next(),
    })
}
