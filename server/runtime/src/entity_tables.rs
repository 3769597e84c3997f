//! The entities of tenants in memory (`docs/semantics.md`, section 12.6).
//!
//! The table of a tenant is loaded when a check or a search first needs it. Each commit of entities is noted here before it
//! is acknowledged, also those that other replicas tell of or that a poll finds. A table that is older than a noted commit
//! is brought up to date before it is used again. So no check reads entities from before an acknowledged write.

mod error;
mod load;
mod loaded;
mod tenant_table;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use portcullis_fairness::TurnQueue;
use portcullis_storage::{EntitiesNotice, HistoryPosition, Store, StoreError, entities};
use tokio::time::Instant;

use crate::freshness::Freshness;
use crate::machine::{cores, load_limits};
pub use error::EntitiesError;
pub use loaded::LoadedEntities;
use tenant_table::TenantTable;

/// The tenants that a round of the poll names one by one. For more it reads the revisions of all.
const NAMED_TENANTS: usize = 1_000;

/// The entities of every tenant that needs them.
#[derive(Debug)]
pub struct EntityTables {
    store: Store,
    /// The most bytes of all tables.
    most: u64,
    tenants: RwLock<HashMap<Box<str>, Arc<TenantTable>>>,
    freshness: Freshness,
    turns: TurnQueue,
    /// Counts the loads of tables: the time by which the last uses of tables are compared.
    loads: AtomicU64,
}

impl EntityTables {
    /// Returns no tables. They may take `most` bytes, and those of one tenant half of it.
    pub fn new(store: Store, most: u64, max_staleness: Duration) -> Self {
        Self {
            store,
            most,
            tenants: RwLock::default(),
            freshness: Freshness::new(max_staleness),
            turns: TurnQueue::new(load_limits(cores())),
            loads: AtomicU64::new(0),
        }
    }

    /// Returns the entities of `tenant` if they are in memory and up to date.
    ///
    /// # Errors
    /// [`EntitiesError::TooStale`]
    pub fn ready(&self, tenant: &str) -> Result<Option<Arc<LoadedEntities>>, EntitiesError> {
        if !self.freshness.is_proved() {
            return Err(EntitiesError::TooStale);
        }
        let tenants = self.tenants.read();
        let ready = tenants.get(tenant).and_then(|table| table.ready(&self.loads));
        Ok(ready)
    }

    /// Returns the entities of `tenant`, no older than any write acknowledged here so far.
    ///
    /// # Errors
    /// The store failed, too many loads run, or the entities do not fit.
    pub async fn table(&self, tenant: &str) -> Result<Arc<LoadedEntities>, EntitiesError> {
        if let Some(ready) = self.ready(tenant)? {
            return Ok(ready);
        }
        let table = self.enter(tenant);
        let one_at_a_time = Arc::clone(&table.loading).lock_owned().await;
        // Another check may have loaded it during the wait.
        if let Some(ready) = table.ready(&self.loads) {
            return Ok(ready);
        }
        if table.is_too_large() {
            return Err(EntitiesError::TooLarge);
        }
        let turn = self.turns.begin(tenant).await;
        let turn = turn.map_err(|_| EntitiesError::TooManyLoads)?;
        let (most, held) = (self.most / 2, (one_at_a_time, turn));
        let loading = load::load(self.store.clone(), tenant.to_owned(), most, Arc::clone(&table));
        let loaded = load::apart(held, loading).await?;
        self.make_room(tenant);
        Ok(loaded)
    }

    /// Notes a commit of this process. The next check sees it. Brings the table up to date at once if a check used it
    /// since the last change, so that the writer waits and not the next check.
    pub async fn committed(&self, tenant: &str, position: &HistoryPosition) {
        let Some(table) = self.note(tenant, position) else { return };
        if table.take_used()
            && let Err(error) = self.table(tenant).await
        {
            // The next check tries again, and has the error.
            tracing::debug!(tenant, %error, "cannot bring the entities up to date");
        }
    }

