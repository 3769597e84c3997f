//! Nodes: the objects and subjects of tuples by number, in the order of types and ids.

use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::tuple::{Object, TuplesFull};

/// The number of an object or subject.
pub(crate) type Node = u32;
/// No table has as many nodes as this: a word of an edge has a node and two marks.
pub(crate) const MAX_NODES: u32 = 1 << 30;
/// Stands for each object that neither a tuple nor a claim names.
pub(crate) const NOWHERE: Node = Node::MAX - 1;

/// A sorted, immutable set of nodes.
#[derive(Default)]
pub(super) struct Nodes {
    types: Box<[TypeNodes]>,
    bytes: Box<str>,
    /// The end of each id in the bytes.
    ends: Box<[u32]>,
    /// The nodes by type and id.
    index: HashTable<Node>,
    hasher: DefaultHashBuilder,
}

/// The nodes of one type, which end where the nodes of the next type start.
struct TypeNodes {
    name: Box<str>,
    start: Node,
}

impl Nodes {
    pub(super) fn len(&self) -> u32 {
        // A set with more nodes is not built.
        u32::try_from(self.ends.len()).unwrap_or(MAX_NODES)
    }

    pub(super) fn find(&self, object: Object<'_>) -> Option<Node> {
        let type_index = self.type_index(object.object_type)?;
        let range = self.range(type_index);
        let hash = self.hasher.hash_one((type_index, object.id));
        // Objects of two types may have one id.
        let found =
            self.index.find(hash, |node| range.contains(node) && self.id(*node) == object.id);
        found.copied()
    }

    /// Returns the nodes of a type.
    pub(super) fn for_type(&self, name: &str) -> Range<Node> {
        self.type_index(name).map_or(0..0, |index| self.range(index))
    }

    /// Returns the nodes of a type whose ids come after `id`.
    pub(super) fn after(&self, name: &str, id: Option<&str>) -> Range<Node> {
        let mut all = self.for_type(name);
        let Some(id) = id else { return all };
        let (mut low, mut high) = (all.start, all.end);
        while low < high {
            let middle = low.midpoint(high);
            if self.id(middle) <= id { low = middle + 1 } else { high = middle }
        }
        all.start = low;
        all
    }

    fn type_index(&self, name: &str) -> Option<usize> {
        self.types.binary_search_by(|one| (*one.name).cmp(name)).ok()
    }

    fn range(&self, type_index: usize) -> Range<Node> {
        let end = self.types.get(type_index + 1).map_or(self.len(), |next| next.start);
        self.types[type_index].start..end
    }

    #[inline]
    pub(super) fn id(&self, node: Node) -> &str {
        let start = node.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.bytes[start as usize..self.ends[node as usize] as usize]
    }

    pub(super) fn get(&self, node: Node) -> Object<'_> {
        // The first type starts at 0, so one is found.
        let type_index = self.types.partition_point(|one| one.start <= node) - 1;
        Object { object_type: &self.types[type_index].name, id: self.id(node) }
    }

    /// Returns the heap bytes.
    pub(super) fn weight(&self) -> usize {
        let names: usize = self.types.iter().map(|one| one.name.len()).sum();
        size_of_val::<[TypeNodes]>(&self.types)
            + names
            + self.bytes.len()
            + size_of_val::<[u32]>(&self.ends)
            + self.index.allocation_size()
    }
}

/// Numbers nodes in the order in which they come.
#[derive(Default)]
pub(super) struct NodesBuilder {
    types: Vec<Box<str>>,
    bytes: String,
    /// The type and the end of the id of each node.
    nodes: Vec<(u16, u32)>,
    index: HashTable<Node>,
    hasher: DefaultHashBuilder,
}

impl NodesBuilder {
    /// Returns the number of a node, a new one if the node is new.
    pub(super) fn intern(&mut self, object: Object<'_>) -> Result<Node, TuplesFull> {
        let type_index = self.type_index(object.object_type)?;
        let Self { bytes, nodes, index, hasher, .. } = self;
        let key = |node: Node| (nodes[node as usize].0, id(bytes, nodes, node));
        let own = (type_index, object.id);
        let hash = hasher.hash_one(own);
        if let Some(known) = index.find(hash, |node| key(*node) == own) {
            return Ok(*known);
        }
        let node = Node::try_from(nodes.len()).ok().filter(|node| *node < MAX_NODES);
        let (node, end) = (node.ok_or(TuplesFull)?, bytes.len() + object.id.len());
        let end = u32::try_from(end).map_err(|_| TuplesFull)?;
        index.insert_unique(hash, node, |node| hasher.hash_one(key(*node)));
        bytes.push_str(object.id);
        nodes.push((type_index, end));
        Ok(node)
    }

    fn type_index(&mut self, name: &str) -> Result<u16, TuplesFull> {
        let known = self.types.iter().position(|own| **own == *name);
        let index = known.unwrap_or_else(|| {
            self.types.push(name.into());
            self.types.len() - 1
        });
        u16::try_from(index).map_err(|_| TuplesFull)
    }

    /// Sorts the nodes. Returns them, and the new number of each old one.
    pub(super) fn finish(self) -> (Nodes, Vec<Node>) {
        let Self { types, bytes, nodes, index, .. } = self;
        // Its memory is free before the sorted nodes take theirs.
        drop(index);
        let name = |node: Node| &types[nodes[node as usize].0 as usize];
        let own_id = |node: Node| id(&bytes, &nodes, node);
        let mut order: Vec<Node> = (0..).take(nodes.len()).collect();
        order.sort_unstable_by(|a, b| {
            name(*a).cmp(name(*b)).then_with(|| own_id(*a).cmp(own_id(*b)))
        });
        let mut sorted = Sorted { bytes: String::with_capacity(bytes.len()), ..Sorted::default() };
        sorted.ends.reserve_exact(order.len());
        let mut renumbered = vec![0; order.len()];
        for (new, old) in (0..).zip(order) {
            renumbered[old as usize] = new;
            sorted.push(name(old), own_id(old), new);
        }
        (sorted.finish(), renumbered)
    }
}

/// Returns the id of a node.
fn id<'b>(bytes: &'b str, nodes: &[(u16, u32)], node: Node) -> &'b str {
    let start = node.checked_sub(1).map_or(0, |before| nodes[before as usize].1);
    &bytes[start as usize..nodes[node as usize].1 as usize]
}

/// Sorted nodes, while they are collected.
#[derive(Default)]
struct Sorted {
    types: Vec<TypeNodes>,
    bytes: String,
    ends: Vec<u32>,
}

impl Sorted {
    fn push(&mut self, type_name: &str, id: &str, node: Node) {
        if self.types.last().is_none_or(|last| *last.name != *type_name) {
            self.types.push(TypeNodes { name: type_name.into(), start: node });
        }
        self.bytes.push_str(id);
        // The unsorted ids have as many bytes.
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    fn finish(self) -> Nodes {
        let (types, ends) = (self.types.into(), self.ends.into());
        let mut nodes = Nodes { types, bytes: self.bytes.into(), ends, ..Nodes::default() };
        let mut index = HashTable::with_capacity(nodes.ends.len());
        for type_index in 0..nodes.types.len() {
            for node in nodes.range(type_index) {
                let hash = |node: Node| nodes.hasher.hash_one((type_index, nodes.id(node)));
                // The table has room for all: nothing is hashed again.
                index.insert_unique(hash(node), node, |node| hash(*node));
            }
        }
        nodes.index = index;
        nodes
    }
}
