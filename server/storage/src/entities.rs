//! The table of entities (`docs/semantics.md`, section 12).
//!
//! Entities have a revision and a history of their own beside those of the rules, so that a busy sync touches no plan. A
//! deleted entity keeps its row for a while: a replica that reads what changed since a revision learns of the deletion.

mod content;
mod found;
mod lists;
mod names;
mod revision;
mod rows;
pub mod syncs;
mod table;

use std::collections::HashMap;

use portcullis_model::audit::AuditAction;
use portcullis_model::entity::{EntityRecord, NewEntity};
use portcullis_model::quota::Quota;
use uuid::Uuid;

use crate::audit;
use crate::error::StoreError;
use crate::macros::execute;
use crate::row_lists::{Rows, write_rows};
use crate::tx::Tx;
use content::Content;
use found::{EntityKey, StoredEntity, find_stored};
use names::RoleCounts;

pub use lists::list;
pub use names::{NameClash, clash, clash_of_roles};
pub use revision::{DirectoryState, of_tenants, state};
pub use table::{changed_table, table};

/// Writes entities. Those that are deleted come back.
const ENTITIES: Rows = Rows {
    head: "INSERT INTO entities (tenant_id, type, id, roles, domain_roles, properties, source, \
        sync, revision, updated_at, is_deleted)",
    values: 10,
    tail: "ON CONFLICT (tenant_id, type, id) DO UPDATE SET roles = excluded.roles, \
        domain_roles = excluded.domain_roles, properties = excluded.properties, \
        source = excluded.source, sync = excluded.sync, revision = excluded.revision, \
        updated_at = excluded.updated_at, is_deleted = excluded.is_deleted",
};

/// The job and the sync that write entities.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntityOrigin<'o> {
    pub source: Option<&'o str>,
    pub sync: Option<Uuid>,
}

/// The numbers of entities that a call wrote and left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upserted {
    pub written: u64,
    pub unchanged: u64,
}

/// An entity that is written, with what its row has.
struct EntityWrite<'e> {
    entity: &'e NewEntity,
    content: Content,
    revision: i64,
    updated_at: i64,
}

/// Inserts `entities`, no two of one type and id, or replaces those of the same types and ids. The revision of the entities
/// rises by one if any of them changes.
pub async fn upsert(
    tx: &mut Tx,
    entities: &[NewEntity],
    origin: EntityOrigin<'_>,
) -> Result<Upserted, StoreError> {
    let keys = entities.iter().map(EntityKey::of).collect();
    let stored: HashMap<EntityKey, StoredEntity> = find_stored(tx, keys).await?;
    let mut writes = Vec::with_capacity(entities.len());
    let (mut changed, mut roles) = (Vec::new(), RoleCounts::default());
    for entity in entities {
        let content = Content::of(entity);
        let old = stored.get(&EntityKey::of(entity));
        let live = old.filter(|old| !old.is_deleted);
        if let Some(old) = live.filter(|old| old.is(&content, origin.source)) {
            if origin.sync.is_some() && old.sync != origin.sync {
                let (revision, updated_at) = (old.revision, old.updated_at);
                writes.push(EntityWrite { entity, content, revision, updated_at });
            }
            continue;
        }
        roles.add(entity.every_role());
        if let Some(old) = live {
            roles.remove(old)?;
        }
        tx.count(Quota::Entities, i64::from(live.is_none()));
        tx.count(Quota::StoredBytes, content.bytes() - live.map_or(0, StoredEntity::bytes));
        changed.push(format!("{}:{}", entity.kind, entity.id));
        let revision = revision::next(tx).await?;
        writes.push(EntityWrite { entity, content, revision, updated_at: tx.at.millis() });
    }
    write_rows!(tx, ENTITIES, writes, write =>
        &write.entity.kind,
        &write.entity.id,
        &write.content.roles,
        &write.content.domain_roles,
        &write.content.properties,
        origin.source,
        origin.sync,
        write.revision,
        write.updated_at,
        false,
    );
    roles.store(tx).await?;
    if !changed.is_empty() {
        audit::write_call(tx, AuditAction::EntitiesWritten, &changed, changed.len()).await?;
    }
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let (written, all) = (count(changed.len()), count(entities.len()));
    Ok(Upserted { written, unchanged: all - written })
}

/// Finds the entity of this type and id.
pub async fn find(tx: &mut Tx, kind: &str, id: &str) -> Result<Option<EntityRecord>, StoreError> {
    let found = find_stored(tx, vec![EntityKey::new(kind, id)]).await?;
    let live = found.into_values().find(|stored| !stored.is_deleted);
    live.map(EntityRecord::try_from).transpose()
}

/// Deletes the entity of this type and id. False if there is none.
pub async fn delete(tx: &mut Tx, kind: &str, id: &str) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE entities SET roles = '[]', domain_roles = '{}', properties = '{}', \
        is_deleted = TRUE, source = NULL, sync = NULL, revision = $4, updated_at = $5 \
        WHERE tenant_id = $1 AND type = $2 AND id = $3";
    let found = find_stored(tx, vec![EntityKey::new(kind, id)]).await?;
    let Some(stored) = found.into_values().find(|stored| !stored.is_deleted) else {
        return Ok(false);
    };
    let revision = revision::next(tx).await?;
    execute!(tx, SQL, &tx.tenant, kind, id, revision, tx.at.millis())?;
    let mut roles = RoleCounts::default();
    roles.remove(&stored)?;
    roles.store(tx).await?;
    tx.count(Quota::Entities, -1);
    tx.count(Quota::StoredBytes, -stored.bytes());
    let record = format!("{kind}:{id}");
    audit::write_call(tx, AuditAction::EntitiesDeleted, &[record], 1).await?;
    revision::forget_deletions(tx).await?;
    Ok(true)
}

#[cfg(test)]
mod tests;
