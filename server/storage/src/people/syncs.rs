//! Full syncs of the records of one source. A sync names records in several calls, and its end deletes what it did not
//! name, in one transaction.

use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_optional};
use crate::transactions::tx::Tx;

/// The tables of the syncs of one kind of record.
#[derive(Debug)]
pub struct SyncTable {
    pub(crate) syncs: &'static str,
    pub(crate) records: &'static str,
    /// The column with the number of records when a sync began.
    pub(crate) count: &'static str,
}

/// A sync that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSync {
    pub id: Uuid,
    /// The number of records of the source when it began.
    pub records: usize,
}

/// The end of a sync.
#[derive(Clone, Copy, Debug)]
pub struct SyncEnd<'s> {
    pub source: &'s str,
    pub id: Uuid,
    /// Most records that it may delete.
    pub most: usize,
}

/// Begins the sync `id` of a source. Another sync of the source ends with it, and deletes nothing.
pub async fn begin(
    tx: &mut Tx,
    table: &SyncTable,
    source: &str,
    id: Uuid,
) -> Result<(), StoreError> {
    let SyncTable { syncs, records, count } = table;
    // Safe: the names of tables and columns are constants of a `SyncTable`.
    let sql = AssertSqlSafe(format!(
        "INSERT INTO {syncs} (tenant_id, source, id, begun_at, {count}) VALUES ($1, $2, $3, $4, \
        (SELECT count(*) FROM {records} WHERE tenant_id = $1 AND source = $2)) \
        ON CONFLICT (tenant_id, source) DO UPDATE SET id = excluded.id, \
        begun_at = excluded.begun_at, {count} = excluded.{count}"
    ));
    execute!(tx, sql, &tx.tenant, source, id, tx.at.millis())?;
    Ok(())
}

/// Returns the sync of a source that goes on.
pub async fn current(
    tx: &mut Tx,
    table: &SyncTable,
    source: &str,
) -> Result<Option<OpenSync>, StoreError> {
    let SyncTable { syncs, count, .. } = table;
    let sql = AssertSqlSafe(format!(
        "SELECT id, {count} FROM {syncs} WHERE tenant_id = $1 AND source = $2"
    ));
    let row = fetch_optional!(tx, (Uuid, i64), sql, &tx.tenant, source)?;
    Ok(row.map(|(id, records)| OpenSync { id, records: number(records) }))
}

/// Returns the number of syncs that go on.
pub async fn count(tx: &mut Tx, table: &SyncTable) -> Result<i64, StoreError> {
    let SyncTable { syncs, .. } = table;
    let sql = AssertSqlSafe(format!("SELECT count(*) FROM {syncs} WHERE tenant_id = $1"));
    let row = fetch_optional!(tx, (i64,), sql, &tx.tenant)?;
    Ok(row.map_or(0, |(count,)| count))
}

/// Returns the number of records of a source that the sync `id` did not name.
pub(crate) async fn unnamed(
    tx: &mut Tx,
    table: &SyncTable,
    SyncEnd { source, id, .. }: SyncEnd<'_>,
) -> Result<usize, StoreError> {
    let SyncTable { records, .. } = table;
    let sql = AssertSqlSafe(format!(
        "SELECT count(*) FROM {records} WHERE tenant_id = $1 AND source = $2 \
        AND (sync IS NULL OR sync <> $3)"
    ));
    let row = fetch_optional!(tx, (i64,), sql, &tx.tenant, source, id)?;
    Ok(row.map_or(0, |(count,)| number(count)))
}

/// Notes that the sync of a source ended.
pub(crate) async fn end(tx: &mut Tx, table: &SyncTable, source: &str) -> Result<(), StoreError> {
    let SyncTable { syncs, .. } = table;
    let sql = AssertSqlSafe(format!("DELETE FROM {syncs} WHERE tenant_id = $1 AND source = $2"));
    execute!(tx, sql, &tx.tenant, source)?;
    Ok(())
}

fn number(stored: i64) -> usize {
    usize::try_from(stored).unwrap_or_default()
}
