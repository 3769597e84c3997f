//! The cache: lookups, loads and the freshness of each plan.

use std::cell::Cell;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use equivalent::Equivalent;
use hashbrown::{DefaultHashBuilder, HashMap};
use papaya::LocalGuard;
use parking_lot::RwLock;
use portcullis_engine::{Plan, ResourcePattern};

use crate::changes::ChangeLog;

/// The cached plans by tenant and resource. Their total size in bytes is limited.
#[derive(Debug)]
pub struct PlanCache {
    plans: moka::future::Cache<Key, Arc<CachedPlan>>,
    hot: Arc<HotMap>,
    tenants: RwLock<HashMap<Arc<str>, Arc<ChangeLog>>>,
    #[cfg(test)]
    ignores_freshness: bool,
}

/// The plans that are read often, for readers that share no written memory.
type HotMap = papaya::HashMap<Key, Arc<CachedPlan>, DefaultHashBuilder>;

/// One in this many hot reads goes through moka. Otherwise moka would see no read of a hot plan and evict it.
const SAMPLED: u64 = 64;

/// A plan in the cache.
#[derive(Debug)]
pub struct CachedPlan {
    plan: Plan,
    /// The changes of the plan's tenant.
    changes: Arc<ChangeLog>,
    /// The revision up to which the plan reflects every change that touches its resource.
    valid_through: AtomicU64,
}

impl CachedPlan {
    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the latest revision of the tenant that the plan is known to reflect.
    pub fn revision(&self) -> u64 {
        self.valid_through.load(Ordering::Acquire)
    }
}

/// The hot plans of a cache, pinned: a plan that [`HotPlans::get`] gives stays in memory until this guard is
/// dropped, even if the cache drops the plan before. Hold it for one decision.
#[derive(Debug)]
pub struct HotPlans<'c> {
    cache: &'c PlanCache,
    plans: papaya::HashMapRef<'c, Key, Arc<CachedPlan>, DefaultHashBuilder, LocalGuard<'c>>,
}

impl HotPlans<'_> {
    /// The plan of `(tenant, resource)`, if that plan is hot: no older than any write that was published before
    /// the call, nor than revision `at_least`. `None` means that the caller must use [`PlanCache::get`]. A
    /// hot plan gives `None` now and then, too, so that moka counts its reads.
    // Each check calls it, and the caller knows the lengths of its keys.
    #[inline]
    pub fn get(&self, tenant: &str, resource: &str, at_least: u64) -> Option<&CachedPlan> {
        let cached = self.plans.get(&KeyRef { tenant, resource })?;
        let needed = cached.changes.latest.load(Ordering::Acquire).max(at_least);
        (self.cache.is_fresh(cached, resource, needed) && !is_sampled()).then_some(&**cached)
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq)]
struct Key {
    tenant: Arc<str>,
    resource: Arc<str>,
}

/// Looks a [`Key`] up without allocating one. Compares the whole fields, so different keys never match.
struct KeyRef<'k> {
    tenant: &'k str,
    resource: &'k str,
}

impl KeyRef<'_> {
    fn to_key(&self) -> Key {
        Key { tenant: self.tenant.into(), resource: self.resource.into() }
    }
}

impl Hash for KeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tenant.hash(state);
        self.resource.hash(state);
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self.tenant == *key.tenant && *self.resource == *key.resource
    }
}

impl PlanCache {
    /// Makes an empty cache for plans of at most `max_bytes` in total.
    pub fn new(max_bytes: u64) -> Self {
        let hot = Arc::new(HotMap::default());
        let dropped = Arc::clone(&hot);
        let plans = moka::future::Cache::builder()
            .max_capacity(max_bytes)
            .eviction_listener(move |key: Arc<Key>, _, _| {
                dropped.pin().remove(&*key);
            })
            .weigher(|key: &Key, cached: &Arc<CachedPlan>| {
                let bytes = key.tenant.len() + key.resource.len() + cached.plan.weight();
                u32::try_from(bytes).unwrap_or(u32::MAX)
            })
            .build();
        Self {
            plans,
            hot,
            tenants: RwLock::default(),
            #[cfg(test)]
            ignores_freshness: false,
        }
    }

