//! Full syncs of entities.

use portcullis_model::quota::Quota;
use uuid::Uuid;

use super::audited::AuditedEntities;
use super::forget_deletions;
use super::found::StoredEntity;
use super::names::RoleCounts;
use crate::commits::audit;
use crate::people::syncs::{self, SyncEnd, SyncTable};
use crate::people::{directory, relations};
use crate::tenancy::tenant_settings;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, fetch_all, indexed};
use crate::transactions::tx::{Statements, Tx};

/// Entities that one statement deletes.
const BATCH: i64 = 1_000;

/// The syncs of entities.
pub const SYNCS: SyncTable =
    SyncTable { syncs: "entity_syncs", records: "entities", count: "entities" };

/// Ends a sync of a source: deletes the entities of the source that it did not name. Returns how many. The inner
/// error has their number if they are too many; nothing of the transaction may be committed then.
pub async fn finish(tx: &mut Tx, end: SyncEnd<'_>) -> Result<Result<usize, usize>, StoreError> {
    let SyncEnd { source, id, most } = end;
    let mut deleted = AuditedEntities::new(tenant_settings::audit_values(tx).await?);
    let mut roles = RoleCounts::default();
    loop {
        let batch = delete_batch(tx, source, id).await?;
        for stored in &batch {
            roles.remove(stored)?;
            tx.count(Quota::Entities, -1);
            tx.count(Quota::StoredBytes, -stored.bytes());
            deleted.delete(stored);
        }
        if deleted.count() > most {
            // What is deleted already has no source any more, so that the rest is counted beside it.
            return Ok(Err(deleted.count() + syncs::unnamed(tx, &SYNCS, end).await?));
        }
        if batch.len() < BATCH as usize {
            break;
        }
    }
    roles.store(tx).await?;
    syncs::end(tx, &SYNCS, source).await?;
    if deleted.count() > 0 {
        audit::write_call(tx, deleted.entries(), deleted.count()).await?;
        forget_deletions(tx).await?;
    }
    Ok(Ok(deleted.count()))
}

/// Deletes the next entities of a source that the sync `id` did not name, and returns them as they were.
async fn delete_batch(
    tx: &mut Tx,
    source: &str,
    id: Uuid,
) -> Result<Vec<StoredEntity>, StoreError> {
    const UNNAMED: Statements = indexed!(
        "SELECT type AS kind, id, roles, domain_roles, properties, source, sync, revision, \
        updated_at, is_deleted FROM entities",
        entities_by_source,
        "WHERE tenant_id = $1 AND source = $2 AND (sync IS NULL OR sync <> $3) \
        ORDER BY type, id LIMIT $4"
    );
    const DELETE: Statements = indexed!(
        "UPDATE entities",
        entities_by_source,
        "SET roles = '[]', domain_roles = '{}', properties = '{}', is_deleted = TRUE, \
        source = NULL, sync = NULL, revision = $6, updated_at = $7 \
        WHERE tenant_id = $1 AND source = $2 AND (sync IS NULL OR sync <> $3) \
        AND (type, id) <= ($4, $5)"
    );
    let sql = tx.statement(&UNNAMED);
    let unnamed = fetch_all!(tx, StoredEntity, sql, &tx.tenant, source, id, BATCH)?;
    let Some(last) = unnamed.last() else { return Ok(unnamed) };
    let keys: Vec<(&str, &str)> = unnamed.iter().map(|one| (&*one.kind, &*one.id)).collect();
    relations::delete_of_entities(tx, &keys).await?;
    let revision = directory::next(tx).await?;
    let at = tx.at.millis();
    let sql = tx.statement(&DELETE);
    // These are the entities that were read: all others that the sync did not name come after the last.
    execute!(tx, sql, &tx.tenant, source, id, &last.kind, &last.id, revision, at)?;
    Ok(unnamed)
}
