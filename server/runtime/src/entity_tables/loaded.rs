//! The entities and relations of a tenant in memory.

use std::sync::Arc;

use parking_lot::RwLock;
use portcullis_directory::{Schema, TenantGraph, TupleTable, TypeRelations};
use portcullis_engine::entities::EntityTable;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::relation::{NewTuple, with_tuples};
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
    /// The graph with the types that a check needed last.
    graph: RwLock<Option<Arc<TenantGraph>>>,
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
        let graph =
            known.map(|known| Arc::new(known.with_tuples(tuples.clone(), max_closure_bytes)));
        Self { table, tuples, position, weight, max_closure_bytes, graph: RwLock::new(graph) }
    }

    /// Returns the graph of the tuples, with the types that `declared` describes ([`TenantFacts::relations`]).
    ///
    /// [`TenantFacts::relations`]: portcullis_engine::TenantFacts::relations
    ///
    /// # Errors
    /// The stored types are corrupt.
    pub fn graph(&self, declared: &Arc<str>) -> Result<Arc<TenantGraph>, EntitiesError> {
        let known = self.graph.read().clone();
        if let Some(known) = known.filter(|known| known.is_of(declared)) {
            return Ok(known);
        }
        let schema = Arc::new(compiled(declared).map_err(Arc::new)?);
        let (declared, tuples) = (Arc::clone(declared), self.tuples.clone());
        let graph = Arc::new(TenantGraph::new(declared, schema, tuples, self.max_closure_bytes));
        *self.graph.write() = Some(Arc::clone(&graph));
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
        let tuples = with_tuples(&self.tuples, graph.graph.schema(), tuples, at, problems);
        Ok(tuples.map(|tuples| Self {
            table: self.table.clone(),
            tuples: tuples.clone(),
            position: self.position.clone(),
            weight: self.weight,
            max_closure_bytes: self.max_closure_bytes,
            graph: RwLock::new(Some(Arc::new(graph.with_tuples(tuples, self.max_closure_bytes)))),
        }))
    }

    /// Returns the bytes of the tables, and of the compiled types and the closures that are kept.
    pub(super) fn weight(&self) -> u64 {
        let graph = self.graph.read().as_ref().map_or(0, |graph| graph.weight());
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
