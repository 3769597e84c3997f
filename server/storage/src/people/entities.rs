//! The table of entities (`docs/semantics.md`, section 12).
//!
//! Entities have their own revision and history beside the rules', so that a busy sync touches no plan. A
//! deleted entity keeps its row for a while: a replica that reads what changed since a revision learns of the deletion.

mod audited;
mod content;
pub(crate) mod found;
mod lists;
pub(crate) mod names;
mod rows;
pub mod syncs;
mod table;

use std::collections::HashMap;

use portcullis_model::entity::{EntityRecord, NewEntity};
use portcullis_model::quota::Quota;
use portcullis_model::relation::ObjectName;
use uuid::Uuid;

use crate::commits::audit;
use crate::people::directory::Forgetting;
use crate::people::{directory, relations};
use crate::tenancy::tenant_settings;
use crate::transactions::error::StoreError;
use crate::transactions::macros::{execute, indexed};
use crate::transactions::row_lists::{Rows, write_rows};
use crate::transactions::tx::{Statements, Tx};
use audited::AuditedEntities;
use content::Content;
use found::{StoredEntity, find_stored, name_of};
use names::RoleCounts;

pub use crate::people::directory::{DirectoryState, EntityOrigin, begin_epoch, for_tenants, state};
pub use lists::list;
pub use names::{NameClash, clash, clash_of_roles};
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

/// The numbers of entities that a call wrote and left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upserted {
    pub written: u64,
    pub unchanged: u64,
}

/// An entity that is written, with what its row has.
#[derive(Debug)]
struct EntityWrite<'e> {
    entity: &'e NewEntity,
    content: Content,
    /// The revision and the instant of an entity that only becomes part of a sync.
    unchanged: Option<(i64, i64)>,
}

/// Entities that are encoded and compared with the stored ones. Nothing of it needs the lock of the database.
#[derive(Debug)]
pub struct Upsert<'e> {
    origin: EntityOrigin<'e>,
    writes: Vec<EntityWrite<'e>>,
    changed: AuditedEntities,
    unchanged: u64,
    roles: RoleCounts,
    new: i64,
    bytes: i64,
}

impl<'e> Upsert<'e> {
    /// Compares `entities`, no two of one type and id, with the stored ones.
    pub async fn compare(
        tx: &mut Tx,
        entities: &'e [NewEntity],
        origin: EntityOrigin<'e>,
    ) -> Result<Self, StoreError> {
        let keys = entities.iter().map(name_of).collect();
        let stored: HashMap<ObjectName, StoredEntity> = find_stored(tx, keys).await?;
        let changed = AuditedEntities::new(tenant_settings::audit_values(tx).await?);
        let roles = RoleCounts::default();
        let mut upsert =
            Self { origin, writes: Vec::new(), changed, unchanged: 0, roles, new: 0, bytes: 0 };
        for entity in entities {
            upsert.add(entity, stored.get(&name_of(entity)))?;
        }
        Ok(upsert)
    }

    fn add(&mut self, entity: &'e NewEntity, old: Option<&StoredEntity>) -> Result<(), StoreError> {
        let (content, origin) = (Content::new(entity), self.origin);
        let live = old.filter(|old| !old.is_deleted);
        if let Some(old) = live.filter(|old| old.is(&content, origin.source)) {
            self.unchanged += 1;
            // The end of the sync deletes what does not name it, so that an unchanged entity is written, too.
            if origin.sync.is_some() && old.sync != origin.sync {
                let unchanged = Some((old.revision, old.updated_at));
                self.writes.push(EntityWrite { entity, content, unchanged });
            }
            return Ok(());
        }
        self.roles.add(entity.every_role());
        if let Some(old) = live {
            self.roles.remove(old)?;
        }
        self.new += i64::from(live.is_none());
        self.bytes += content.bytes() - live.map_or(0, StoredEntity::bytes);
        self.changed.write(live, entity, &content);
        self.writes.push(EntityWrite { entity, content, unchanged: None });
        Ok(())
    }

    /// Returns the numbers of entities that [`Upsert::write`] writes and leaves alone.
    pub fn counts(&self) -> Upserted {
        let written = u64::try_from(self.changed.count()).unwrap_or(u64::MAX);
        Upserted { written, unchanged: self.unchanged }
    }

