//! Commits that a SQLite file lacks: somebody put an older file in its place.

use crate::error::StoreError;
use crate::history::in_epoch;
use crate::macros::fetch_all;
use crate::newest_commit::NewestCommit;
use crate::tx::Tx;
use crate::{directory, tenants};

/// Returns a revision of the latest epoch that was lost, if the database lacks the commit that was noted last.
pub(crate) async fn lost(tx: &mut Tx, newest: &NewestCommit) -> Result<Option<u64>, StoreError> {
    let Some(noted) = newest.read() else { return Ok(None) };
    let found = tenants::positions(tx, &[&noted.tenant]).await?.pop();
    let has_it = found.is_some_and(|(_, present)| {
        present.revision >= noted.position.revision && present.agrees_with(&noted.position)
    });
    Ok((!has_it).then(|| in_epoch(0, noted.epoch)))
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
