//! The closure of a subject: everything that stands for it in tuples.

use chrono::{DateTime, Utc};

use crate::schema::{RelationId, RelationNumber, TypeId};
use crate::table::{MAX_NODES, Node};

/// A subject, and the objects of which a token makes it a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClosureKey {
    pub(crate) subject_type: TypeId,
    pub(crate) id: Box<str>,
    /// Relation and id of each object, as the token lists them.
    pub(crate) claims: Box<[(RelationId, Box<str>)]>,
}

impl ClosureKey {
    /// Returns whether both are of one subject, whatever its tokens have.
    pub(crate) fn has_same_subject(&self, other: &Self) -> bool {
        (self.subject_type, &self.id) == (other.subject_type, &other.id)
    }
}

/// Everything that stands for a subject in tuples: itself, everybody of its type, and the usersets that it is in.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) key: ClosureKey,
    /// The instant of the first question, and the first one at which an edge expires that was looked at.
    pub(crate) valid: (DateTime<Utc>, DateTime<Utc>),
    /// The number of edges that were looked at; `None` if there are too many. Then the usersets are left out.
    pub(crate) edges: Option<usize>,
    /// The end, in the nodes, of the members with each subject relation.
    ends: Box<[(Option<RelationNumber>, u32)]>,
    /// In ascending order for each subject relation.
    nodes: Box<[Node]>,
    /// The objects of which the token makes the subject a member, with the relation, in ascending order.
    pub(crate) claimed: Box<[(Node, RelationId)]>,
    /// The claimed objects that no tuple names, numbered from [`UNKNOWN`] on.
    unknown: Box<[(TypeId, Box<str>)]>,
}

/// The number of the first claimed object that no tuple names.
const UNKNOWN: Node = MAX_NODES;

impl Closure {
    /// Makes the closure without members. Numbers the claimed objects; `find` has the numbers of those that tuples name.
    pub(crate) fn new(
        key: ClosureKey,
        types: impl Fn(RelationId) -> TypeId,
        find: impl Fn(TypeId, &str) -> Option<Node>,
    ) -> Self {
        let mut unknown: Vec<(TypeId, Box<str>)> = Vec::new();
        let mut claimed = Vec::with_capacity(key.claims.len());
        for (relation, id) in &key.claims {
            let type_id = types(*relation);
            let node = find(type_id, id).unwrap_or_else(|| {
                let known = unknown.iter().position(|one| (one.0, &one.1) == (type_id, id));
                let index = known.unwrap_or_else(|| {
                    unknown.push((type_id, id.clone()));
                    unknown.len() - 1
                });
                // A token has no 2^30 ids.
                UNKNOWN + u32::try_from(index).unwrap_or_default()
            });
            claimed.push((node, *relation));
        }
        claimed.sort_unstable();
        Self {
            key,
            valid: (DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC),
            edges: Some(0),
            ends: Box::default(),
            nodes: Box::default(),
            claimed: claimed.into(),
            unknown: unknown.into(),
        }
    }

    /// Sets the members, each with its subject relation.
    pub(crate) fn set_members(&mut self, mut members: Vec<(Option<RelationNumber>, Node)>) {
        // Sorted, so that the members with one subject relation follow each other.
        members.sort_unstable();
        members.dedup();
        let mut ends: Vec<(Option<RelationNumber>, u32)> = Vec::new();
        for (end, (relation, _)) in (1..).zip(&members) {
            match ends.last_mut() {
                Some(last) if last.0 == *relation => last.1 = end,
                _ => ends.push((*relation, end)),
            }
        }
        self.ends = ends.into();
        self.nodes = members.into_iter().map(|(_, node)| node).collect();
    }

    /// Returns the nodes that stand for the subject in tuples with a subject relation.
    #[inline]
    pub(crate) fn members(&self, subject_relation: Option<RelationNumber>) -> &[Node] {
        let mut start = 0;
        for (relation, end) in &self.ends {
            if *relation == subject_relation {
                return &self.nodes[start as usize..*end as usize];
            }
            start = *end;
        }
        &[]
    }

    /// Returns each subject relation with the nodes that stand for the subject in tuples with it.
    pub(crate) fn all_members(&self) -> impl Iterator<Item = (Option<RelationNumber>, &[Node])> {
        let starts = [0].into_iter().chain(self.ends.iter().map(|(_, end)| *end));
        let ends = self.ends.iter().zip(starts);
        ends.map(|((relation, end), start)| (*relation, &self.nodes[start as usize..*end as usize]))
    }

    /// Returns the number of usersets.
    pub(crate) fn usersets(&self) -> usize {
        self.nodes.len() - self.members(None).len()
    }

    /// Returns the number of a claimed object that no tuple names.
    pub(crate) fn unknown(&self, type_id: TypeId, id: &str) -> Option<Node> {
        let index = self.unknown.iter().position(|one| (one.0, &*one.1) == (type_id, id))?;
        Some(UNKNOWN + u32::try_from(index).ok()?)
    }

    /// Returns the type and id of an object that no tuple names.
    pub(crate) fn unknown_object(&self, node: Node) -> Option<(TypeId, &str)> {
        let (type_id, id) = self.unknown.get(node.checked_sub(UNKNOWN)? as usize)?;
        Some((*type_id, id))
    }

    /// Returns the claimed objects that no tuple names.
    pub(crate) fn unknown_nodes(&self) -> impl Iterator<Item = (Node, TypeId, &str)> {
        (UNKNOWN..).zip(&self.unknown).map(|(node, (type_id, id))| (node, *type_id, &**id))
    }

    pub(crate) fn is_valid_at(&self, now: DateTime<Utc>) -> bool {
        self.valid.0 <= now && now < self.valid.1
    }

    /// Returns the heap bytes, including its own place.
    pub(crate) fn weight(&self) -> usize {
        let claims: usize = self.key.claims.iter().map(|(_, id)| id.len()).sum();
        let unknown: usize = self.unknown.iter().map(|(_, id)| id.len()).sum();
        size_of::<Self>()
            + self.key.id.len()
            + claims
            + size_of_val::<[(RelationId, Box<str>)]>(&self.key.claims)
            + size_of_val::<[(Option<RelationNumber>, u32)]>(&self.ends)
            + size_of_val::<[Node]>(&self.nodes)
            + size_of_val::<[(Node, RelationId)]>(&self.claimed)
            + unknown
            + size_of_val::<[(TypeId, Box<str>)]>(&self.unknown)
    }
}
