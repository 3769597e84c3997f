//! The object of a question, and its edges that come with the request.

use crate::schema::RelationId;
use crate::table::{Node, Object};

/// Objects that stand for the stored edges of the resource of a question.
#[derive(Clone, Copy, Debug)]
pub struct FirstHop<'h> {
    /// The relation of the resource, which stores objects alone.
    pub relation: RelationId,
    /// The objects that it leads to.
    pub objects: &'h [Object<'h>],
}

/// The object of a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource<'q> {
    /// `None` if neither a tuple nor a claim names it.
    pub(crate) node: Option<Node>,
    pub(crate) hops: &'q [FirstHop<'q>],
}

/// Stands for the object of a question with a first hop: where the object is met again, its stored edges count.
pub(crate) const ROOT: Node = Node::MAX;

impl<'q> Resource<'q> {
    /// Returns the node at which the question starts; `None` if no relation can hold there.
    pub(crate) fn start(&self) -> Option<Node> {
        if self.hops.is_empty() { self.node } else { Some(ROOT) }
    }

    /// Returns the node whose stored edges a node has.
    #[inline]
    pub(crate) fn stored(&self, node: Node) -> Option<Node> {
        if node == ROOT { self.node } else { Some(node) }
    }

    /// Returns the objects that the request has for a relation of a node.
    #[inline]
    pub(crate) fn hop(&self, node: Node, relation: RelationId) -> Option<&'q [Object<'q>]> {
        if node != ROOT {
            return None;
        }
        self.hops.iter().find(|hop| hop.relation == relation).map(|hop| hop.objects)
    }
}
