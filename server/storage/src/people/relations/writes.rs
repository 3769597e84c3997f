//! Writes and deletions of tuples.

use portcullis_model::Timestamp;
use portcullis_model::audit::AuditAction;
use portcullis_model::quota::Quota;
use uuid::Uuid;

use super::audited::AuditedTuples;
use super::lists::{TupleFilter, TupleShape, matching, of_shape};
use super::stored::{StoredTuple, bytes, find_stored, subject_relation};
use super::{NumberedTuple, TupleKey};
use crate::people::directory::{self, EntityOrigin, Forgetting};
use crate::transactions::error::StoreError;
use crate::transactions::row_lists::{Rows, write_rows};
use crate::transactions::tx::Tx;

/// Most tuples that the deletion of entities deletes.
const MAX_OF_ENTITIES: usize = 10_000;

/// Writes tuples. Those that are deleted come back.
const TUPLES: Rows = Rows {
    head: "INSERT INTO relations (tenant_id, object_type, object_id, relation, subject_type, \
        subject_id, subject_relation, expires_at, source, sync, revision, updated_at, is_deleted)",
    values: 12,
    tail: "ON CONFLICT (tenant_id, object_type, object_id, relation, subject_type, subject_id, \
        subject_relation) DO UPDATE SET expires_at = excluded.expires_at, source = excluded.source, \
        sync = excluded.sync, revision = excluded.revision, updated_at = excluded.updated_at, \
        is_deleted = excluded.is_deleted",
};

/// The row of a tuple that is written.
struct TupleRow<'k> {
    key: &'k TupleKey,
    expires_at: Option<i64>,
    source: Option<&'k str>,
    sync: Option<Uuid>,
    /// The revision and the instant of a tuple that only becomes part of a sync.
    unchanged: Option<(i64, i64)>,
    is_deleted: bool,
}

/// Inserts tuples, no two with one key, or gives them another expiry and source. The revision of the directory rises by one
/// if any of them changes. Returns which did.
pub async fn write(
    tx: &mut Tx,
    tuples: &[NumberedTuple],
    origin: EntityOrigin<'_>,
) -> Result<Vec<bool>, StoreError> {
    let stored = find_stored(tx, tuples.iter().map(|tuple| &tuple.key)).await?;
    let mut written = AuditedTuples::new(AuditAction::RelationsWritten);
    let (mut rows, mut are_written) = (Vec::new(), Vec::with_capacity(tuples.len()));
    let (EntityOrigin { source, sync }, mut new, mut new_bytes) = (origin, 0, 0);
    for NumberedTuple { key, expires_at } in tuples {
        let expires_at = expires_at.map(Timestamp::millis);
        let live = stored.get(key).filter(|old| !old.is_deleted);
        let same =
            live.filter(|old| old.expires_at == expires_at && old.source.as_deref() == source);
        let unchanged = same.map(|old| (old.revision, old.updated_at));
        are_written.push(same.is_none());
        if live.is_none() {
            new += 1;
            new_bytes +=
                bytes([&key.object.kind, &key.object.id, &key.subject.kind, &key.subject.id]);
        }
        match same {
            None => written.note(key),
            Some(old) if sync.is_none() || old.sync == sync => continue,
            // The tuple becomes a part of the sync, and is no change.
            Some(_) => {}
        }
        rows.push(TupleRow { key, expires_at, source, sync, unchanged, is_deleted: false });
    }
    // Without a change every row brings its own revision, so that the 0 is never stored.
    let revision = if written.count() == 0 { 0 } else { directory::next(tx).await? };
    store(tx, &rows, revision).await?;
    tx.count(Quota::Relations, new);
    tx.count(Quota::StoredBytes, new_bytes);
    written.store(tx).await?;
    Ok(are_written)
}

/// Deletes the tuples with these keys. Returns which were there.
pub async fn delete(tx: &mut Tx, keys: &[TupleKey]) -> Result<Vec<bool>, StoreError> {
    let stored = find_stored(tx, keys.iter()).await?;
    let live = keys.iter().map(|key| stored.get(key).filter(|old| !old.is_deleted));
    let were_there = live.clone().map(|old| old.is_some()).collect();
    let rows: Vec<StoredTuple> = live.flatten().cloned().collect();
    let mut deleted = AuditedTuples::new(AuditAction::RelationsDeleted);
    remove(tx, &rows, &mut deleted).await?;
    finish(tx, deleted).await?;
    Ok(were_there)
}

