//! The entities and relations of a tenant in memory.

use std::sync::Arc;

use parking_lot::RwLock;
use portcullis_directory::TupleTable;
use portcullis_engine::entities::EntityTable;
use portcullis_storage::HistoryPosition;

use super::error::EntitiesError;
use super::graph::TenantGraph;

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
        let tuples = self.tuples.clone();
        let graph = TenantGraph::compile(declared, tuples, self.max_closure_bytes);
        let graph = Arc::new(graph.map_err(Arc::new)?);
        *self.graph.write() = Some(Arc::clone(&graph));
        Ok(graph)
    }

    /// Returns the bytes of the tables, and of the compiled types and the closures that are kept.
    pub(super) fn weight(&self) -> u64 {
        let graph = self.graph.read().as_ref().map_or(0, |graph| graph.weight());
        self.weight + u64::try_from(graph).unwrap_or(u64::MAX)
    }
}

/// The closures of subjects may take this part of what a tenant may take.
const CLOSURES_SHARE: u64 = 16;
