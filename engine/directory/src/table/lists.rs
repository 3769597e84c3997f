//! The edges of nodes, as compressed sparse rows: groups of edges by key, each with its nodes in ascending order.

use hashbrown::HashMap;

use super::edge::{EdgeKey, EdgeKeys};
use super::nodes::Node;

/// The node at the end of an edge, and marks.
#[derive(Clone, Copy)]
pub(crate) struct Word(u32);

/// The keys of at most this many groups are looked at one after the other: most nodes have no more.
const FEW: usize = 8;

/// Marks a word that stands in its group.
const INLINE: u32 = 1 << 31;
/// Marks an edge that expires.
const EXPIRES: u32 = 1;

impl Word {
    pub(super) fn new(node: Node, expires: bool) -> Self {
        // A node has 30 bits, so that the highest one is free for `INLINE`.
        Self(node << 1 | u32::from(expires))
    }

    #[inline]
    pub(crate) fn node(self) -> Node {
        (self.0 & !INLINE) >> 1
    }

    #[inline]
    pub(super) fn expires(self) -> bool {
        self.0 & EXPIRES != 0
    }
}

/// The edges of one node with one key.
#[derive(Clone, Copy)]
pub(super) struct EdgeGroup {
    pub(super) key: EdgeKey,
    /// The only edge, marked as inline; else the place of a length and as many words.
    word: [Word; 1],
}

/// The edges of many nodes in one way.
#[derive(Default)]
pub(super) struct EdgeLists {
    starts: Starts,
    /// The groups by node and key.
    groups: Box<[EdgeGroup]>,
    lists: Box<[Word]>,
}

/// The groups of each node.
enum Starts {
    /// The start of the groups of each node, and the end of all.
    Dense(Box<[u32]>),
    /// Start and end of the groups of the nodes that have some.
    Sparse(HashMap<Node, (u32, u32)>),
}

impl Default for Starts {
    fn default() -> Self {
        Self::Sparse(HashMap::new())
    }
}

impl EdgeLists {
    /// Makes the lists of sorted edges without duplicates. `dense` is the number of nodes, if most have edges.
    pub(super) fn new(edges: &[(Node, EdgeKey, Word)], dense: Option<u32>) -> Self {
        let by_group = edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
        let mut groups = Vec::with_capacity(by_group.clone().count());
        let mut lists = Vec::new();
        let mut sparse: HashMap<Node, (u32, u32)> = HashMap::new();
        let mut starts = Vec::with_capacity(dense.map_or(0, |count| count as usize + 1));
        for group in by_group {
            let (node, key, word) = group[0];
            let at = number(groups.len());
            match dense {
                // The nodes before this one that have no edges start and end here.
                Some(_) => starts.resize(starts.len().max(node as usize + 1), at),
                None => sparse.entry(node).or_insert((at, at)).1 = at + 1,
            }
            // A place is below 2^30, because a table has at most 2^29 edges: the mark is free.
            let place = if group.len() == 1 { word.0 | INLINE } else { number(lists.len()) };
            groups.push(EdgeGroup { key, word: [Word(place)] });
            if group.len() > 1 {
                lists.push(Word(number(group.len())));
                lists.extend(group.iter().map(|(_, _, word)| *word));
            }
        }
        let starts = match dense {
            Some(count) => {
                starts.resize(count as usize + 1, number(groups.len()));
                Starts::Dense(starts.into())
            }
            None => Starts::Sparse(sparse),
        };
        Self { starts, groups: groups.into(), lists: lists.into() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the groups of a node.
    #[inline]
    pub(super) fn groups(&self, node: Node) -> &[EdgeGroup] {
        let (start, end) = match &self.starts {
            Starts::Dense(starts) => match starts.get(node as usize..node as usize + 2) {
                Some(bounds) => (bounds[0], bounds[1]),
                None => return &[],
            },
            Starts::Sparse(starts) => match starts.get(&node) {
                Some(bounds) => *bounds,
                None => return &[],
            },
        };
        &self.groups[start as usize..end as usize]
    }

    /// Returns the words of a group.
    #[inline]
    pub(super) fn words<'s>(&'s self, group: &'s EdgeGroup) -> &'s [Word] {
        let [word] = group.word;
        if word.0 & INLINE != 0 {
            return &group.word;
        }
        let (length, rest) = self.lists[word.0 as usize..].split_at(1);
        &rest[..length[0].0 as usize]
    }

    /// Returns the words of the edges of a node with one key.
    pub(super) fn for_key(&self, node: Node, key: EdgeKey) -> &[Word] {
        let groups = self.groups(node);
        groups.iter().find(|group| group.key == key).map_or(&[], |group| self.words(group))
    }

    /// Returns every edge: its node, its key and its word.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Node, EdgeKey, Word)> {
        let nodes: Vec<Node> = match &self.starts {
            // Dense starts end with the end of all, so they are not empty.
            Starts::Dense(starts) => (0..).take(starts.len() - 1).collect(),
            Starts::Sparse(starts) => starts.keys().copied().collect(),
        };
        nodes.into_iter().flat_map(move |node| {
            let groups = self.groups(node).iter();
            groups.flat_map(move |group| {
                self.words(group).iter().map(move |word| (node, group.key, *word))
            })
        })
    }

    /// Returns the heap bytes.
    pub(super) fn weight(&self) -> usize {
        let starts = match &self.starts {
            Starts::Dense(starts) => size_of_val::<[u32]>(starts),
            Starts::Sparse(starts) => starts.allocation_size(),
        };
        starts + size_of_val::<[EdgeGroup]>(&self.groups) + size_of_val::<[Word]>(&self.lists)
    }
}

/// Returns the groups with these keys.
#[inline]
pub(super) fn within(groups: &[EdgeGroup], keys: EdgeKeys) -> &[EdgeGroup] {
    let start = if groups.len() <= FEW {
        groups.iter().position(|group| group.key >= keys.first).unwrap_or(groups.len())
    } else {
        groups.partition_point(|group| group.key < keys.first)
    };
    let rest = &groups[start..];
    &rest[..rest.iter().position(|group| group.key > keys.last).unwrap_or(rest.len())]
}

/// Returns the one of `words` that leads to `node`.
pub(super) fn leads_to(words: &[Word], node: Node) -> Option<Word> {
    let index = words.binary_search_by_key(&node, |word| word.node()).ok()?;
    Some(words[index])
}

/// A count as a number of a list. [`super::builder`] refuses what has more.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