    /// Inserts the entities, or replaces entities of the same types and ids. The revision of the entities rises by one
    /// if any of them changes.
    pub async fn write(self, tx: &mut Tx) -> Result<Upserted, StoreError> {
        let counts = self.counts();
        let Self { origin, writes, changed, roles, new, bytes, .. } = self;
        // Without a change every row brings its own revision, so that the 0 is never stored.
        let revision = if changed.count() == 0 { 0 } else { directory::next(tx).await? };
        let written = (revision, tx.at.millis());
        write_rows!(tx, ENTITIES, writes, write =>
            &write.entity.kind,
            &write.entity.id,
            &write.content.roles,
            &write.content.domain_roles,
            &write.content.properties,
            origin.source,
            origin.sync,
            write.unchanged.unwrap_or(written).0,
            write.unchanged.unwrap_or(written).1,
            false,
        );
        roles.store(tx).await?;
        tx.count(Quota::Entities, new);
        tx.count(Quota::StoredBytes, bytes);
        if changed.count() > 0 {
            audit::write_call(tx, changed.entries(), changed.count()).await?;
        }
        Ok(counts)
    }
}

/// Finds the entity of this type and id.
pub async fn find(tx: &mut Tx, kind: &str, id: &str) -> Result<Option<EntityRecord>, StoreError> {
    Ok(find_in_sync(tx, kind, id).await?.map(|(record, _)| record))
}

/// Finds the entity of this type and id, and the last sync that named it.
pub async fn find_in_sync(
    tx: &mut Tx,
    kind: &str,
    id: &str,
) -> Result<Option<(EntityRecord, Option<Uuid>)>, StoreError> {
    let found = find_stored(tx, vec![ObjectName::new(kind, id)]).await?;
    let live = found.into_values().find(|stored| !stored.is_deleted);
    let Some(stored) = live else { return Ok(None) };
    let sync = stored.sync;
    Ok(Some((stored.try_into()?, sync)))
}

/// Deletes the entity of this type and id, if it has a record, and the tuples of which it is the object or the subject. False if
/// there is neither.
///
/// # Errors
/// [`StoreError::TooManyTuples`]; nothing of the transaction may be committed then.
pub async fn delete(tx: &mut Tx, kind: &str, id: &str) -> Result<bool, StoreError> {
    const SQL: &str = "UPDATE entities SET roles = '[]', domain_roles = '{}', properties = '{}', \
        is_deleted = TRUE, source = NULL, sync = NULL, revision = $4, updated_at = $5 \
        WHERE tenant_id = $1 AND type = $2 AND id = $3";
    let found = find_stored(tx, vec![ObjectName::new(kind, id)]).await?;
    let Some(stored) = found.into_values().find(|stored| !stored.is_deleted) else {
        // Tuples alone may name the object.
        return Ok(relations::delete_of_entities(tx, &[(kind, id)]).await? > 0);
    };
    let revision = directory::next(tx).await?;
    execute!(tx, SQL, &tx.tenant, kind, id, revision, tx.at.millis())?;
    let mut roles = RoleCounts::default();
    roles.remove(&stored)?;
    roles.store(tx).await?;
    tx.count(Quota::Entities, -1);
    tx.count(Quota::StoredBytes, -stored.bytes());
    let mut deleted = AuditedEntities::new(tenant_settings::audit_values(tx).await?);
    deleted.delete(&stored);
    audit::write_call(tx, deleted.entries(), 1).await?;
    relations::delete_of_entities(tx, &[(kind, id)]).await?;
    forget_deletions(tx).await?;
    Ok(true)
}

/// Removes the rows of deleted entities if they are many.
async fn forget_deletions(tx: &mut Tx) -> Result<(), StoreError> {
    const COUNT: Statements = indexed!(
        "SELECT count(*) FROM entities",
        deleted_entities,
        "WHERE tenant_id = $1 AND is_deleted"
    );
    const FORGET: &str =
        "DELETE FROM entities WHERE tenant_id = $1 AND is_deleted AND revision < $2";
    const NOTE: &str = "UPDATE tenants SET entities_forgotten = $2 WHERE id = $1";
    let table = Forgetting { count: tx.statement(&COUNT), forget: FORGET, note: NOTE };
    directory::forget_deletions(tx, &table).await
}

#[cfg(test)]
mod tests;
