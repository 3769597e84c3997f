//! The entities and relations of a tenant in memory.

use std::sync::Arc;

use parking_lot::RwLock;
use portcullis_directory::{Graph, Schema, TupleTable, TypeRelations};
use portcullis_engine::entities::EntityTable;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::relation::{NewTuple, in_table, with_tuples};
use portcullis_storage::types::NumberedRelations;
use portcullis_storage::{HistoryPosition, StoreError};

use super::error::EntitiesError;

/// The entities and relations of a tenant at one revision.
#[derive(Debug)]
pub struct LoadedEntities {
    pub table: EntityTable,
    pub(super) tuples: TupleTable,
    /// The place in the history of the tenant's entities and relations.
    pub position: HistoryPosition,
    /// The bytes of both tables.
    weight: u64,
    /// The maximum bytes of the closures of subjects.
    max_closure_bytes: usize,
    /// The graph with the types that a check needed last, after their description.
    graph: RwLock<Option<(Arc<str>, Arc<Graph>)>>,
}

impl LoadedEntities {
    /// Makes the entities of a tenant that may take `most` bytes. Types that are compiled in `outdated` are not compiled again.
    pub(super) fn new(
        (table, tuples): (EntityTable, TupleTable),
        position: HistoryPosition,
        outdated: Option<&Self>,
        most: u64,
    ) -> Self {
        let weight = u64::try_from(table.weight() + tuples.weight()).unwrap_or(u64::MAX);
        let max_closure_bytes = usize::try_from(most / CLOSURES_SHARE).unwrap_or(usize::MAX);
        let known = outdated.and_then(|outdated| outdated.graph.read().clone());
        // The closures of the old graph are of other tuples, so the new graph begins without any.
        let graph = known.map(|(declared, known)| {
            let schema = Arc::clone(known.schema());
            (declared, Arc::new(Graph::new(schema, tuples.clone(), max_closure_bytes)))
        });
        Self { table, tuples, position, weight, max_closure_bytes, graph: RwLock::new(graph) }
    }

    /// Returns the graph of the tuples, with the types that `declared` describes ([`TenantFacts::relations`]).
    ///
    /// [`TenantFacts::relations`]: portcullis_engine::TenantFacts::relations
    ///
    /// # Errors
    /// The stored types are corrupt.
    pub fn graph(&self, declared: &Arc<str>) -> Result<Arc<Graph>, EntitiesError> {
        if let Some((known, graph)) = &*self.graph.read()
            // Most plans of a tenant share the text, which spares the comparison.
            && (Arc::ptr_eq(known, declared) || known == declared)
        {
            return Ok(Arc::clone(graph));
        }
        // Two checks may compile the same types at once; their graphs are alike, and the later one stays.
        let schema = Arc::new(compiled(declared).map_err(Arc::new)?);
        let graph = Arc::new(Graph::new(schema, self.tuples.clone(), self.max_closure_bytes));
        *self.graph.write() = Some((Arc::clone(declared), Arc::clone(&graph)));
        Ok(graph)
    }

    /// Returns the same entities with further tuples, for one check. `None`, with the reasons in `problems`, if the types that
    /// `declared` describes do not allow one.
    ///
    /// # Errors
    /// The stored types are corrupt.
    pub fn assuming(
        &self,
        declared: &Arc<str>,
        tuples: &[NewTuple],
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Result<Option<Self>, EntitiesError> {
        let graph = self.graph(declared)?;
        let tuples = with_tuples(&self.tuples, graph.schema(), tuples, at, problems);
        Ok(tuples.map(|tuples| {
            let schema = Arc::clone(graph.schema());
            let graph = Arc::new(Graph::new(schema, tuples.clone(), self.max_closure_bytes));
            Self {
                table: self.table.clone(),
                tuples,
                position: self.position.clone(),
                weight: self.weight,
                max_closure_bytes: self.max_closure_bytes,
                graph: RwLock::new(Some((Arc::clone(declared), graph))),
            }
        }))
    }

    /// Notes the tuples that the types that `declared` describes do not allow.
    ///
    /// # Errors
    /// The stored types are corrupt.
    pub fn note_forbidden(
        &self,
        declared: &Arc<str>,
        tuples: &[NewTuple],
        at: &Place<'_>,
        problems: &mut Problems,
    ) -> Result<(), EntitiesError> {
        let graph = self.graph(declared)?;
        in_table(graph.schema(), tuples, at, problems);
        Ok(())
    }

    /// Returns the bytes that these entities have for themselves, if they are others with further tuples.
    pub fn own_weight(&self) -> usize {
        size_of::<Self>() + size_of::<Graph>() + self.tuples.overlay_weight()
    }

    /// Returns the bytes of the tables, and of the compiled types and the closures that are kept.
    pub(super) fn weight(&self) -> u64 {
        let graph = self.graph.read().as_ref().map_or(0, |(_, graph)| graph.weight());
        self.weight + u64::try_from(graph).unwrap_or(u64::MAX)
    }
}

/// The closures of subjects may take this part of what a tenant may take.
const CLOSURES_SHARE: u64 = 16;

/// Compiles the types that `declared` describes.
///
/// # Errors
/// [`StoreError::Corrupt`]: types that do not compile are not stored.
fn compiled(declared: &str) -> Result<Schema, StoreError> {
    let types = NumberedRelations::read_all(declared)?;
    let types = types.iter();
    let types = types.map(|one| TypeRelations { name: &one.kind, relations: &one.relations });
    let types: Vec<TypeRelations<'_>> = types.collect();
    Schema::compile(&types).map_err(|_| StoreError::Corrupt { what: "types.relations" })
}
