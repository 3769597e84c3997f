//! Plans for checks: finds them in memory or loads them, and publishes every write to the cache, also the writes of
//! other processes.

mod demanded;
mod error;
mod load;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use portcullis_engine::{Plan, ResourcePattern};
use portcullis_plan_cache::{CachedPlan, HotPlans, PlanCache};
use portcullis_storage::{Committed, RevisionNotice, Store, StoreError, Tx, tenants};
use tokio::time::Instant;

use crate::compilations::{Compilations, OverBudgetLog};
use crate::freshness::Freshness;
use crate::metrics::PlanMetrics;
use crate::turns::{TurnLimits, Turns};
use demanded::DemandedRevisions;

pub use error::PlanError;
pub use load::load;

/// The plans of every tenant, and the only way to commit a change to their rules.
#[derive(Debug)]
pub struct Plans {
    store: Store,
    cache: PlanCache<PlanError>,
    compilations: Compilations,
    freshness: Freshness,
    turns: Turns,
    over_budget: OverBudgetLog,
    demanded: DemandedRevisions,
    metrics: PlanMetrics,
}

impl Plans {
    pub fn new(
        store: Store,
        max_bytes: u64,
        max_staleness: Duration,
        metrics: PlanMetrics,
    ) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            store,
            cache: PlanCache::new(max_bytes),
            freshness: Freshness::new(max_staleness),
            compilations: Compilations::for_cores(cores),
            turns: Turns::new(TurnLimits::of_loads(cores)),
            over_budget: OverBudgetLog::default(),
            demanded: DemandedRevisions::default(),
            metrics,
        }
    }

    /// Returns the compilations of policies.
    pub fn compilations(&self) -> &Compilations {
        &self.compilations
    }

    /// Pins the plans that most checks need. Such a plan is no older than any write acknowledged here so far.
    ///
    /// # Errors
    /// [`PlanError::TooStale`]
    pub fn hot(&self) -> Result<HotPlans<'_>, PlanError> {
        self.require_proof()?;
        Ok(self.cache.hot())
    }

    /// Returns the plan that decides `resource` in `tenant`, and loads it if needed. It is no older than any write
    /// acknowledged here so far, and no older than revision `at_least`.
    ///
    /// # Errors
    /// The store failed or does not have the revision, or the loads of the tenant use its share.
    pub async fn find(
        &self,
        tenant: &str,
        resource: &str,
        at_least: u64,
    ) -> Result<Arc<CachedPlan>, PlanError> {
        self.require_proof()?;
        // A plan in memory may be of a later revision than the last one that was published here.
        if let Some(cached) = self.cache.find(tenant, resource, at_least) {
            return Ok(cached);
        }
        if self.cache.latest(tenant).unwrap_or_default() < at_least {
            self.demanded.wait_for(tenant, at_least, || self.read_revision(tenant)).await?;
        }
        let find = || self.cache.get(tenant, resource, at_least, || self.load(tenant, resource));
        let mut cached = find().await?;
        if cached.revision() < at_least {
            // The check joined a load that began before the store had the revision.
            cached = find().await?;
        }
        match cached.revision() {
            latest if latest < at_least => Err(PlanError::NoSuchRevision { at_least, latest }),
            _ => Ok(cached),
        }
    }

    /// Loads a plan when it is the turn of the tenant.
    async fn load(&self, tenant: &str, resource: &str) -> Result<Plan, PlanError> {
        let Some(turn) = self.turns.begin(tenant).await else {
            self.metrics.refused_loads.inc();
            return Err(PlanError::TooManyLoads);
        };
        self.metrics.loads.inc();
        let plan = load::load_within(turn, &self.store, tenant, resource).await?;
        self.over_budget.report(tenant, &plan);
        Ok(plan)
    }

    async fn read_revision(&self, tenant: &str) -> Result<u64, PlanError> {
        Ok(load::read_revision(&self.store, tenant).await?)
    }

    fn require_proof(&self) -> Result<(), PlanError> {
        if self.freshness.is_proved() { Ok(()) } else { Err(PlanError::TooStale) }
    }

    /// Commits `tx` and publishes its change: every check that begins after the return sees it.
    pub async fn commit(&self, tx: Tx) -> Result<Committed, StoreError> {
        let mut committed = tx.commit().await?;
        if let Some(touched) = committed.touched.take() {
            self.cache.publish(&committed.tenant, committed.revision, touched);
        }
        Ok(committed)
    }

    /// Compares every tenant's revision with the published one, in endless rounds. A revision that the last round
    /// read and that is still not published comes from another process; its change may touch anything.
    pub async fn poll(&self) {
        let mut before: HashMap<String, u64> = HashMap::new();
        let mut read_before = Instant::now();
        loop {
            let read_at = Instant::now();
            match self.revisions().await {
                Ok(revisions) => {
                    for (tenant, revision) in before {
                        if self.cache.latest(&tenant).is_some_and(|latest| latest < revision) {
                            self.cache.publish(&tenant, revision, vec![ResourcePattern::Any]);
                        }
                    }
                    // Every revision that the last round read is published now.
                    self.freshness.prove(read_before);
                    (before, read_before) = (revisions, read_at);
                }
                Err(error) => tracing::warn!(%error, "cannot read changes from the database"),
            }
            tokio::time::sleep(self.freshness.poll_interval()).await;
        }
    }

    async fn revisions(&self) -> Result<HashMap<String, u64>, StoreError> {
        let mut tx = self.store.read_all().await?;
        let revisions = tenants::revisions(&mut tx).await?;
        tx.end().await?;
        Ok(revisions.into_iter().collect())
    }

    /// Drops what is in memory of `tenant`: nobody may ask about it any more.
    pub fn forget(&self, tenant: &str) {
        self.cache.forget(tenant);
    }

    /// Publishes a change that another replica committed.
    pub fn publish(&self, notice: &RevisionNotice) {
        self.cache.publish(&notice.tenant, notice.revision, notice.touched());
    }

    /// Updates the metrics of the size of the cache, and returns the number of entries of each map.
    pub fn measure(&self) -> [(&'static str, usize); 6] {
        let size = self.cache.size();
        self.metrics.cache_bytes.set(i64::try_from(size.bytes).unwrap_or(i64::MAX));
        [
            ("plans", size.plans),
            ("plan_tenants", size.tenants),
            ("plan_loads", size.loads),
            ("plan_load_tenants", self.turns.len()),
            ("compilation_tenants", self.compilations.len()),
            ("demanded_revisions", self.demanded.len()),
        ]
    }
}
