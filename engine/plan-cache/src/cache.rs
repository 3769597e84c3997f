//! The cache: lookups, loads and the freshness of each plan.

use std::future::Future;
use std::sync::Arc;

use portcullis_engine::{Plan, Touched};
use portcullis_fairness::PerKey;
use tokio::sync::Mutex;

use crate::cached_plan::{CachedPlan, NewPlan};
use crate::changes::{ChangeLog, ChangedRecords};
use crate::key::{Key, KeyRef};
use crate::own_patterns::WILDCARD;
use crate::owned::OwnedPlans;
use crate::tenant_logs::TenantLogs;
use crate::view::HotPlans;

/// The cached plans by tenant and resource. Their total size in bytes is limited, and each tenant has a share. `E` is
/// the error of a load.
#[derive(Debug)]
pub struct PlanCache<E> {
    pub(crate) plans: OwnedPlans,
    /// Shared with the caches beside.
    pub(crate) logs: Arc<TenantLogs>,
    /// The loads under way.
    loads: PerKey<Key, Load<E>>,
}

/// Most records of an [`OutdatedPlan`], which are read one by one. With more, a load of all records is as fast.
const MAX_CHANGED_RECORDS: usize = 64;

/// A plan that differs from a later revision in known rules and policies alone.
#[derive(Debug)]
pub struct OutdatedPlan {
    pub plan: Arc<CachedPlan>,
    /// The later revision.
    pub revision: u64,
    /// The rules and policies that changed.
    pub changed: ChangedRecords,
}

/// The outcome of one load, for all checks that wait for it. The check that holds the lock loads.
struct Load<E>(Mutex<Option<Outcome<E>>>);

type Outcome<E> = Result<Arc<CachedPlan>, E>;

impl<E> Default for Load<E> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

/// The size of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheSize {
    /// The plans in memory.
    pub plans: usize,
    /// The bytes that they take.
    pub bytes: u64,
    /// The tenants whose changes are remembered.
    pub tenants: usize,
    /// The loads under way or waiting.
    pub loads: usize,
}

impl<E: Clone> PlanCache<E> {
    /// Makes an empty cache for plans of at most `max_bytes` in total.
    pub fn new(max_bytes: u64) -> Self {
        Self { plans: OwnedPlans::new(max_bytes), logs: Arc::default(), loads: PerKey::default() }
    }

    /// Makes an empty cache of at most `max_bytes` for other plans of the same tenants: the changes that are published here make
    /// those outdated, too. Only [`PlanCache::keep`] adds plans to it.
    #[must_use]
    pub fn beside(&self, max_bytes: u64) -> Self {
        let (plans, logs) = (OwnedPlans::new(max_bytes), Arc::clone(&self.logs));
        Self { plans, logs, loads: PerKey::default() }
    }

    /// Keeps a plan of `(tenant, resource)` that was compiled in a snapshot of its revision. It may be outdated already.
    pub fn keep(&self, tenant: &str, resource: &str, plan: NewPlan) {
        let (tenant, changes) = self.logs.get_or_create(tenant);
        self.plans.keep(Key { tenant, resource: resource.into() }, plan, changes);
    }

    /// Drops the plans of `tenant` from memory.
    pub fn drop_plans(&self, tenant: &str) {
        self.plans.drop_plans(tenant);
    }

    /// Sets whether checks of `tenant` compare their decisions with the decisions of a cache beside.
    pub fn set_shadow(&self, tenant: &str, has_shadow: bool) {
        self.logs.set_shadow(tenant, has_shadow);
    }

