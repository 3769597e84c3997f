//! The entities of a tenant in memory.

use portcullis_engine::entities::EntityTable;
use portcullis_storage::HistoryPosition;

/// The entities of a tenant at one revision.
#[derive(Debug)]
pub struct LoadedEntities {
    pub table: EntityTable,
    /// The place in the history of the tenant's entities.
    pub position: HistoryPosition,
    /// The bytes of the table.
    pub(super) weight: u64,
}