    /// Notes a commit of another replica.
    pub fn publish(&self, notice: &EntitiesNotice) {
        self.note(&notice.tenant, &notice.position);
    }

    /// Returns the revision of the rules that were there with revision `at_least` of the entities of `tenant`; `None` if
    /// nobody waited for these entities here, or they are of another epoch.
    pub(crate) fn reached(&self, tenant: &str, at_least: u64) -> Option<u64> {
        self.tenants.read().get(tenant).and_then(|table| table.reached(at_least))
    }

    /// Notes that the store has these revisions of the entities and the rules of `tenant`.
    pub(crate) fn note_reached(&self, tenant: &str, entities: u64, rules: u64) {
        self.enter(tenant).note_reached(entities, rules);
    }

    fn note(&self, tenant: &str, position: &HistoryPosition) -> Option<Arc<TenantTable>> {
        let table = self.tenants.read().get(tenant).cloned()?;
        table.note(position.revision);
        Some(table)
    }

    /// Drops what is in memory of `tenant`: nobody may ask about it any more, or the database lost changes of it.
    pub fn forget(&self, tenant: &str) {
        self.tenants.write().remove(tenant);
    }

    /// Compares the tables with the revisions in the database, in endless rounds.
    pub async fn poll(&self) {
        loop {
            let read_at = Instant::now();
            match self.round().await {
                Ok(()) => self.freshness.prove(read_at),
                Err(error) => tracing::warn!(%error, "cannot read changes of entities"),
            }
            tokio::time::sleep(self.freshness.poll_interval()).await;
        }
    }

    async fn round(&self) -> Result<(), StoreError> {
        let known: Vec<String> =
            self.tenants.read().keys().map(|tenant| tenant.to_string()).collect();
        if known.is_empty() {
            return Ok(());
        }
        let named = (known.len() <= NAMED_TENANTS).then_some(&*known);
        let mut tx = self.store.read_all().await?;
        let positions = entities::of_tenants(&mut tx, named).await?;
        tx.end().await?;
        let positions: HashMap<String, HistoryPosition> = positions.into_iter().collect();
        for tenant in &known {
            let Some(table) = self.tenants.read().get(&**tenant).cloned() else { continue };
            match positions.get(tenant) {
                Some(position) if table.continues(position) => table.note(position.revision),
                // The database lost commits, or the tenant is gone.
                _ => self.forget(tenant),
            }
        }
        Ok(())
    }

    /// Returns the place of the tenant's table. It is there before the table is read, so that a commit during the load is
    /// noted.
    fn enter(&self, tenant: &str) -> Arc<TenantTable> {
        Arc::clone(self.tenants.write().entry(tenant.into()).or_default())
    }

    /// Drops tables until all fit: those that were not used for the longest time, but not the one of `kept`.
    fn make_room(&self, kept: &str) {
        self.loads.fetch_add(1, Ordering::Relaxed);
        let mut tenants = self.tenants.write();
        loop {
            let bytes = weight_of(&tenants);
            let others = tenants.iter().filter(|(tenant, _)| &***tenant != kept);
            let oldest = others.min_by_key(|(_, table)| table.last_use());
            match oldest.map(|(tenant, _)| tenant.clone()) {
                Some(oldest) if bytes > self.most => tenants.remove(&oldest),
                _ => return,
            };
        }
    }

    /// Returns the number of tenants with loads that run or wait.
    pub fn loads(&self) -> usize {
        self.turns.tenants()
    }

    /// Returns the number of tenants with a table.
    pub fn count(&self) -> usize {
        self.tenants.read().len()
    }

    /// Returns the bytes of all tables.
    pub fn weight(&self) -> u64 {
        weight_of(&self.tenants.read())
    }
}

fn weight_of(tenants: &HashMap<Box<str>, Arc<TenantTable>>) -> u64 {
    tenants.values().map(|table| table.weight()).sum()
}

#[cfg(test)]
mod tests;
