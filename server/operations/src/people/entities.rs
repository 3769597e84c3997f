//! The use cases of entities (`docs/semantics.md`, section 12).

use portcullis_auth::Manager;
use portcullis_engine::Invalid;
use portcullis_engine::invalid::{Place, Problems};
use portcullis_engine::types::Types;
use portcullis_model::entity::{
    EntitiesBody, EntityBody, EntityPatch, EntityRecord, NewEntity, SyncBody, WrittenEntities,
};
use portcullis_model::page::Listed;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::write_refusal::DeletingWrite;
use portcullis_storage::entities::syncs::{self, SYNCS};
use portcullis_storage::entities::{EntityOrigin, NameClash, Upsert, Upserted};
use portcullis_storage::syncs::SyncEnd;
use portcullis_storage::{HistoryPosition, StoreError, Tx, entities, tenants};
use uuid::Uuid;

use super::sync_parts::PartOfSync;
use crate::changes::etag::Precondition;
use crate::changes::written::Stored;
use crate::content::roles::is_entity;
use crate::content::types;

const NOT_FOUND: OperationError = OperationError::NotFound("entity");

/// Inserts or replaces entities in the caller's tenant, all or none.
///
/// # Errors
/// An entity has the name of a role or of another entity, the tenant has too many, or the store failed.
pub async fn write(
    app: &App,
    caller: &Manager,
    body: &EntitiesBody,
) -> Result<WrittenEntities, OperationError> {
    let by = app.authored_by(caller.actor());
    let origin = EntityOrigin { source: body.source.as_deref(), sync: None };
    // The turn comes first, so that no other write of this process makes the comparison outdated.
    let turn = app.turn(caller).await?;
    let compared = Compared::on_snapshot(app, caller, &body.entities, origin).await?;
    let mut tx = app.write_in(turn, caller, &by).await?;
    let upserted = compared.write(&mut tx, &body.entities, origin).await?;
    commit(app, tx, upserted, 0, None).await
}

/// Counts what [`write()`] would do, on a snapshot.
///
/// # Errors
/// The errors of [`write()`], without the quotas.
pub async fn dry_run(
    app: &App,
    caller: &Manager,
    body: &EntitiesBody,
) -> Result<WrittenEntities, OperationError> {
    let origin = EntityOrigin { source: body.source.as_deref(), sync: None };
    let compared = Compared::on_snapshot(app, caller, &body.entities, origin).await?;
    let Upserted { written, unchanged } = compared.upsert.counts();
    let entities_revision = compared.met.1.revision;
    Ok(WrittenEntities { written, unchanged, deleted: 0, entities_revision, sync: None })
}

/// Begins, continues or ends a full sync of the entities of a source. Its end deletes the entities of the source that the
/// sync did not name.
///
/// # Errors
/// The errors of [`write()`]; the sync is not the one that goes on, too many go on, or its end would delete too many entities.
pub async fn sync(
    app: &App,
    caller: &Manager,
    body: &SyncBody,
) -> Result<WrittenEntities, OperationError> {
    let SyncBody { part, entities } = body;
    let by = app.authored_by(caller.actor());
    let id = part.sync.unwrap_or_else(|| app.ids.next(by.at));
    let origin = EntityOrigin { source: Some(&part.source), sync: Some(id) };
    let turn = app.turn(caller).await?;
    let compared = Compared::on_snapshot(app, caller, entities, origin).await?;
    let mut tx = app.write_in(turn, caller, &by).await?;
    // The lock of the tenant keeps another sync of the source from beginning in between.
    let sync = PartOfSync::open(&mut tx, &SYNCS, part, id).await?;
    let upserted = compared.write(&mut tx, entities, origin).await?;
    if !part.finish {
        return commit(app, tx, upserted, 0, Some(id)).await;
    }
    let most = sync.max_deletions(&mut tx).await?;
    let deleted = syncs::finish(&mut tx, SyncEnd { source: &part.source, id, most }).await?;
    let deleted = deleted.map_err(|found| sync.refused(found, most, DeletingWrite::EntitySync))?;
    commit(app, tx, upserted, deleted, None).await
}

