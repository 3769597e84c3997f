//! The graph: the tuples of a tenant, as its schema reads them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::closures::Closures;
use crate::schema::{RelationId, Schema, TypeId};
use crate::table::{EVERYONE, EdgeKey, Moment, Node, Object, TupleTable, Way};

/// The tuples of one tenant with the schema that gives them a meaning, in one version of both.
pub struct Graph {
    pub(crate) schema: Arc<Schema>,
    pub(crate) table: TupleTable,
    /// The nodes of each type of the schema: in the base of the table, and in its overlay.
    types: Box<[[Range<Node>; 2]]>,
    /// The nodes that stand for everybody of each type of the schema.
    everyone: Box<[Option<Node>]>,
    pub(crate) closures: Closures,
}

impl Graph {
    /// Makes the graph. Closures of subjects take at most `max_closure_bytes`.
    pub fn new(schema: Arc<Schema>, table: TupleTable, max_closure_bytes: usize) -> Self {
        let types = schema.type_names().map(|name| table.for_type(name)).collect();
        let everyone = schema.type_names();
        let everyone =
            everyone.map(|object_type| table.find(Object { object_type, id: EVERYONE })).collect();
        Self { schema, table, types, everyone, closures: Closures::new(max_closure_bytes) }
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Returns the tuples.
    pub fn table(&self) -> &TupleTable {
        &self.table
    }

    /// Returns the bytes of the schema and of the closures that are kept.
    pub fn weight(&self) -> usize {
        self.schema.weight() + self.closures.bytes()
    }

    /// Returns whether a stored tuple of `relation`, which stores objects alone, counts at `now` for the object `id`.
    pub fn has_stored(&self, relation: RelationId, id: &str, now: DateTime<Utc>) -> bool {
        let Some(node) = self.find(self.schema.type_id_of(relation), id) else { return false };
        let (mut found, mut moment) = (false, Moment::new(now));
        // `None` ends the walk at the first edge that counts; it is not a fault.
        let _ = self.table.at(Way::Forward, node).each(self.arrow_key(relation).only(), |edges| {
            found = edges.nodes(&mut moment).next().is_some();
            (!found).then_some(())
        });
        found
    }

    /// Returns the ids of a type that tuples name that count at `now`, in their order, from the one after `after` on.
    pub fn named<'g>(
        &'g self,
        of_type: &str,
        after: Option<&str>,
        now: DateTime<Utc>,
    ) -> impl Iterator<Item = &'g str> {
        self.table.named(of_type, after, now)
    }

    /// Returns whether a tuple that counts at `now` names the object `id` of a type.
    pub fn names(&self, of_type: &str, id: &str, now: DateTime<Utc>) -> bool {
        let node = self.table.find(Object { object_type: of_type, id });
        node.is_some_and(|node| self.table.is_named(node, now))
    }

    #[inline]
    pub(crate) fn is_of_type(&self, node: Node, type_id: TypeId) -> bool {
        self.nodes_of(type_id).iter().any(|nodes| nodes.contains(&node))
    }

    /// Returns the nodes of a type: in the base of the table, and in its overlay.
    pub(crate) fn nodes_of(&self, type_id: TypeId) -> &[Range<Node>; 2] {
        &self.types[type_id as usize]
    }

    /// Returns the node that stands for everybody of a type, if a tuple names it.
    pub(crate) fn everyone(&self, type_id: TypeId) -> Option<Node> {
        self.everyone[type_id as usize]
    }

    pub(crate) fn find(&self, type_id: TypeId, id: &str) -> Option<Node> {
        self.table.find(Object { object_type: self.schema.type_name(type_id), id })
    }

    /// Returns the key, on the way from objects, of a relation that leads to objects.
    #[inline]
    pub(crate) fn arrow_key(&self, over: RelationId) -> EdgeKey {
        EdgeKey::new(self.schema.number(over), None)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("table", &self.table).finish_non_exhaustive()
    }
}
