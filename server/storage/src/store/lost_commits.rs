//! Commits that a SQLite file lacks: somebody put an older file in its place.

use crate::people::directory;
use crate::tenancy::tenants;
use crate::transactions::error::StoreError;
use crate::transactions::history::{HistoryPosition, REMEMBERED_COMMITS, epoch, in_epoch};
use crate::transactions::macros::{fetch_all, fetch_optional};
use crate::transactions::newest_commit::NewestCommit;
use crate::transactions::tx::Tx;

/// Returns a revision of the latest epoch that was lost, if the database lacks the commit that was noted last, or if not every
/// tenant has begun the epoch after it.
pub(crate) async fn lost(tx: &mut Tx, newest: &NewestCommit) -> Result<Option<u64>, StoreError> {
    let Some(noted) = newest.read() else { return Ok(None) };
    let (position, entities) = places(tx, &noted.tenant).await?;
    let has_it = has(position.as_ref(), &noted.position, noted.epoch)
        && noted.entities.is_none_or(|place| has(entities.as_ref(), &place, noted.epoch));
    Ok((!has_it).then(|| in_epoch(0, noted.epoch)))
}

/// Returns the places in the history of `tenant` and in the history of its entities.
async fn places(
    tx: &mut Tx,
    tenant: &str,
) -> Result<(Option<HistoryPosition>, Option<HistoryPosition>), StoreError> {
    let named = [tenant.to_owned()];
    let position = tenants::positions(tx, &named).await?.pop();
    let entities = directory::for_tenants(tx, Some(&named), REMEMBERED_COMMITS).await?.pop();
    Ok((position.map(|(_, place)| place), entities.map(|(_, place)| place)))
}

/// Returns whether the history that is at `present` has the commit at `noted`. One that is in an epoch after `latest`, which is
/// the latest that was noted, only seems to have it: the epochs of all tenants were not begun to the end.
fn has(present: Option<&HistoryPosition>, noted: &HistoryPosition, latest: u64) -> bool {
    present.is_some_and(|present| {
        epoch(present.revision) <= latest
            && present.revision >= noted.revision
            && present.agrees_with(noted)
    })
}

/// Notes the place of another tenant if the commit that was noted last belongs to `tenant`, which `tx` deletes: else the
/// next start would miss it.
pub(crate) async fn forget(tx: &mut Tx, tenant: &str) -> Result<(), StoreError> {
    const SQL: &str = "SELECT id FROM tenants WHERE id <> $1 ORDER BY changed DESC LIMIT 1";
    let Some(newest) = tx.newest.clone() else { return Ok(()) };
    if newest.read().is_none_or(|noted| noted.tenant != tenant) {
        return Ok(());
    }
    let Some((other,)) = fetch_optional!(tx, (String,), SQL, tenant)? else {
        newest.remove();
        return Ok(());
    };
    let (position, entities) = places(tx, &other).await?;
    // Before the commit: if the deletion fails, the note is still true of the other tenant.
    newest.note(&other, &position.unwrap_or_default(), entities.as_ref());
    Ok(())
}

/// Returns the ids of all tenants.
pub(crate) async fn every_tenant(tx: &mut Tx) -> Result<Vec<String>, StoreError> {
    const SQL: &str = "SELECT id FROM tenants ORDER BY id";
    Ok(fetch_all!(tx, (String,), SQL)?.into_iter().map(|(id,)| id).collect())
}

/// Begins an epoch of the tenant of `tx` after `lost`, and after all that the tenant has.
pub(crate) async fn begin_epoch(tx: &mut Tx, lost: u64) -> Result<(), StoreError> {
    let entities = directory::state(tx).await?.position.revision;
    let lost = lost.max(tenants::revision(tx).await?).max(entities);
    tenants::begin_epoch(tx, lost).await?;
    directory::begin_epoch(tx, lost).await?;
    // Nobody decided on this change: the database made it.
    tx.pass_gates();
    Ok(())
}
