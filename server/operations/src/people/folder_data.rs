//! The entities and tuples that the operator keeps in files, as `portcullis dev` does.

use portcullis_engine::invalid::{Place, Problems};
use portcullis_model::Authorship;
use portcullis_model::entity::NewEntity;
use portcullis_model::relation::NewTuple;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_storage::StoreError;
use portcullis_storage::entities::{self, Upsert};
use portcullis_storage::relations::{self, EntityOrigin};
use portcullis_storage::syncs::SyncEnd;

use super::entities::commit_entities;
use super::tuples::NamedRelations;

/// The source of the entities and tuples of files.
const SOURCE: &str = "folder";

/// Replaces the entities and tuples of `tenant` that come from files with the given ones. Entities and tuples of other
/// sources stay, unless a file has them, too.
///
/// # Errors
/// The stored types do not allow a tuple, the tenant has too many, or the store failed.
pub async fn store_as_operator(
    app: &App,
    tenant: &str,
    (entities, tuples): (&[NewEntity], &[NewTuple]),
    by: &Authorship,
) -> Result<(), OperationError> {
    let id = app.ids.next(by.at);
    let origin = EntityOrigin { source: Some(SOURCE), sync: Some(id) };
    let end = SyncEnd { source: SOURCE, id, most: usize::MAX };
    let mut tx = app.store.write(tenant, by.at.millis()).await?;
    Upsert::compare(&mut tx, entities, origin).await?.write(&mut tx).await?;
    // Before the tuples: the tuples of an entity go with it, and the files may have some of them.
    finished(entities::syncs::finish(&mut tx, end).await?)?;
    let (mut problems, root) = (Problems::default(), Place::root());
    let named = NamedRelations::read(&mut tx).await?;
    let writes = named.to_write(tuples, &root, &mut problems);
    problems.into_result()?;
    relations::write(&mut tx, &writes.numbered, origin).await?;
    finished(relations::syncs::finish(&mut tx, end).await?)?;
    commit_entities(app, tx).await?;
    Ok(())
}

/// Returns the end of a sync that may delete everything.
fn finished(deleted: Result<usize, usize>) -> Result<usize, StoreError> {
    deleted.map_err(|_| StoreError::Corrupt { what: "syncs" })
}
