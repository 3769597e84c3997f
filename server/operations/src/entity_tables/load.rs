//! Reads tables from the store: a whole one, or what changed since an outdated one.

use std::sync::Arc;

use portcullis_engine::Json;
use portcullis_engine::entities::{EntityChange, EntityInput, EntityTable, TableFull};
use portcullis_engine::json;
use portcullis_storage::entities::EntityRow;
use portcullis_storage::{HistoryPosition, Store, StoreError, Tx, entities};
use tokio::runtime::Handle;

use super::EntitiesError;
use super::tenant_table::TenantTable;

/// Entities of one read. The texts of a page take a few megabytes.
const PAGE: usize = 5_000;
/// Most changes that are applied to a table. More of them cost as much as all entities.
const MOST_CHANGES: usize = 20_000;

/// The entities of a tenant at one revision.
#[derive(Debug)]
pub struct LoadedEntities {
    pub table: EntityTable,
    /// The place in the history of the tenant's entities.
    pub position: HistoryPosition,
    /// The bytes of the table.
    pub(super) weight: u64,
}

/// Runs `loading` on a thread that serves no requests, to its end, even if nobody waits for it any more: after a cancelled
/// `begin`, sqlx could lose another request's write (transact-rs/sqlx#4385). Drops `held` at the end.
pub(super) async fn apart<T: Send + 'static>(
    held: impl Send + 'static,
    loading: impl Future<Output = T> + Send + 'static,
) -> T {
    let runtime = Handle::current();
    let loading = tokio::task::spawn_blocking(move || {
        let loaded = runtime.block_on(loading);
        drop(held);
        loaded
    });
    match loading.await {
        Ok(loaded) => loaded,
        Err(failed) => std::panic::resume_unwind(failed.into_panic()),
    }
}

/// Loads the entities of `tenant` into `table`, from the outdated ones if that is possible.
///
/// # Errors
/// The store failed, or the entities take more than `most` bytes.
pub(super) async fn load(
    store: Store,
    tenant: String,
    most: u64,
    table: Arc<TenantTable>,
) -> Result<Arc<LoadedEntities>, EntitiesError> {
    let outdated = table.outdated();
    let (position, read) = read(&store, &tenant, outdated.as_deref()).await.map_err(Arc::new)?;
    let weigh = |table: &EntityTable| u64::try_from(table.weight()).unwrap_or(u64::MAX);
    match read.map(|table| (weigh(&table), table)) {
        Ok((weight, entities)) if weight <= most => {
            let loaded = Arc::new(LoadedEntities { table: entities, position, weight });
            table.store(Arc::clone(&loaded));
            Ok(loaded)
        }
        _ => {
            tracing::warn!(tenant, most, "the entities take more memory than one tenant may have");
            table.refuse(position.revision);
            Err(EntitiesError::TooLarge)
        }
    }
}

/// Reads the entities in one snapshot.
async fn read(
    store: &Store,
    tenant: &str,
    outdated: Option<&LoadedEntities>,
) -> Result<(HistoryPosition, Result<EntityTable, TableFull>), StoreError> {
    let mut tx = store.read(tenant).await?;
    let state = entities::state(&mut tx).await?;
    let since = outdated.filter(|outdated| {
        let known = &outdated.position;
        known.revision >= state.forgotten
            && known.revision <= state.position.revision
            && known.agrees_with(&state.position)
    });
    let changed = match since {
        Some(outdated) => changed(&mut tx, outdated).await?,
        None => None,
    };
    let table = match changed {
        Some(table) => table,
        None => whole(&mut tx).await?,
    };
    tx.end().await?;
    Ok((state.position, table))
}

/// Applies what changed since the outdated table; `None` if that is too much.
async fn changed(
    tx: &mut Tx,
    outdated: &LoadedEntities,
) -> Result<Option<Result<EntityTable, TableFull>>, StoreError> {
    let limit = i64::try_from(MOST_CHANGES).unwrap_or(i64::MAX);
    let rows = entities::changed_since(tx, outdated.position.revision, limit).await?;
    if rows.len() >= MOST_CHANGES {
        return Ok(None);
    }
    let parsed: Vec<ParsedRow<'_>> = rows.iter().map(ParsedRow::of).collect::<Result<_, _>>()?;
    let table = outdated.table.changed(parsed.iter().map(ParsedRow::change));
    Ok(Some(table.and_then(|table| if table.should_fold() { table.folded() } else { Ok(table) })))
}

/// Reads all entities.
async fn whole(tx: &mut Tx) -> Result<Result<EntityTable, TableFull>, StoreError> {
    let mut builder = EntityTable::builder();
    let (mut last_type, mut last_id) = (String::new(), String::new());
    let limit = i64::try_from(PAGE).unwrap_or(i64::MAX);
    loop {
        let rows = entities::page(tx, (&last_type, &last_id), limit).await?;
        for row in &rows {
            if let Err(full) = builder.push(&ParsedRow::of(row)?.input()) {
                return Ok(Err(full));
            }
        }
        if rows.len() < PAGE {
            return Ok(builder.finish());
        }
        if let Some(last) = rows.into_iter().last() {
            (last_type, last_id) = (last.kind, last.id);
        }
    }
}

/// A row with its texts as trees.
struct ParsedRow<'r> {
    row: &'r EntityRow,
    roles: Json<'r>,
    domain_roles: Json<'r>,
    properties: Json<'r>,
}

impl<'r> ParsedRow<'r> {
    fn of(row: &'r EntityRow) -> Result<Self, StoreError> {
        let corrupt = |what| move |_| StoreError::Corrupt { what };
        let parse = |text: &'r str| json::parse(text.as_bytes());
        Ok(Self {
            row,
            roles: parse(&row.roles).map_err(corrupt("entities.roles"))?,
            domain_roles: parse(&row.domain_roles).map_err(corrupt("entities.domain_roles"))?,
            properties: parse(&row.properties).map_err(corrupt("entities.properties"))?,
        })
    }

    fn input(&self) -> EntityInput<'_> {
        EntityInput {
            entity_type: &self.row.kind,
            id: &self.row.id,
            roles: self.roles.as_array().unwrap_or_default(),
            domain_roles: self.domain_roles.as_object().unwrap_or_default(),
            properties: self.properties.as_object().unwrap_or_default(),
        }
    }

    fn change(&self) -> EntityChange<'_> {
        match self.row.is_deleted {
            true => EntityChange::Remove { entity_type: &self.row.kind, id: &self.row.id },
            false => EntityChange::Put(self.input()),
        }
    }
}
