//! The graph of a tenant, with the places that its edges come from.

use std::sync::Arc;

use crate::graph::Graph;
use crate::schema::{RelationId, Schema};
use crate::table::TupleTable;

/// The tuples of a tenant, with its types of one revision.
#[derive(Debug)]
pub struct TenantGraph {
    /// The description of the types.
    declared: Arc<str>,
    pub graph: Graph,
    sources: Arc<RelationSources>,
}

/// The relations that take edges from other places than the tuples.
#[derive(Debug, Default)]
struct RelationSources {
    claims: Vec<(RelationId, Box<str>)>,
    requests: Vec<(RelationId, Box<str>)>,
}

impl TenantGraph {
    /// Makes the graph of tuples with the types that `declared` describes. Closures of subjects take at most
    /// `max_closure_bytes`.
    pub fn new(
        declared: Arc<str>,
        schema: Arc<Schema>,
        tuples: TupleTable,
        max_closure_bytes: usize,
    ) -> Self {
        let sources = Arc::new(RelationSources::new(&schema));
        Self { declared, graph: Graph::new(schema, tuples, max_closure_bytes), sources }
    }

    /// Returns the graph of other tuples with the same types.
    #[must_use]
    pub fn with_tuples(&self, tuples: TupleTable, max_closure_bytes: usize) -> Self {
        let schema = Arc::clone(self.graph.schema());
        Self {
            declared: Arc::clone(&self.declared),
            graph: Graph::new(schema, tuples, max_closure_bytes),
            sources: Arc::clone(&self.sources),
        }
    }

    /// Returns whether the types are those that `declared` describes.
    pub fn is_of(&self, declared: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.declared, declared) || self.declared == *declared
    }

    /// Returns the bytes of the types and of the closures that are kept.
    pub fn weight(&self) -> usize {
        self.graph.schema().weight() + self.graph.closure_bytes()
    }

    /// Returns each relation that a claim of the caller's token gives, with the claim.
    pub(crate) fn claims(&self) -> impl Iterator<Item = (RelationId, &str)> {
        self.sources.claims.iter().map(|(relation, claim)| (*relation, &**claim))
    }

    /// Returns each relation whose tuples an attribute of the resource stands for, with the attribute.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (RelationId, &str)> {
        self.sources.requests.iter().map(|(relation, attribute)| (*relation, &**attribute))
    }
}

impl RelationSources {
    fn new(schema: &Schema) -> Self {
        let mut sources = Self::default();
        for relation in schema.relations() {
            sources.claims.extend(schema.claim(relation).map(|name| (relation, name.into())));
            sources.requests.extend(schema.request(relation).map(|name| (relation, name.into())));
        }
        sources
    }
}
