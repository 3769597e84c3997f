//! The use cases of tuples (`docs/semantics.md`, section 12.11).

mod named;

use portcullis_auth::Manager;
use portcullis_engine::Invalid;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::entity::WrittenEntities;
use portcullis_model::page::Listed;
use portcullis_model::relation::{
    DeletedRelations, RelationsBody, RelationsSyncBody, TupleRecord, TupleResult, TupleSelection,
    TupleWrite, WrittenRelations,
};
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::DeletingWrite;
use portcullis_storage::relations::syncs::{self, SYNCS};
use portcullis_storage::relations::{EntityOrigin, state};
use portcullis_storage::syncs::SyncEnd;
use portcullis_storage::{Tx, relations};

use super::entities::commit_entities;
use super::sync_parts::PartOfSync;
pub(crate) use named::NamedRelations;
use named::{NamedTuples, filter};

/// Most tuples that a call deletes by a filter.
const MAX_DELETED: usize = 10_000;

/// The way in which tuples are written.
#[derive(Clone, Copy, Debug)]
pub struct TuplesWrite {
    /// The answer tells what was done with each.
    pub with_details: bool,
    /// Nothing is written: the answer tells what would be done.
    pub dry_run: bool,
}

/// Writes and deletes tuples of the caller's tenant, all or none.
///
/// # Errors
/// A tuple does not fit the relations of the types, the tenant has too many, or the store failed.
pub async fn write(
    app: &App,
    caller: &Manager,
    body: &RelationsBody,
    TuplesWrite { with_details, dry_run }: TuplesWrite,
) -> Result<WrittenRelations, OperationError> {
    let by = app.authored_by(caller.actor());
    // The turn comes first, so that no other write of this process changes what is named.
    let turn = app.turn(caller).await?;
    let named = NamedRelations::on_snapshot(app, caller).await?;
    let mut tx = app.write_in(turn, caller, &by).await?;
    let before = state(&mut tx).await?.position.revision;
    let named = named.at_present(&mut tx).await?;
    let (mut problems, root) = (Problems::default(), Place::root());
    let writes = named.to_write(&body.write, &root.key("write"), &mut problems);
    let deletes = named.to_delete(&body.delete, &root.key("delete"), &mut problems);
    problems.into_result()?;
    let origin = EntityOrigin { source: body.source.as_deref(), sync: None };
    let written = relations::write(&mut tx, &writes.numbered, origin).await?;
    let keys: Vec<_> = deletes.numbered.iter().map(|tuple| tuple.key.clone()).collect();
    // After the writes: a tuple in both lists is gone.
    let deleted = relations::delete(&mut tx, &keys).await?;
    let entities_revision = ended(app, tx, dry_run, before).await?;
    let results = with_details.then(|| results((&writes, &written), (&deletes, &deleted)));
    let (written, unchanged) = counts(&written);
    let (deleted, absent) = counts(&deleted);
    Ok(WrittenRelations { written, unchanged, deleted, absent, entities_revision, results })
}

/// Commits a transaction, or takes it back if it is a dry run. Returns the revision of the directory, which was `before` without
/// the transaction.
async fn ended(app: &App, tx: Tx, dry_run: bool, before: u64) -> Result<u64, OperationError> {
    if !dry_run {
        return commit_entities(app, tx).await;
    }
    tx.cancel().await?;
    Ok(before)
}

/// Returns how many are true, and how many false.
fn counts(all: &[bool]) -> (u64, u64) {
    let number = all.iter().filter(|one| **one).count();
    (number as u64, (all.len() - number) as u64)
}

