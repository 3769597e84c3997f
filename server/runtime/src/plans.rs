//! Plans for checks: finds them in memory or loads them, and publishes every write to the cache, also the writes of
//! other processes.

mod demanded;
mod epochs;
mod error;
mod folding;
mod following;
mod load;
mod over_budget;
mod parts;
mod passes;
mod warming;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use portcullis_fairness::TurnQueue;
use portcullis_model::clock::Clock;
use portcullis_plan_cache::{CachedPlan, HotPlans, NewPlan, PlanCache, WILDCARD};
use portcullis_storage::{Committed, RevisionNotice, Store, StoreError, Tx, epoch};
use portcullis_traces::step;
use tokio::time::Instant;

use crate::freshness::Freshness;
use crate::histories::Histories;
use crate::machine::{cores, load_limits};
use crate::metrics::PlanMetrics;
use crate::tenant_facts::SharedFacts;
use demanded::DemandedRevisions;
use folding::Folding;
use over_budget::OverBudgetLog;
use warming::Warming;

pub use error::{Counted, PlanError};
use load::{Known, LoadedPlan};

pub(crate) use load::PresentRevisions;
pub use load::load;

/// The plans of every tenant, and the only way to commit a change to their rules.
#[derive(Debug)]
pub struct Plans {
    store: Store,
    cache: Arc<PlanCache<PlanError>>,
    freshness: Freshness,
    turns: TurnQueue,
    folding: Folding,
    warming: Warming,
    over_budget: OverBudgetLog,
    demanded: DemandedRevisions,
    demanded_entities: DemandedRevisions,
    histories: Histories,
    facts: SharedFacts,
    clock: Clock,
    metrics: PlanMetrics,
}

impl Plans {
    pub fn new(
        store: Store,
        max_bytes: u64,
        max_staleness: Duration,
        clock: Clock,
        metrics: PlanMetrics,
    ) -> Self {
        Self {
            store,
            cache: Arc::new(PlanCache::new(max_bytes)),
            freshness: Freshness::new(max_staleness),
            turns: TurnQueue::new(load_limits(cores())),
            folding: Folding::default(),
            warming: Warming::default(),
            over_budget: OverBudgetLog::default(),
            demanded: DemandedRevisions::default(),
            demanded_entities: DemandedRevisions::default(),
            histories: Histories::default(),
            facts: SharedFacts::default(),
            clock,
            metrics,
        }
    }

