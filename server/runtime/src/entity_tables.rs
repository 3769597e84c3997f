//! The entities and relations of tenants in memory (`docs/semantics.md`, section 12.6).
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
use portcullis_fairness::{TurnQueue, run_to_end};
use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use portcullis_storage::{
    EntitiesNotice, HistoryPosition, REMEMBERED_COMMITS, Store, StoreError, entities,
};
use tokio::time::Instant;

use crate::freshness::Freshness;
use crate::histories::Continuity;
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
    clock: Clock,
    /// Counts the loads of tables: the time by which the last uses of tables are compared.
    loads: AtomicU64,
}

impl EntityTables {
    /// Returns no tables. They may take `most` bytes, and the tables of one tenant half of it.
    pub fn new(store: Store, most: u64, max_staleness: Duration, clock: Clock) -> Self {
        Self {
            store,
            most,
            tenants: RwLock::default(),
            freshness: Freshness::new(max_staleness),
            turns: TurnQueue::new(load_limits(cores())),
            clock,
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
    /// The store failed or lost changes, too many loads run, or the entities do not fit.
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
        // After the wait for the other load of the tenant, so that those who wait hold no turns.
        let turn = self.turns.begin(tenant).await;
        let turn = turn.map_err(|_| EntitiesError::TooManyLoads)?;
        // The load keeps both until its end, even if this check goes away.
        let (most, held) = (self.most / 2, (one_at_a_time, turn));
        let loading = load::load(self.store.clone(), tenant.to_owned(), most, Arc::clone(&table));
        let loaded = load::apart(held, loading).await;
        if let Err(EntitiesError::Lost(revision)) = loaded {
            self.begin_epoch(tenant, revision).await.map_err(Arc::new)?;
        }
        self.make_room(tenant);
        loaded
    }

    /// Notes a commit of this process. The next check sees it. Brings the table up to date at once if a check used it
    /// since the last change, so that the writer waits and not the next check.
    pub async fn committed(&self, tenant: &str, position: &HistoryPosition) {
        let Some(table) = self.note(tenant, position).await else { return };
        if table.take_used()
            && let Err(error) = self.table(tenant).await
        {
            // The next check tries again, and has the error.
            tracing::debug!(tenant, %error, "cannot bring the entities up to date");
        }
    }

    /// Notes a commit of another replica.
    pub async fn publish(&self, notice: &EntitiesNotice) {
        self.note(&notice.tenant, &notice.position).await;
    }

    /// Returns the last known revision of the entities of `tenant`; 0 if they have no place here.
    pub fn latest(&self, tenant: &str) -> u64 {
        self.tenants.read().get(tenant).map_or(0, |table| table.latest())
    }

    /// Returns the revision of the rules that were there with revision `at_least` of the entities of `tenant`; `None` if
    /// nobody waited for these entities here, or they are of another epoch.
    pub(crate) fn reached(&self, tenant: &str, at_least: u64) -> Option<u64> {
        self.tenants.read().get(tenant).and_then(|table| table.reached(at_least))
    }

    /// Notes that the store has this place in the history of the entities of `tenant`, and this revision of the rules.
    ///
    /// # Errors
    /// [`EntitiesError::Lost`], or no epoch could begin.
    pub(crate) async fn note_reached(
        &self,
        tenant: &str,
        entities: HistoryPosition,
        rules: u64,
    ) -> Result<(), EntitiesError> {
        let table = self.enter(tenant);
        table.note_rules(rules);
        if let Continuity::Lost(revision) = table.note(entities) {
            self.begin_epoch(tenant, revision).await.map_err(Arc::new)?;
            return Err(EntitiesError::Lost(revision));
        }
        Ok(())
    }

    async fn note(&self, tenant: &str, position: &HistoryPosition) -> Option<Arc<TenantTable>> {
        let table = self.tenants.read().get(tenant).cloned()?;
        self.follow(tenant, table.note(position.clone())).await;
        Some(table)
    }

    /// Begins an epoch of the entities of `tenant` if the database lost changes of them. If that fails, the next round of
    /// the poll notices again.
    async fn follow(&self, tenant: &str, continuity: Continuity) {
        let Continuity::Lost(revision) = continuity else { return };
        if let Err(error) = self.begin_epoch(tenant, revision).await {
            tracing::warn!(tenant, %error, "cannot begin an epoch after lost changes of entities");
        }
    }

    /// Begins an epoch of the entities of `tenant` after the database lost revision `lost`: the numbers of lost changes never
    /// come again, and the table is loaded again.
    async fn begin_epoch(&self, tenant: &str, lost: u64) -> Result<(), StoreError> {
        let table = self.enter(tenant);
        // First, so that no check reads the table of the lost history meanwhile.
        table.clear();
        let (store, own) = (self.store.clone(), tenant.to_owned());
        let now = Timestamp::from(self.clock.now()).millis();
        let beginning = async move {
            let turn = store.patient_turn(&own).await;
            let mut tx = store.write_in(turn, now).await?;
            entities::begin_epoch(&mut tx, lost).await?;
            let position = entities::state(&mut tx).await?.position;
            tx.commit().await?;
            Ok::<_, StoreError>(position)
        };
        // To its end: a cancelled `begin` could lose the write of another request.
        let position = run_to_end(beginning).await??;
        let revision = position.revision;
        table.note(position);
        tracing::warn!(tenant, lost, revision, "the database lost changes of entities");
        Ok(())
    }

    /// Drops what is in memory of `tenant`: nobody may ask about it any more.
    pub fn forget(&self, tenant: &str) {
        self.tenants.write().remove(tenant);
    }

    /// Compares the tables with the revisions in the database, in endless rounds.
    pub async fn poll(&self) {
        loop {
            let read_at = Instant::now();
            match self.round().await {
                // The instant before the read: a later commit may be missing from it.
                Ok(()) => self.freshness.prove(read_at),
                Err(error) => tracing::warn!(%error, "cannot read changes of entities"),
            }
            tokio::time::sleep(self.freshness.poll_interval()).await;
        }
    }

    async fn round(&self) -> Result<(), StoreError> {
        // Read before the snapshot begins: a commit in between would look lost otherwise.
        let known: HashMap<String, u64> = {
            let tenants = self.tenants.read();
            tenants.iter().map(|(tenant, table)| (tenant.to_string(), table.compared())).collect()
        };
        if known.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = known.keys().cloned().collect();
        let named = (names.len() <= NAMED_TENANTS).then_some(&*names);
        let mut tx = self.store.begin_read_all().await?;
        let last = entities::for_tenants(&mut tx, named, 1).await?;
        let mut positions: HashMap<String, HistoryPosition> = last.into_iter().collect();
        let behind = names.into_iter().filter(|tenant| {
            positions.get(tenant).is_some_and(|last| known.get(tenant) < Some(&last.revision))
        });
        let behind: Vec<String> = behind.collect();
        // The last commit does not tell whether the one that is known was lost.
        let all = entities::for_tenants(&mut tx, Some(&behind), REMEMBERED_COMMITS).await?;
        positions.extend(all);
        tx.end().await?;
        for (tenant, before) in known {
            // It may have been dropped since, and then there is nothing to compare.
            let Some(table) = self.tenants.read().get(&*tenant).cloned() else { continue };
            match positions.remove(&tenant) {
                Some(position) => self.follow(&tenant, table.note_read(before, position)).await,
                // The database lost the first entities with the rules of then, or the tenant is gone.
                None => self.forget(&tenant),
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
                // The one of `kept` takes at most half of what all may take.
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