    /// Pins the plans in memory, so that lookups give references to plans and write nothing that threads share.
    #[inline]
    pub fn hot(&self) -> HotPlans<'_> {
        self.plans.view.pin()
    }

    /// Returns the plan that decides `(tenant, resource)` if it is in memory and no older than any write published before the
    /// call, nor than revision `at_least`.
    pub fn find(&self, tenant: &str, resource: &str, at_least: u64) -> Option<Arc<CachedPlan>> {
        let needed = self.logs.get(tenant)?.latest().max(at_least);
        let own = self.plans.view.find(&KeyRef { tenant, resource }, needed);
        own.or_else(|| self.find_shared(tenant, resource, needed))
    }

    /// Returns the plan that `resource` shares with all that no rule and no policy names, if it is valid through revision
    /// `needed`.
    fn find_shared(&self, tenant: &str, resource: &str, needed: u64) -> Option<Arc<CachedPlan>> {
        let pattern = self.shared_pattern(tenant, resource)?;
        let shared = self.plans.view.find(&KeyRef { tenant, resource: &pattern }, needed)?;
        // The patterns must have the same revisions as the plan.
        let needed = needed.max(shared.plan().revision());
        let everything = self.plans.view.find(&KeyRef { tenant, resource: WILDCARD }, needed)?;
        let own = everything.own_patterns()?;
        let through = own.revision().min(shared.revision());
        // Changes may have added a pattern since the first look. Later ones come after `through`.
        let decides = through >= needed && own.pattern_of(resource).as_ref() == Some(&pattern);
        decides.then(|| Arc::new(shared.renamed(resource, through)))
    }

    /// Returns the pattern whose plan decides `resource`, as far as is known, if no rule and no policy names the resource.
    /// The plan may be outdated, or not in memory.
    pub fn shared_pattern(&self, tenant: &str, resource: &str) -> Option<String> {
        let everything = self.plans.view.any(&KeyRef { tenant, resource: WILDCARD })?;
        everything.own_patterns()?.pattern_of(resource)
    }

    /// Returns whether a plan of `resource` itself is in memory, however old.
    pub fn has_own(&self, tenant: &str, resource: &str) -> bool {
        let own = self.plans.view.any(&KeyRef { tenant, resource });
        own.is_some_and(|own| !own.changes.is_ended())
    }

    /// Returns the plan of `(tenant, resource)`, no older than any write published before the call.
    ///
    /// Loads a plan that is older than revision `at_least` again. That revision may not be published here yet, nor be in
    /// the store: the caller must compare it with [`CachedPlan::revision`].
    ///
    /// `load` reads the tenant's rules and revision in one snapshot and compiles them. It runs once for all checks that
    /// wait for the same plan. If the check that runs it goes away, the next one begins it again.
    ///
    /// # Errors
    /// The error of `load`. A failure is never cached.
    pub async fn get<F, P>(
        &self,
        tenant: &str,
        resource: &str,
        at_least: u64,
        load: impl Fn() -> F,
    ) -> Result<Arc<CachedPlan>, E>
    where
        F: Future<Output = Result<P, E>>,
        P: Into<NewPlan>,
    {
        // Taken before the load, so that every write that is published during the load reaches this log.
        let (tenant, mut changes) = self.logs.get_or_create(tenant);
        let mut needed = changes.latest();
        let key = KeyRef { tenant: &tenant, resource };
        if let Some(cached) = self.plans.view.find(&key, needed.max(at_least)) {
            return Ok(cached);
        }
        let key = Key { tenant: Arc::clone(&tenant), resource: resource.into() };
        // This check may join a load that began before it and is too old. A load that begins later reads a snapshot with
        // every write published so far. So the second round at the latest returns, unless the tenant begins anew.
        let mut is_first = true;
        loop {
            let wanted = needed.max(at_least);
            let cached = self.load_once(&key, &changes, wanted, &load).await?;
            // `at_least` is left out: the store may not have that revision, and the loop would not end.
            if self.plans.view.is_fresh(&cached, resource, needed) {
                return Ok(cached);
            }
            // The store lost writes that were published, for example by a failover.
            let is_behind = !is_first && cached.revision() < needed;
            if is_behind && !changes.is_ended() {
                self.logs.forget(&tenant);
            }
            is_first = changes.is_ended();
            if is_first {
                // The tenant was forgotten meanwhile, and may begin anew with a lower revision.
                changes = self.logs.get_or_create(&tenant).1;
                needed = changes.latest();
            }
        }
    }

    /// Joins the load of `key`, or begins it.
    async fn load_once<F, P>(
        &self,
        key: &Key,
        changes: &Arc<ChangeLog>,
        wanted: u64,
        load: &impl Fn() -> F,
    ) -> Outcome<E>
    where
        F: Future<Output = Result<P, E>>,
        P: Into<NewPlan>,
    {
        let running = self.loads.enter(key.clone());
        let mut outcome = running.0.lock().await;
        if let Some(known) = &*outcome {
            return known.clone();
        }
        let key_ref = KeyRef { tenant: &key.tenant, resource: &key.resource };
        // Another load may have ended between the lookup and this one.
        let loaded = match self.plans.view.find(&key_ref, wanted) {
            Some(cached) => Ok(cached),
            None => {
                let plan = load().await;
                plan.map(|plan| self.plans.keep(key.clone(), plan.into(), Arc::clone(changes)))
            }
        };
        *outcome = Some(loaded.clone());
        // A check that begins after this load needs its own load.
        running.retire();
        loaded
    }

    /// Returns the plan of `(tenant, resource)` in memory if only known rules and policies make it outdated.
    pub fn outdated(&self, tenant: &str, resource: &str) -> Option<OutdatedPlan> {
        let plan = self.plans.view.any(&KeyRef { tenant, resource })?;
        let (from, to) = (plan.revision(), plan.changes.latest());
        let changed = plan.changes.changed(resource, from, to)?;
        let is_usable = changed.len() <= MAX_CHANGED_RECORDS
            && !plan.changes.is_ended()
            // The new plan takes the patterns of this one over, so they must have the later revision, too.
            && plan.own_patterns().is_none_or(|own| own.catches_up(to, &plan.changes));
        is_usable.then_some(OutdatedPlan { plan, revision: to, changed })
    }

    /// Puts `plan` in the place of `cached`, which decides the same. Does nothing if `cached` is not in memory any more.
    pub fn replace(&self, tenant: &str, resource: &str, cached: &Arc<CachedPlan>, plan: Plan) {
        self.plans.replace(&KeyRef { tenant, resource }, cached, plan);
    }

    /// Returns the plan of `(tenant, resource)` as moka answers, however old. A measurement compares it with [`Self::hot`].
    pub fn owned(&self, tenant: &str, resource: &str) -> Option<Arc<CachedPlan>> {
        self.plans.owner.get(&KeyRef { tenant, resource })
    }

    /// Publishes a committed write of `tenant`: its new revision and the resources that it touches. Must be called
    /// before the write is acknowledged. Does nothing for a tenant without plans: a load that begins later sees the
    /// write.
    pub fn publish(&self, tenant: &str, revision: u64, touched: Vec<Touched>) {
        if let Some(changes) = self.logs.get(tenant) {
            changes.publish(revision, touched);
        }
    }

    /// Returns whether a plan of `resource` that reflects revision `from` is known to decide at revision `to` as well.
    pub fn is_unaffected(&self, tenant: &str, resource: &str, from: u64, to: u64) -> bool {
        if from == to {
            return true;
        }
        let Some(log) = self.logs.get(tenant) else { return false };
        !log.is_ended() && log.unaffected(resource, from, to)
    }

    /// Returns the last published revision of `tenant`; `None` if the cache does not know the tenant.
    pub fn latest(&self, tenant: &str) -> Option<u64> {
        self.logs.get(tenant).map(|changes| changes.latest())
    }

    /// Forgets the revision of `tenant`, and with it every plan: no later check is decided by one. Its history may begin
    /// anew, with revisions that were there before.
    pub fn forget(&self, tenant: &str) {
        self.logs.forget(tenant);
    }

    /// Returns the size of the cache, for metrics.
    pub fn size(&self) -> CacheSize {
        CacheSize {
            plans: self.plans.view.len(),
            bytes: self.plans.view.bytes(),
            tenants: self.logs.len(),
            loads: self.loads.len(),
        }
    }
}

#[cfg(test)]
pub(crate) mod shared_tests;
#[cfg(test)]
mod tests;