    /// Returns an empty cache for other plans of the same tenants, of at most `max_bytes`. What is committed makes those
    /// outdated, too.
    pub fn cache_beside(&self, max_bytes: u64) -> PlanCache<PlanError> {
        self.cache.beside(max_bytes)
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
            return not_lost(cached, at_least);
        }
        if self.cache.latest(tenant).unwrap_or_default() < at_least {
            self.demanded.wait_for(tenant, at_least, || self.read_revision(tenant)).await?;
        }
        self.want_warm(tenant, Instant::now());
        let mut cached = step("plan load", self.find_or_load(tenant, resource, at_least)).await?;
        if cached.revision() < at_least {
            // The check joined a load that began before the store had the revision.
            cached = self.find_or_load(tenant, resource, at_least).await?;
        }
        match cached.revision() {
            latest if latest < at_least => Err(PlanError::NoSuchRevision { at_least, latest }),
            _ => not_lost(cached, at_least),
        }
    }

    /// Returns whether what a plan of `resource` decided at revision `from` is known to hold at revision `to`.
    pub fn is_unaffected(&self, tenant: &str, resource: &str, from: u64, to: u64) -> bool {
        self.cache.is_unaffected(tenant, resource, from, to)
    }

    /// Returns the plan that decides `resource`: the one that it shares with all that no rule and no policy names, or its
    /// own. Loads what is missing or outdated.
    async fn find_or_load(
        &self,
        tenant: &str,
        resource: &str,
        at_least: u64,
    ) -> Result<Arc<CachedPlan>, PlanError> {
        if !self.cache.has_own(tenant, resource) {
            // The plan of `*` knows which patterns the tenant has, and so which plan the resource can share.
            self.get(tenant, WILDCARD, at_least).await?;
            if let Some(pattern) = self.cache.shared_pattern(tenant, resource) {
                if pattern != WILDCARD {
                    self.get(tenant, &pattern, at_least).await?;
                }
                if let Some(shared) = self.cache.find(tenant, resource, at_least) {
                    return Ok(shared);
                }
            }
        }
        self.get(tenant, resource, at_least).await
    }

    /// Returns the plan of `resource` itself, or of a pattern. Loads it if it is missing or outdated.
    async fn get(
        &self,
        tenant: &str,
        resource: &str,
        at_least: u64,
    ) -> Result<Arc<CachedPlan>, PlanError> {
        let cached =
            self.cache.get(tenant, resource, at_least, || self.load(tenant, resource)).await?;
        self.folding.begin(&self.cache, tenant, resource, &cached).await;
        Ok(cached)
    }

    /// Loads a plan when it is the turn of the tenant.
    async fn load(&self, tenant: &str, resource: &str) -> Result<NewPlan, PlanError> {
        // Taken before the read, so that a commit during it does not look lost.
        let before = self.histories.last(tenant);
        let mut loaded = self.read_plan(tenant, resource).await?;
        let position = loaded.position.clone();
        let continuity = self.histories.note_read(tenant, before.as_ref(), position);
        // The database lost commits, and an epoch has begun since the read.
        if self.follow(tenant, continuity).await?.is_some() {
            loaded = self.read_plan(tenant, resource).await?;
        }
        self.over_budget.report(tenant, &loaded.plan);
        Ok(NewPlan { plan: loaded.plan, own: loaded.own })
    }

    async fn read_plan(&self, tenant: &str, resource: &str) -> Result<LoadedPlan, PlanError> {
        // Before the turn: the load of another plan needs one, too.
        let broader = self.broader(tenant, resource).await?;
        let turn = self.turns.begin(tenant).await.map_err(|_| {
            self.metrics.refused_loads.inc();
            PlanError::TooManyLoads
        })?;
        self.metrics.loads.inc();
        // After the wait for the turn: a change during the wait would make it useless.
        let known = Known { outdated: self.cache.outdated(tenant, resource), broader };
        let loaded = load::load_within(turn, &self.store, tenant, resource, known).await?;
        self.metrics.sources.count(loaded.source, 1);
        let plan = self.facts.shared_by(tenant, loaded.plan);
        Ok(LoadedPlan { plan, ..loaded })
    }

    /// Returns the plan with which the plan of `resource` shares rules: the plan of `<name>:*` if something is on it,
    /// else the plan of `*`.
    fn broader<'p>(
        &'p self,
        tenant: &'p str,
        resource: &'p str,
    ) -> BoxFuture<'p, Result<Option<Arc<CachedPlan>>, PlanError>> {
        // Boxed, because the load of the broader plan calls this function again, until `*` has no broader one.
        Box::pin(async move {
            if resource == WILDCARD {
                return Ok(None);
            }
            // Of any revision: the load shares it only if it is valid in its snapshot.
            let everything = self.get(tenant, WILDCARD, 0).await?;
            match everything.own_patterns().and_then(|own| own.pattern_around(resource)) {
                Some(name) if name != resource => self.get(tenant, &name, 0).await.map(Some),
                _ => Ok(Some(everything)),
            }
        })
    }

    async fn read_revision(&self, tenant: &str) -> Result<u64, PlanError> {
        Ok(load::read_revisions(&self.store, tenant).await?.rules)
    }

    async fn read_revision_of_entities(&self, tenant: &str) -> Result<u64, PlanError> {
        Ok(load::read_revisions(&self.store, tenant).await?.entities.revision)
    }

    /// Waits until the store has revision `at_least` of the entities of `tenant`. Returns the present revisions, which no
    /// later plan is older than.
    ///
    /// # Errors
    /// The store failed, or does not have the revision.
    pub(crate) async fn wait_for_entities(
        &self,
        tenant: &str,
        at_least: u64,
    ) -> Result<PresentRevisions, PlanError> {
        let waited = self
            .demanded_entities
            .wait_for(tenant, at_least, || self.read_revision_of_entities(tenant));
        waited.await.map_err(|error| match error {
            PlanError::NoSuchRevision { .. } => PlanError::NoSuchEntities { at_least },
            error => error,
        })?;
        let present = load::read_revisions(&self.store, tenant).await?;
        let latest = present.entities.revision;
        if is_lost(at_least, latest) {
            return Err(PlanError::RevisionLost { of: Counted::Entities, at_least, latest });
        }
        // The first entity may have come since: it touches every plan.
        self.publish_present(tenant, present.rules);
        Ok(present)
    }

    /// Returns the last revision of the rules of `tenant` that is known here; 0 without one.
    pub(crate) fn latest(&self, tenant: &str) -> u64 {
        self.cache.latest(tenant).unwrap_or_default()
    }

    fn require_proof(&self) -> Result<(), PlanError> {
        if self.freshness.is_proved() { Ok(()) } else { Err(PlanError::TooStale) }
    }

    /// Commits `tx` and publishes its change, or the present revision if it changed nothing: every check that begins after
    /// the return sees it.
    pub async fn commit(&self, tx: Tx) -> Result<Committed, StoreError> {
        let mut committed = tx.commit().await?;
        let touched = committed.touched.take();
        let (tenant, position) = (&committed.tenant, &committed.position);
        let Some(touched) = touched else {
            self.publish_present(tenant, position.revision);
            return Ok(committed);
        };
        // First, so that no check is decided by outdated plans while an epoch begins.
        self.cache.publish(tenant, position.revision, touched);
        let continuity = self.histories.note_commit(tenant, position.clone());
        if let Some(position) = self.follow(tenant, continuity).await? {
            // The answer names the revision of the epoch, which later checks can demand.
            committed.position = position;
        }
        Ok(committed)
    }

    /// Notes that every change that another process committed before `at` is published.
    pub(crate) fn prove(&self, at: Instant) {
        self.freshness.prove(at);
    }

    /// Returns the time between two reads of the changes of other processes.
    pub(crate) fn poll_interval(&self) -> Duration {
        self.freshness.poll_interval()
    }

    /// Drops what is in memory of `tenant`: nobody may ask about it any more.
    pub fn forget(&self, tenant: &str) {
        self.cache.forget(tenant);
        self.histories.forget(tenant);
    }

    /// Publishes a change that another replica committed.
    pub async fn publish(&self, notice: &RevisionNotice) -> Result<(), StoreError> {
        let (tenant, position) = (&notice.tenant, &notice.position);
        self.cache.publish(tenant, position.revision, notice.touched());
        // Histories are kept of tenants with plans in memory alone.
        if self.cache.latest(tenant).is_none() {
            return Ok(());
        }
        let continuity = self.histories.note_commit(tenant, position.clone());
        self.follow(tenant, continuity).await.map(drop)
    }

    /// Updates the metrics of the size of the cache, and returns the number of entries of each map.
    pub fn measure(&self) -> [(&'static str, usize); 9] {
        let size = self.cache.size();
        self.metrics.cache_bytes.set(i64::try_from(size.bytes).unwrap_or(i64::MAX));
        [
            ("plans", size.plans),
            ("plan_tenants", size.tenants),
            ("plan_loads", size.loads),
            ("plan_load_tenants", self.turns.tenants()),
            ("plan_warmings", self.warming.len()),
            ("demanded_revisions", self.demanded.len()),
            ("demanded_entities", self.demanded_entities.len()),
            ("histories", self.histories.len()),
            ("tenant_facts", self.facts.len()),
        ]
    }
}

/// Returns the plan unless the check demands a revision of an earlier epoch: the database lost it.
fn not_lost(cached: Arc<CachedPlan>, at_least: u64) -> Result<Arc<CachedPlan>, PlanError> {
    let latest = cached.revision();
    match is_lost(at_least, latest) {
        true => Err(PlanError::RevisionLost { of: Counted::Policy, at_least, latest }),
        false => Ok(cached),
    }
}

/// Returns whether `at_least`, a revision that a check demands or 0, is of an earlier epoch than the plan's.
pub fn is_lost(at_least: u64, latest: u64) -> bool {
    at_least > 0 && epoch(at_least) < epoch(latest)
}