/// Returns each tuple with what was done.
fn results(
    (writes, written): (&NamedTuples<'_>, &[bool]),
    (deletes, deleted): (&NamedTuples<'_>, &[bool]),
) -> Vec<TupleWrite> {
    let written = written.iter().map(|is_done| match is_done {
        true => TupleResult::Written,
        false => TupleResult::Unchanged,
    });
    let deleted = deleted.iter().map(|is_done| match is_done {
        true => TupleResult::Deleted,
        false => TupleResult::Absent,
    });
    let writes = writes.sent.iter().zip(written);
    let all = writes.chain(deletes.sent.iter().zip(deleted));
    all.map(|(tuple, result)| TupleWrite::new(tuple, result)).collect()
}

/// Begins, continues or ends a full sync of the tuples of a source, as one of entities. With `dry_run` it only counts what a
/// whole sync would do.
///
/// # Errors
/// The errors of [`write()`]; the sync is not the one that goes on, too many go on, its end would delete too many tuples, or a
/// dry run is only a part of a sync.
pub async fn sync(
    app: &App,
    caller: &Manager,
    body: &RelationsSyncBody,
    dry_run: bool,
) -> Result<WrittenEntities, OperationError> {
    let RelationsSyncBody { part, relations: sent } = body;
    if dry_run && (part.sync.is_some() || !part.finish) {
        let what = "`true` and no `sync`: a dry run is one call that begins and finishes the sync";
        return Err(Invalid::expected("/finish", what).into());
    }
    let by = app.authored_by(caller.actor());
    let id = part.sync.unwrap_or_else(|| app.ids.next(by.at));
    let origin = EntityOrigin { source: Some(&part.source), sync: Some(id) };
    let turn = app.turn(caller).await?;
    let named = NamedRelations::on_snapshot(app, caller).await?;
    let mut tx = app.write_in(turn, caller, &by).await?;
    let before = state(&mut tx).await?.position.revision;
    let named = named.at_present(&mut tx).await?;
    let (mut problems, root) = (Problems::default(), Place::root());
    let writes = named.to_write(sent, &root.key("relations"), &mut problems);
    problems.into_result()?;
    let sync = PartOfSync::open(&mut tx, &SYNCS, part, id).await?;
    let written = relations::write(&mut tx, &writes.numbered, origin).await?;
    let (written, unchanged) = counts(&written);
    let mut deleted = 0;
    if part.finish {
        // A dry run says how many it would delete, and is not refused for that.
        let most = if dry_run { usize::MAX } else { sync.max_deletions(&mut tx).await? };
        let finished = syncs::finish(&mut tx, SyncEnd { source: &part.source, id, most }).await?;
        let finished =
            finished.map_err(|found| sync.refused(found, most, DeletingWrite::RelationSync));
        deleted = finished? as u64;
    }
    let entities_revision = ended(app, tx, dry_run, before).await?;
    let sync = (!part.finish).then_some(id);
    Ok(WrittenEntities { written, unchanged, deleted, entities_revision, sync })
}

/// Lists the tuples of the caller's tenant that `selection` selects, after a place, and returns the revision of the directory.
pub async fn list(
    app: &App,
    caller: &Manager,
    selection: &TupleSelection,
    after: &str,
    limit: i64,
) -> Result<(Listed<TupleRecord>, u64), OperationError> {
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    let numbers = numbers(&mut tx, selection).await?;
    let filter = filter(selection, numbers.as_deref());
    let records = relations::list(&mut tx, &filter, after, limit).await?;
    let revision = state(&mut tx).await?.position.revision;
    tx.end().await?;
    Ok((records, revision))
}

/// Deletes the tuples of the caller's tenant that `selection` selects, at most 10,000.
///
/// # Errors
/// The store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    selection: &TupleSelection,
) -> Result<DeletedRelations, OperationError> {
    let by = app.authored_by(caller.actor());
    let mut tx = app.write(caller, &by).await?;
    let numbers = numbers(&mut tx, selection).await?;
    let filter = filter(selection, numbers.as_deref());
    let (deleted, more) = relations::delete_matching(&mut tx, &filter, MAX_DELETED).await?;
    let entities_revision = commit_entities(app, tx).await?;
    Ok(DeletedRelations { deleted: deleted as u64, more, entities_revision })
}

/// Returns the numbers of the relations with the selected name; `None` if none is selected.
async fn numbers(
    tx: &mut Tx,
    selection: &TupleSelection,
) -> Result<Option<Vec<named::Number>>, OperationError> {
    match &selection.relation {
        Some(name) => Ok(Some(NamedRelations::read(tx).await?.numbers(name))),
        None => Ok(None),
    }
}
