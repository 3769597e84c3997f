//! Full syncs of the records of one source. A sync names records in several calls, and its end deletes what it did not
//! name, in one transaction.

use uuid::Uuid;

use crate::error::StoreError;
use crate::macros::{execute, fetch_optional};
use crate::tx::Tx;

/// The statements of the syncs of one kind of record.
#[derive(Debug)]
pub struct SyncTable {
    pub(crate) begin: &'static str,
    pub(crate) current: &'static str,
    pub(crate) count: &'static str,
    pub(crate) end: &'static str,
}

/// A sync that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSync {
    pub id: Uuid,
    /// The number of records of the source when it began.
    pub records: usize,
}

/// Begins the sync `id` of a source. Another sync of the source ends with it, and deletes nothing.
pub async fn begin(
    tx: &mut Tx,
    table: &SyncTable,
    source: &str,
    id: Uuid,
) -> Result<(), StoreError> {
    execute!(tx, table.begin, &tx.tenant, source, id, tx.at.millis())?;
    Ok(())
}

/// Returns the sync of a source that goes on.
pub async fn current(
    tx: &mut Tx,
    table: &SyncTable,
    source: &str,
) -> Result<Option<OpenSync>, StoreError> {
    let row = fetch_optional!(tx, (Uuid, i64), table.current, &tx.tenant, source)?;
    Ok(row.map(|(id, records)| OpenSync { id, records: number(records) }))
}

/// Returns the number of syncs that go on.
pub async fn count(tx: &mut Tx, table: &SyncTable) -> Result<i64, StoreError> {
    let row = fetch_optional!(tx, (i64,), table.count, &tx.tenant)?;
    Ok(row.map_or(0, |(count,)| count))
}

/// Notes that the sync of a source ended.
pub(crate) async fn end(tx: &mut Tx, table: &SyncTable, source: &str) -> Result<(), StoreError> {
    execute!(tx, table.end, &tx.tenant, source)?;
    Ok(())
}

pub(crate) fn number(stored: i64) -> usize {
    usize::try_from(stored).unwrap_or_default()
}