/// Deletes the first `limit` tuples that fit a filter. Returns their number, and whether further ones fit.
pub async fn delete_matching(
    tx: &mut Tx,
    filter: &TupleFilter<'_>,
    limit: usize,
) -> Result<(usize, bool), StoreError> {
    // One more than may go tells whether there are further ones.
    let mut rows = matching(tx, filter, limit.saturating_add(1)).await?;
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    let mut deleted = AuditedTuples::new(AuditAction::RelationsDeleted);
    remove(tx, &rows, &mut deleted).await?;
    finish(tx, deleted).await?;
    Ok((rows.len(), has_more))
}

/// Deletes the tuples of a source that have one of these shapes. Returns how many.
pub async fn delete_shapes(
    tx: &mut Tx,
    source: &str,
    shapes: &[TupleShape],
) -> Result<usize, StoreError> {
    let mut deleted = AuditedTuples::new(AuditAction::RelationsDeleted);
    for shape in shapes {
        let rows = of_shape(tx, source, shape).await?;
        remove(tx, &rows, &mut deleted).await?;
    }
    let count = deleted.count();
    finish(tx, deleted).await?;
    Ok(count)
}

/// Deletes the tuples of which one of these entities, each of a type and id, is the object or the subject: an object that
/// gets the id of a former one must not have its shares. Returns how many.
///
/// # Errors
/// [`StoreError::TooManyTuples`] if they are more than one call deletes; nothing of the transaction may be committed then.
pub(crate) async fn delete_of_entities(
    tx: &mut Tx,
    entities: &[(&str, &str)],
) -> Result<usize, StoreError> {
    // Most tenants have no tuples, and need no look-up for each entity.
    if directory::state(tx).await?.relations == 0 {
        return Ok(0);
    }
    let mut deleted = AuditedTuples::new(AuditAction::RelationsDeleted);
    for entity in entities {
        let object = TupleFilter { object: Some(*entity), ..TupleFilter::default() };
        let subject = TupleFilter { subject: Some(*entity), ..TupleFilter::default() };
        for filter in [object, subject] {
            // One more than may go tells that there are too many.
            let rows = matching(tx, &filter, MAX_OF_ENTITIES + 1).await?;
            if deleted.count() + rows.len() > MAX_OF_ENTITIES {
                return Err(StoreError::TooManyTuples { limit: MAX_OF_ENTITIES });
            }
            remove(tx, &rows, &mut deleted).await?;
        }
    }
    let count = deleted.count();
    finish(tx, deleted).await?;
    Ok(count)
}

/// Deletes tuples that are there, no two with one key.
pub(super) async fn remove(
    tx: &mut Tx,
    tuples: &[StoredTuple],
    deleted: &mut AuditedTuples,
) -> Result<(), StoreError> {
    if tuples.is_empty() {
        return Ok(());
    }
    let keys = tuples.iter().map(StoredTuple::key).collect::<Result<Vec<_>, _>>()?;
    // The row stays, marked: whoever follows the changes has to learn of it.
    let rows = keys.iter().map(|key| TupleRow {
        key,
        expires_at: None,
        source: None,
        sync: None,
        unchanged: None,
        is_deleted: true,
    });
    let rows: Vec<TupleRow<'_>> = rows.collect();
    let revision = directory::next(tx).await?;
    store(tx, &rows, revision).await?;
    for (tuple, key) in tuples.iter().zip(&keys) {
        deleted.note(key);
        tx.count(Quota::Relations, -1);
        tx.count(Quota::StoredBytes, -tuple.bytes());
    }
    Ok(())
}

/// Ends a call that deleted tuples.
pub(super) async fn finish(tx: &mut Tx, deleted: AuditedTuples) -> Result<(), StoreError> {
    const COUNT: &str = "SELECT count(*) FROM relations WHERE tenant_id = $1 AND is_deleted";
    const FORGET: &str =
        "DELETE FROM relations WHERE tenant_id = $1 AND is_deleted AND revision < $2";
    const NOTE: &str = "UPDATE tenants SET relations_forgotten = $2 WHERE id = $1";
    if deleted.count() > 0 {
        deleted.store(tx).await?;
        let table = Forgetting { count: COUNT, forget: FORGET, note: NOTE };
        directory::forget_deletions(tx, &table).await?;
    }
    Ok(())
}

async fn store(tx: &mut Tx, rows: &[TupleRow<'_>], revision: i64) -> Result<(), StoreError> {
    let written = (revision, tx.at.millis());
    write_rows!(tx, TUPLES, rows, row =>
        &row.key.object.kind,
        &row.key.object.id,
        i64::from(row.key.relation.0),
        &row.key.subject.kind,
        &row.key.subject.id,
        subject_relation(row.key.subject_relation),
        row.expires_at,
        row.source,
        row.sync,
        row.unchanged.unwrap_or(written).0,
        row.unchanged.unwrap_or(written).1,
        row.is_deleted,
    );
    Ok(())
}