    /// Pins the hot plans, so that lookups give references to plans and write nothing that threads share.
    #[inline]
    pub fn hot(&self) -> HotPlans<'_> {
        HotPlans { cache: self, plans: self.hot.pin() }
    }

    /// Returns the plan of `(tenant, resource)`, no older than any write published before the call.
    ///
    /// Loads a plan that is older than revision `at_least` again. That revision may not be published here yet, nor be in
    /// the store: the caller must compare it with [`CachedPlan::revision`].
    ///
    /// `load` reads the tenant's rules and revision in one snapshot and compiles them. It runs once for all checks that
    /// wait for the same plan.
    ///
    /// # Errors
    /// The error of `load`. A failure is never cached.
    pub async fn get<E, F>(
        &self,
        tenant: &str,
        resource: &str,
        at_least: u64,
        load: impl Fn() -> F,
    ) -> Result<Arc<CachedPlan>, Arc<E>>
    where
        F: Future<Output = Result<Plan, E>>,
        E: Send + Sync + 'static,
    {
        let changes = self.changes(tenant);
        let needed = changes.latest.load(Ordering::Acquire);
        let key = KeyRef { tenant, resource };
        if let Some(cached) = self.plans.get(&key).await {
            if self.is_fresh(&cached, resource, needed.max(at_least)) {
                self.keep_hot(&key, &cached);
                return Ok(cached);
            }
            self.plans.invalidate(&key).await;
        }
        // This check may join a load that began before it and is too old. A load that begins later reads a snapshot with
        // every write published so far. So the second round at the latest returns.
        loop {
            let cached = self
                .plans
                .try_get_with(key.to_key(), async {
                    let plan = load().await?;
                    let valid_through = AtomicU64::new(plan.revision());
                    let changes = Arc::clone(&changes);
                    Ok(Arc::new(CachedPlan { plan, changes, valid_through }))
                })
                .await?;
            // `at_least` is left out: the store may not have that revision, and the loop would not end.
            if self.is_fresh(&cached, resource, needed) {
                return Ok(cached);
            }
            self.plans.invalidate(&key).await;
        }
    }

    /// Publishes a committed write of `tenant`: its new revision and the resources that it touches. Must be called
    /// before the write is acknowledged.
    pub fn publish(&self, tenant: &str, revision: u64, touched: Vec<ResourcePattern>) {
        self.changes(tenant).publish(revision, touched);
    }

    /// Returns the last published revision of `tenant`; `None` if the cache does not know the tenant.
    pub fn latest(&self, tenant: &str) -> Option<u64> {
        let tenants = self.tenants.read();
        tenants.get(tenant).map(|changes| changes.latest.load(Ordering::Acquire))
    }

    /// Copies a plan that moka returned into the map of hot plans.
    fn keep_hot(&self, key: &KeyRef<'_>, cached: &Arc<CachedPlan>) {
        let plans = self.hot.pin();
        if plans.get(key).is_some_and(|kept| Arc::ptr_eq(kept, cached)) {
            return;
        }
        plans.insert(key.to_key(), Arc::clone(cached));
        // moka may have evicted the plan in between. Then no later eviction would remove it here.
        if !self.plans.contains_key(key) {
            plans.remove(key);
        }
    }

    /// Applies the freshness rule: returns whether the plan is valid through revision `needed`.
    fn is_fresh(&self, cached: &CachedPlan, resource: &str, needed: u64) -> bool {
        #[cfg(test)]
        if self.ignores_freshness {
            return true;
        }
        let valid_through = cached.valid_through.load(Ordering::Acquire);
        if valid_through >= needed {
            return true;
        }
        let fresh = cached.changes.unaffected(resource, valid_through, needed);
        if fresh {
            // The next check needs no look at the log.
            cached.valid_through.fetch_max(needed, Ordering::AcqRel);
        }
        fresh
    }

    /// Returns the log of a tenant, a new one if the cache does not know the tenant.
    fn changes(&self, tenant: &str) -> Arc<ChangeLog> {
        let tenants = self.tenants.read();
        if let Some(changes) = tenants.get(tenant) {
            return Arc::clone(changes);
        }
        drop(tenants);
        let mut tenants = self.tenants.write();
        Arc::clone(tenants.entry(tenant.into()).or_default())
    }
}

/// Returns true for about one in [`SAMPLED`] calls. Random, so that no pattern of reads hides a key from moka.
fn is_sampled() -> bool {
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(0) };
    }
    // Knuth's linear congruential generator. Its high bits are random enough.
    let next =
        STATE.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    STATE.set(next);
    next >> 32 < (1 << 32) / SAMPLED
}

#[cfg(test)]
mod tests;
