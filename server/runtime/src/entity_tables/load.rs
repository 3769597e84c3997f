//! Reads tables from the store: a whole one, or what changed since an outdated one.

use std::sync::Arc;

use portcullis_directory::TupleTable;
use portcullis_engine::entities::EntityTable;
use portcullis_fairness::run_apart;
use portcullis_storage::{HistoryPosition, Store, StoreError, entities, epoch, relations};
use tokio::runtime::Handle;

use super::error::EntitiesError;
use super::loaded::LoadedEntities;
use super::tenant_table::TenantTable;
use crate::histories::Continuity;

/// Runs `loading` on a thread that serves no requests, to its end, even if nobody waits for it any more: after a cancelled
/// `begin`, sqlx could lose another request's write (transact-rs/sqlx#4385). Drops `held` at the end.
pub(super) async fn apart<T: Send + 'static>(
    held: impl Send + 'static,
    loading: impl Future<Output = Result<T, EntitiesError>> + Send + 'static,
) -> Result<T, EntitiesError> {
    let runtime = Handle::current();
    let loaded = run_apart(move || {
        let _held = held;
        runtime.block_on(loading)
    });
    loaded.await.map_err(|stopping| Arc::new(StoreError::from(stopping)))?
}

/// Loads the entities of `tenant` into `table`, from the outdated ones if that is possible.
///
/// # Errors
/// The store failed or lost changes, or the entities take more than `most` bytes.
pub(super) async fn load(
    store: Store,
    tenant: String,
    most: u64,
    table: Arc<TenantTable>,
) -> Result<Arc<LoadedEntities>, EntitiesError> {
    // Taken before the read, so that a commit during it does not look lost.
    let (outdated, before) = (table.outdated(), table.compared());
    let (position, read) = read(&store, &tenant, outdated.as_deref()).await.map_err(Arc::new)?;
    if let Continuity::Lost(revision) = table.note_read(before, position.clone()) {
        return Err(EntitiesError::Lost(revision));
    }
    let loaded =
        read.map(|tables| LoadedEntities::new(tables, position.clone(), outdated.as_deref(), most));
    match loaded {
        Some(loaded) if loaded.weight() <= most => {
            let loaded = Arc::new(loaded);
            // The caller holds `loading`, so that no older table replaces a later one.
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

/// Reads the entities and relations in one snapshot; `None` if they do not fit into tables.
async fn read(
    store: &Store,
    tenant: &str,
    outdated: Option<&LoadedEntities>,
) -> Result<(HistoryPosition, Option<(EntityTable, TupleTable)>), StoreError> {
    let mut tx = store.begin_read(tenant).await?;
    let state = entities::state(&mut tx).await?;
    let since = outdated.filter(|outdated| {
        // Only a table of an earlier place of the same history can be brought up to date.
        let known = &outdated.position;
        known.revision <= state.position.revision
            && known.agrees_with(&state.position)
            && epoch(known.revision) == epoch(state.position.revision)
    });
    // The rows of what was deleted before the forgotten revision are gone: an older table is read whole.
    let (mut table, mut tuples) = (None, None);
    if let Some(LoadedEntities { table: old, tuples: old_tuples, position, .. }) = since {
        if position.revision >= state.forgotten {
            table = entities::changed_table(&mut tx, old, position.revision).await?;
        }
        if position.revision >= state.relations_forgotten {
            tuples = relations::changed_table(&mut tx, old_tuples, position.revision).await?;
        }
    }
    let table = match table {
        Some(table) => table,
        None => entities::table(&mut tx).await?,
    };
    let tuples = match tuples {
        Some(tuples) => tuples,
        None if state.relations == 0 => Ok(TupleTable::default()),
        None => relations::table(&mut tx).await?,
    };
    tx.end().await?;
    Ok((state.position, table.ok().zip(tuples.ok())))
}
