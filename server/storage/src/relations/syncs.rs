//! Full syncs of tuples.

use portcullis_model::audit::AuditAction;
use uuid::Uuid;

use super::audited::AuditedTuples;
use super::stored::StoredTuple;
use super::writes;
use crate::error::StoreError;
use crate::macros::{fetch_all, fetch_optional};
use crate::syncs::{self, SyncTable, number};
use crate::tx::Tx;

/// Tuples that are deleted at once.
const BATCH: i64 = 1_000;

/// The syncs of tuples.
pub const SYNCS: SyncTable = SyncTable { begin: BEGIN, current: CURRENT, count: COUNT, end: END };

const BEGIN: &str = "INSERT INTO relation_syncs (tenant_id, source, id, begun_at, tuples) \
    VALUES ($1, $2, $3, $4, (SELECT count(*) FROM relations WHERE tenant_id = $1 AND source = $2)) \
    ON CONFLICT (tenant_id, source) DO UPDATE SET \
    id = excluded.id, begun_at = excluded.begun_at, tuples = excluded.tuples";
const CURRENT: &str = "SELECT id, tuples FROM relation_syncs WHERE tenant_id = $1 AND source = $2";
const COUNT: &str = "SELECT count(*) FROM relation_syncs WHERE tenant_id = $1";
const END: &str = "DELETE FROM relation_syncs WHERE tenant_id = $1 AND source = $2";

/// Ends the sync `id` of a source: deletes the tuples of the source that it did not name. Returns how many. The inner error
/// has their number if they are more than `most`; nothing of the transaction may be committed then.
pub async fn finish(
    tx: &mut Tx,
    source: &str,
    id: Uuid,
    most: usize,
) -> Result<Result<usize, usize>, StoreError> {
    // Each range of syncs beside `id` is one of the index.
    const UNNAMED: &str = "SELECT object_type, object_id, relation, subject_type, subject_id, \
        subject_relation, expires_at, source, sync, revision, updated_at, is_deleted \
        FROM relations WHERE tenant_id = $1 AND source = $2 \
        AND (sync IS NULL OR sync < $3 OR sync > $3) LIMIT $4";
    let unnamed = unnamed(tx, source, id).await?;
    if unnamed > most {
        return Ok(Err(unnamed));
    }
    let mut deleted = AuditedTuples::new(AuditAction::RelationsDeleted);
    loop {
        let batch = fetch_all!(tx, StoredTuple, UNNAMED, &tx.tenant, source, id, BATCH)?;
        writes::remove(tx, &batch, &mut deleted).await?;
        if batch.is_empty() {
            break;
        }
    }
    syncs::end(tx, &SYNCS, source).await?;
    let count = deleted.count();
    writes::finish(tx, deleted).await?;
    Ok(Ok(count))
}

/// Returns the number of tuples of a source that the sync `id` did not name.
pub async fn unnamed(tx: &mut Tx, source: &str, id: Uuid) -> Result<usize, StoreError> {
    const SQL: &str = "SELECT count(*) FROM relations \
        WHERE tenant_id = $1 AND source = $2 AND (sync IS NULL OR sync <> $3)";
    let row = fetch_optional!(tx, (i64,), SQL, &tx.tenant, source, id)?;
    Ok(row.map_or(0, |(count,)| number(count)))
}
