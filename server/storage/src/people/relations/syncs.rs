//! Full syncs of tuples.

use portcullis_model::audit::AuditAction;

use super::audited::AuditedTuples;
use super::stored::StoredTuple;
use super::writes;
use crate::people::syncs::{self, SyncEnd, SyncTable};
use crate::transactions::error::StoreError;
use crate::transactions::macros::fetch_all;
use crate::transactions::tx::Tx;

/// Tuples that are deleted at once.
const BATCH: i64 = 1_000;

/// The syncs of tuples.
pub const SYNCS: SyncTable =
    SyncTable { syncs: "relation_syncs", records: "relations", count: "tuples" };

/// Ends a sync of a source: deletes the tuples of the source that it did not name. Returns how many. The inner error
/// has their number if they are too many; nothing of the transaction may be committed then.
pub async fn finish(tx: &mut Tx, end: SyncEnd<'_>) -> Result<Result<usize, usize>, StoreError> {
    let SyncEnd { source, id, most } = end;
    // Each range of syncs beside `id` is one of the index.
    const UNNAMED: &str = "SELECT object_type, object_id, relation, subject_type, subject_id, \
        subject_relation, expires_at, source, sync, revision, updated_at, is_deleted \
        FROM relations WHERE tenant_id = $1 AND source = $2 \
        AND (sync IS NULL OR sync < $3 OR sync > $3) LIMIT $4";
    let unnamed = syncs::unnamed(tx, &SYNCS, end).await?;
    if unnamed > most {
        return Ok(Err(unnamed));
    }
    let mut deleted = AuditedTuples::new(AuditAction::RelationsDeleted);
    loop {
        let batch = fetch_all!(tx, StoredTuple, UNNAMED, &tx.tenant, source, id, BATCH)?;
        // A deleted tuple loses its source, so that the next batch does not have it.
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
