//! The graph of a tenant: its tuples with its types.

use std::sync::Arc;

use portcullis_directory::{Graph, RelationId, Schema, TupleTable, TypeRelations};
use portcullis_storage::StoreError;
use portcullis_storage::types::NumberedRelations;

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
    /// Compiles the types. Closures of subjects take at most `max_closure_bytes`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`]: types that do not compile are not stored.
    pub(super) fn compile(
        declared: &Arc<str>,
        tuples: TupleTable,
        max_closure_bytes: usize,
    ) -> Result<Self, StoreError> {
        let types = NumberedRelations::read_all(declared)?;
        let types: Vec<TypeRelations<'_>> = types
            .iter()
            .map(|one| TypeRelations { name: &one.kind, relations: &one.relations })
            .collect();
        let corrupt = |_| StoreError::Corrupt { what: "types.relations" };
        let schema = Arc::new(Schema::compile(&types).map_err(corrupt)?);
        let sources = Arc::new(RelationSources::new(&schema));
        let graph = Graph::new(schema, tuples, max_closure_bytes);
        Ok(Self { declared: Arc::clone(declared), graph, sources })
    }

    /// Returns the graph of other tuples with the same types.
    pub(super) fn with_tuples(&self, tuples: TupleTable, max_closure_bytes: usize) -> Self {
        let schema = Arc::clone(self.graph.schema());
        Self {
            declared: Arc::clone(&self.declared),
            graph: Graph::new(schema, tuples, max_closure_bytes),
            sources: Arc::clone(&self.sources),
        }
    }

    /// Returns whether the types are those that `declared` describes.
    pub(super) fn is_of(&self, declared: &Arc<str>) -> bool {
        Arc::ptr_eq(&self.declared, declared) || self.declared == *declared
    }

    /// Returns the bytes of the types and of the closures that are kept.
    pub(super) fn weight(&self) -> usize {
        self.graph.schema().weight() + self.graph.closure_bytes()
    }

    /// Returns each relation that a claim of the caller's token gives, with the claim.
    pub fn claims(&self) -> impl Iterator<Item = (RelationId, &str)> {
        self.sources.claims.iter().map(|(relation, claim)| (*relation, &**claim))
    }

    /// Returns each relation whose tuples an attribute of the resource stands for, with the attribute.
    pub fn requests(&self) -> impl Iterator<Item = (RelationId, &str)> {
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