/// Inserts or replaces one entity in the caller's tenant, and returns it with the revision of the directory.
///
/// # Errors
/// The precondition does not hold, or the errors of [`write()`].
pub async fn put(
    app: &App,
    caller: &Manager,
    precondition: &Precondition,
    body: &EntityBody,
) -> Result<(Stored<EntityRecord>, u64), OperationError> {
    let EntityBody { entity, source } = body;
    let by = app.authored_by(caller.actor());
    let mut tx = app.write(caller, &by).await?;
    let old = entities::find(&mut tx, &entity.kind, &entity.id).await?;
    precondition.check_stored(old.as_ref())?;
    let origin = EntityOrigin { source: source.as_deref(), sync: None };
    let record = write_one(&mut tx, entity, origin).await?;
    let entities_revision = commit_entities(app, tx).await?;
    Ok((Stored { record, is_new: old.is_none() }, entities_revision))
}

/// Changes one entity of the caller's tenant, and returns it with the revision of the directory. It stays the entity of its
/// source and of its sync.
///
/// # Errors
/// The tenant has no such entity, the precondition does not hold, the change does not fit the entity, or the errors of
/// [`write()`].
pub async fn patch(
    app: &App,
    caller: &Manager,
    (kind, id): (&str, &str),
    precondition: &Precondition,
    change: &EntityPatch,
) -> Result<(Stored<EntityRecord>, u64), OperationError> {
    let by = app.authored_by(caller.actor());
    let mut tx = app.write(caller, &by).await?;
    let record = patch_in(&mut tx, (kind, id), precondition, change).await?;
    let entities_revision = commit_entities(app, tx).await?;
    Ok((Stored { record, is_new: false }, entities_revision))
}

/// Changes one entity in a transaction that has locked the tenant: of two changes at the same time the second one reads what
/// the first one wrote.
async fn patch_in(
    tx: &mut Tx,
    (kind, id): (&str, &str),
    precondition: &Precondition,
    change: &EntityPatch,
) -> Result<EntityRecord, OperationError> {
    let (old, sync) = entities::find_in_sync(tx, kind, id).await?.ok_or(NOT_FOUND)?;
    precondition.check(&old)?;
    let source = old.source.clone();
    let entity = change.applied_to(old)?;
    let origin = EntityOrigin { source: source.as_deref(), sync };
    write_one(tx, &entity, origin).await.map_err(|error| match error {
        OperationError::Invalid(invalid) => change.place(invalid).into(),
        error => error,
    })
}

/// Writes one entity and returns its record. A fault has its place in the entity.
async fn write_one(
    tx: &mut Tx,
    entity: &NewEntity,
    origin: EntityOrigin<'_>,
) -> Result<EntityRecord, OperationError> {
    let entities = std::slice::from_ref(entity);
    check(tx, entities).await.map_err(in_entity)?;
    Upsert::compare(tx, entities, origin).await?.write(tx).await?;
    // Read again, because an entity that does not change keeps its instant.
    entities::find(tx, &entity.kind, &entity.id).await?.ok_or(NOT_FOUND)
}

/// Returns `error` with places in the only entity of a list as places in this entity.
fn in_entity(error: OperationError) -> OperationError {
    let OperationError::Invalid(invalid) = error else { return error };
    let own = invalid
        .replace_paths(|path| path.strip_prefix("/entities/0").unwrap_or_default().to_owned());
    own.into()
}

/// Entities that are compared with the stored ones, and the content that they were compared with. On SQLite all tenants
/// write with one connection, so that 10,000 comparisons must not happen in the transaction.
struct Compared<'e> {
    upsert: Upsert<'e>,
    met: (HistoryPosition, HistoryPosition),
}

impl<'e> Compared<'e> {
    async fn on_snapshot(
        app: &App,
        caller: &Manager,
        entities: &'e [NewEntity],
        origin: EntityOrigin<'e>,
    ) -> Result<Self, OperationError> {
        app.read(caller.tenant(), async |tx| Self::compare(tx, entities, origin).await).await
    }

    async fn compare(
        tx: &mut Tx,
        entities: &'e [NewEntity],
        origin: EntityOrigin<'e>,
    ) -> Result<Self, OperationError> {
        let met = met(tx).await?;
        check(tx, entities).await?;
        Ok(Self { upsert: Upsert::compare(tx, entities, origin).await?, met })
    }

    /// Writes the entities. If another replica wrote since the comparison, they are compared again.
    async fn write(
        mut self,
        tx: &mut Tx,
        entities: &'e [NewEntity],
        origin: EntityOrigin<'e>,
    ) -> Result<Upserted, OperationError> {
        if met(tx).await? != self.met {
            self = Self::compare(tx, entities, origin).await?;
        }
        Ok(self.upsert.write(tx).await?)
    }
}

/// Returns the places in the histories of what entities are compared with: the roles and types, and the entities.
async fn met(tx: &mut Tx) -> Result<(HistoryPosition, HistoryPosition), StoreError> {
    Ok((tenants::position(tx).await?, entities::state(tx).await?.position))
}

