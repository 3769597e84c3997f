//! Plans for checks: loads their rules from the store, publishes every write to the cache, and keeps up
//! with what other processes write.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use portcullis_engine::{Plan, ResourcePattern};
use portcullis_plan_cache::{CachedPlan, PlanCache};
use prometheus_client::metrics::counter::Counter;
use tokio::time::Instant;

use portcullis_storage::{
    Change, Committed, Store, StoreError, Tx, policies, resolvers, rules, tenants,
};

/// How often the revisions of all tenants are compared with what is known, unless `MAX_STALENESS` needs it
/// more often. Another process's write is seen after two rounds at the latest; on PostgreSQL its
/// notification is there long before.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The store is asked no more often than this.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Longest wait for a revision that a check demands (`docs/semantics.md`, section 2.9).
const MIN_REVISION_WAIT: Duration = Duration::from_secs(2);
/// How often the store is asked during that wait.
const MIN_REVISION_POLL: Duration = Duration::from_millis(100);

/// The plans of every tenant, and the only way to commit a change to their rules.
#[derive(Debug)]
pub struct Plans {
    store: Store,
    cache: PlanCache,
    freshness: Freshness,
    /// Counts the plans that are loaded.
    loads: Counter,
}

/// Why there is no plan to answer from.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Arc<StoreError>),
    /// Plans in memory may lag behind the store by more than `MAX_STALENESS`.
    #[error("the store could not be asked for changes for too long")]
    TooStale,
    /// The store has not got the revision that the check demands.
    #[error("revision {at_least} is demanded, but the store has {latest}")]
    NoSuchRevision { at_least: u64, latest: u64 },
}

/// When the plans were last known to be up to date with the store.
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

    /// A round proves what the round before it read, so that a proof is up to two rounds old: a staleness
    /// shorter than that must not fail while the store is up.
    fn poll_interval(&self) -> Duration {
        (self.max_staleness / 4).clamp(MIN_POLL_INTERVAL, POLL_INTERVAL)
    }

    fn is_proved(&self) -> bool {
        let proved_at = Duration::from_millis(self.proved_at.load(Ordering::Relaxed));
        self.start.elapsed().saturating_sub(proved_at) <= self.max_staleness
    }
}

impl Plans {
    pub fn new(store: Store, max_bytes: u64, max_staleness: Duration, loads: Counter) -> Self {
        let start = Instant::now();
        let freshness = Freshness { start, max_staleness, proved_at: AtomicU64::new(0) };
        Self { store, cache: PlanCache::new(max_bytes), freshness, loads }
    }

    /// What `answer` makes of the plan that decides `resource` in `tenant`, which is no older than any write
    /// acknowledged here so far, and no older than revision `at_least`.
    pub async fn with<R>(
        &self,
        tenant: &str,
        resource: &str,
        at_least: u64,
        answer: impl Fn(&CachedPlan) -> R,
    ) -> Result<R, PlanError> {
        if !self.freshness.is_proved() {
            return Err(PlanError::TooStale);
        }
        if let Some(answered) = self.cache.hot(tenant, resource, at_least, &answer) {
            return Ok(answered);
        }
        Ok(answer(&*self.get(tenant, resource, at_least).await?))
    }

    /// The plan that decides `resource` in `tenant`, as [`Plans::with`] has it, but that it is only looked up in moka.
    pub async fn get(
        &self,
        tenant: &str,
        resource: &str,
        at_least: u64,
    ) -> Result<Arc<CachedPlan>, PlanError> {
        let began = Instant::now();
        loop {
            let load = || {
                self.loads.inc();
                load(&self.store, tenant, resource)
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

    /// Commits `tx`, and makes its change visible to every check from now on.
    pub async fn commit(&self, tx: Tx) -> Result<Committed, StoreError> {
        let mut committed = tx.commit().await?;
        if let Some(touched) = committed.touched.take() {
            self.cache.publish(&committed.tenant, committed.revision, touched);
        }
        Ok(committed)
    }

    /// Compares every tenant's revision with what is known, again and again. A revision that was there a
    /// round ago and has still not been published was written by another process; its change may touch
    /// anything.
    pub async fn poll(&self) {
        let mut before: HashMap<String, u64> = HashMap::new();
        let mut asked_before = Instant::now();
        loop {
            let asked = Instant::now();
            match self.revisions().await {
                Ok(revisions) => {
                    for (tenant, revision) in before {
                        if self.cache.latest(&tenant).is_some_and(|latest| latest < revision) {
                            self.cache.publish(&tenant, revision, vec![ResourcePattern::Any]);
                        }
                    }
                    // What was read a round ago is taken into account by now.
                    self.freshness.prove(asked_before);
                    (before, asked_before) = (revisions, asked);
                }
                Err(error) => tracing::warn!(%error, "cannot ask the store for changes"),
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

    /// Publishes what another replica committed.
    pub fn heard(&self, change: &Change) {
        if self.cache.latest(&change.tenant).is_some() {
            self.cache.publish(&change.tenant, change.revision, change.touched());
        }
    }
}

/// Loads a plan in a task of its own: a client that goes away must not cancel a `begin` half-way, after
/// which sqlx could lose somebody else's write (transact-rs/sqlx#4385).
pub fn load(
    store: &Store,
    tenant: &str,
    resource: &str,
) -> impl Future<Output = Result<Plan, StoreError>> + use<> {
    let (store, tenant, resource) = (store.clone(), tenant.to_owned(), resource.to_owned());
    async move {
        match tokio::spawn(load_snapshot(store, tenant, resource)).await {
            Ok(loaded) => loaded,
            Err(failed) => std::panic::resume_unwind(failed.into_panic()),
        }
    }
}

/// Reads everything in one snapshot, so that the rules are exactly those of the revision.
async fn load_snapshot(store: Store, tenant: String, resource: String) -> Result<Plan, StoreError> {
    let mut tx = store.read(&tenant).await?;
    let revision = tenants::revision(&mut tx).await?;
    let rules = rules::of_plan(&mut tx, &resource).await?;
    let policies = policies::of_plan(&mut tx, &resource).await?;
    let resolvers = resolvers::of_plans(&mut tx).await?;
    tx.end().await?;
    let plan = Plan::compile(&resource, revision, &rules, policies);
    Ok(plan.with_resolvers(|namespace| resolvers.get(namespace).copied()))
}
