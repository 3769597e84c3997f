//! Plans for checks: loads their rules from the store, and publishes every write to the cache, also the writes of
//! other processes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use portcullis_engine::{Plan, ResourcePattern};
use portcullis_plan_cache::{CachedPlan, HotPlans, PlanCache};
use prometheus_client::metrics::counter::Counter;
use tokio::time::Instant;

use crate::compilations::Compilations;
use portcullis_storage::{
    Committed, RevisionNotice, Store, StoreError, Tx, policies, resolvers, rules, tenants,
};

/// The time between two comparisons of all tenants' revisions with the published ones, unless `MAX_STALENESS`
/// needs a shorter one. The second round after a write of another process finds it; on PostgreSQL its
/// notification arrives long before.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The shortest time between two such comparisons.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Longest wait for a revision that a check demands (`docs/semantics.md`, section 2.9).
const MIN_REVISION_WAIT: Duration = Duration::from_secs(2);
/// The time between two reads of the store during that wait.
const MIN_REVISION_POLL: Duration = Duration::from_millis(100);

/// The plans of every tenant, and the only way to commit a change to their rules.
#[derive(Debug)]
pub struct Plans {
    store: Store,
    cache: PlanCache,
    compilations: Compilations,
    freshness: Freshness,
    /// Counts the loads of plans.
    loads: Counter,
}

/// There is no plan to decide with.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Arc<StoreError>),
    /// Plans in memory may lag behind the store by more than `MAX_STALENESS`.
    #[error("the database did not answer requests for changes within MAX_STALENESS")]
    TooStale,
    /// The store does not have the revision that the check requires.
    #[error("the request requires revision {at_least}, but the database has {latest}")]
    NoSuchRevision { at_least: u64, latest: u64 },
}

/// The last time at which the plans were known to be up to date with the store.
#[derive(Debug)]
struct Freshness {
    start: Instant,
    max_staleness: Duration,
    /// Milliseconds after `start`.
    proved_at: AtomicU64,
}

impl Freshness {
    fn prove(&self, at: Instant) {
        let millis = at.duration_since(self.start).as_millis();
        self.proved_at.fetch_max(u64::try_from(millis).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns the time between two rounds. A round proves the revisions that the round before it read, so a
    /// proof is up to two rounds old. Four rounds fit into the staleness: no check fails while the store is up.
    fn poll_interval(&self) -> Duration {
        (self.max_staleness / 4).clamp(MIN_POLL_INTERVAL, POLL_INTERVAL)
    }

    fn require_proof(&self) -> Result<(), PlanError> {
        let proved_at = Duration::from_millis(self.proved_at.load(Ordering::Relaxed));
        if self.start.elapsed().saturating_sub(proved_at) > self.max_staleness {
            return Err(PlanError::TooStale);
        }
        Ok(())
    }
}

impl Plans {
    pub fn new(store: Store, max_bytes: u64, max_staleness: Duration, loads: Counter) -> Self {
        let start = Instant::now();
        let freshness = Freshness { start, max_staleness, proved_at: AtomicU64::new(0) };
        Self {
            store,
            cache: PlanCache::new(max_bytes),
            compilations: Compilations::default(),
            freshness,
            loads,
        }
    }

    /// Returns the compilations of policies and plans.
    pub fn compilations(&self) -> &Compilations {
        &self.compilations
    }

    /// Pins the plans that most checks need. Such a plan is no older than any write acknowledged here so far.
    ///
    /// # Errors
    /// [`PlanError::TooStale`]
    pub fn hot(&self) -> Result<HotPlans<'_>, PlanError> {
        self.freshness.require_proof()?;
        Ok(self.cache.hot())
    }

    /// Returns the plan that decides `resource` in `tenant`, and loads it if needed. It is no older than any write
    /// acknowledged here so far, and no older than revision `at_least`.
    pub async fn find(
        &self,
        tenant: &str,
        resource: &str,
        at_least: u64,
    ) -> Result<Arc<CachedPlan>, PlanError> {
        self.freshness.require_proof()?;
        let began = Instant::now();
        loop {
            let load = || {
                self.loads.inc();
                load(&self.store, &self.compilations, tenant, resource)
            };
            let cached = self.cache.get(tenant, resource, at_least, load).await?;
            if cached.revision() >= at_least {
                return Ok(cached);
            }
            if began.elapsed() >= MIN_REVISION_WAIT {
                return Err(PlanError::NoSuchRevision { at_least, latest: cached.revision() });
            }
            tokio::time::sleep(MIN_REVISION_POLL).await;
        }
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

    /// Publishes a change that another replica committed.
    pub fn publish(&self, notice: &RevisionNotice) {
        // Without a plan of the tenant in memory, there is nothing that could be outdated.
        if self.cache.latest(&notice.tenant).is_some() {
            self.cache.publish(&notice.tenant, notice.revision, notice.touched());
        }
    }
}

/// Loads a plan in a task of its own, which a client that goes away does not cancel: after a cancelled `begin`,
/// sqlx could lose another request's write (transact-rs/sqlx#4385).
pub fn load(
    store: &Store,
    compilations: &Compilations,
    tenant: &str,
    resource: &str,
) -> impl Future<Output = Result<Plan, StoreError>> + use<> {
    let (store, compilations) = (store.clone(), compilations.clone());
    let (tenant, resource) = (tenant.to_owned(), resource.to_owned());
    async move {
        match tokio::spawn(load_snapshot(store, compilations, tenant, resource)).await {
            Ok(loaded) => loaded,
            Err(failed) => std::panic::resume_unwind(failed.into_panic()),
        }
    }
}

/// Reads the rules and the revision in one snapshot, so that they belong together.
async fn load_snapshot(
    store: Store,
    compilations: Compilations,
    tenant: String,
    resource: String,
) -> Result<Plan, StoreError> {
    let mut tx = store.read(&tenant).await?;
    let revision = tenants::revision(&mut tx).await?;
    let rules = rules::of_plan(&mut tx, &resource).await?;
    let records = policies::of_plan(&mut tx, &resource).await?;
    let resolvers = resolvers::of_plans(&mut tx).await?;
    tx.end().await?;
    let compile = move || {
        let policies = records.into_iter().map(policies::planned);
        let plan = Plan::compile(&resource, revision, &rules, policies);
        plan.with_resolvers(|namespace| resolvers.get(namespace).copied())
    };
    Ok(compilations.plan(&tenant, compile).await)
}