/// Refuses entities that do not go with what the tenant has. Every write of entities passes it.
async fn check(tx: &mut Tx, entities: &[NewEntity]) -> Result<(), OperationError> {
    check_names(tx, entities).await?;
    check_types(&types::declared(tx).await?, entities)
}

/// Refuses entities with properties that their types do not declare, or with values of other types.
fn check_types(types: &Types, entities: &[NewEntity]) -> Result<(), OperationError> {
    let (mut problems, root) = (Problems::default(), Place::root());
    let list = root.key("entities");
    for (index, entity) in entities.iter().enumerate() {
        let (at, properties) = (list.index(index), &entity.properties);
        types.check_properties(&entity.kind, properties, &at.key("properties"), &mut problems);
    }
    Ok(problems.into_result()?)
}

async fn check_names(tx: &mut Tx, entities: &[NewEntity]) -> Result<(), OperationError> {
    match entities::clash(tx, entities).await? {
        None => Ok(()),
        Some(NameClash::EntityIsRole(index)) => Err(other_id_expected(
            index,
            "an id that is not the name of a role, because rules match both alike",
        )),
        Some(NameClash::EntityIsEntity(index)) => Err(other_id_expected(
            index,
            "an id that is not `<type>:<id>` of another entity, because rules match both alike",
        )),
        Some(NameClash::RoleIsEntity(role)) => Err(is_entity(&role, "/entities")),
    }
}

fn other_id_expected(index: usize, what: &str) -> OperationError {
    Invalid::expected(&format!("/entities/{index}/id"), what).into()
}

/// Commits a write of entities, and returns the revision of the directory: a later one if the commit began an epoch.
pub(crate) async fn commit_entities(app: &App, mut tx: Tx) -> Result<u64, OperationError> {
    let revision = entities::state(&mut tx).await?.position.revision;
    let tenant = tx.tenant().to_owned();
    app.commit(tx).await?;
    Ok(revision.max(app.entities.latest(&tenant)))
}

async fn commit(
    app: &App,
    tx: Tx,
    upserted: Upserted,
    deleted: usize,
    sync: Option<Uuid>,
) -> Result<WrittenEntities, OperationError> {
    let entities_revision = commit_entities(app, tx).await?;
    let Upserted { written, unchanged } = upserted;
    let deleted = u64::try_from(deleted).unwrap_or(u64::MAX);
    Ok(WrittenEntities { written, unchanged, deleted, entities_revision, sync })
}

/// Lists the entities of the caller's tenant in the order of types and ids, only one type if `kind` is given, and
/// returns the revision of the directory.
pub async fn list(
    app: &App,
    caller: &Manager,
    kind: Option<&str>,
    after: (&str, &str),
    limit: i64,
) -> Result<(Listed<EntityRecord>, u64), OperationError> {
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    let records = entities::list(&mut tx, kind, after, limit).await?;
    let revision = entities::state(&mut tx).await?.position.revision;
    tx.end().await?;
    Ok((records, revision))
}

/// Returns an entity of the caller's tenant, and the revision of the directory.
///
/// # Errors
/// The tenant has no such entity, or the store failed.
pub async fn get(
    app: &App,
    caller: &Manager,
    kind: &str,
    id: &str,
) -> Result<(EntityRecord, u64), OperationError> {
    let mut tx = app.store.begin_read(caller.tenant()).await?;
    let record = entities::find(&mut tx, kind, id).await?.ok_or(NOT_FOUND)?;
    let revision = entities::state(&mut tx).await?.position.revision;
    tx.end().await?;
    Ok((record, revision))
}

/// Deletes an entity of the caller's tenant with its tuples, which need no record, and returns the revision of the directory.
///
/// # Errors
/// The tenant has neither such an entity nor tuples of it, the precondition does not hold, or the store failed.
pub async fn delete(
    app: &App,
    caller: &Manager,
    (kind, id): (&str, &str),
    precondition: &Precondition,
) -> Result<u64, OperationError> {
    let by = app.authored_by(caller.actor());
    let mut tx = app.write(caller, &by).await?;
    match entities::find(&mut tx, kind, id).await? {
        Some(record) => precondition.check(&record)?,
        // An object that only tuples name has no record, and so no tag to compare.
        None if matches!(precondition, Precondition::None) => {}
        None => return Err(NOT_FOUND),
    }
    if !entities::delete(&mut tx, kind, id).await? {
        return Err(NOT_FOUND);
    }
    commit_entities(app, tx).await
}

#[cfg(test)]
mod tests;
