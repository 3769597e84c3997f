//! The plans in memory: found without a lock, and bounded in bytes.

use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use papaya::{Guard, LocalGuard};
use parking_lot::Mutex;
use portcullis_engine::Plan;

use crate::cached_plan::{CachedPlan, NewPlan};
use crate::changes::ChangeLog;
use crate::key::{Key, KeyRef};
use crate::shares::Shares;

/// Bytes of a plan's place without the name of its resource: the key, the entry and the slot of the map, the place in
/// the queue of its tenant, and the fields beside the plan. A test compares it with the measured bytes.
const PLACE_BYTES: usize = 136;
/// The most plans that stay because they were read, in one search for plans to drop. It bounds the time of the search.
const MAX_SECOND_CHANCES: usize = 64;

/// The map of plans. Its readers write no memory that they share.
pub(crate) type PlanMap = papaya::HashMap<Key, Arc<CachedPlan>, DefaultHashBuilder>;

/// The plans in memory, of at most `max_bytes` in total.
#[derive(Debug)]
pub(crate) struct Residents {
    max_bytes: u64,
    plans: PlanMap,
    /// Locked by every change of `plans`, so that both have the same plans.
    shares: Mutex<Shares>,
    #[cfg(test)]
    pub(crate) ignores_freshness: bool,
}

/// The plans in memory, pinned: a plan that [`HotPlans::get`] gives stays in memory until this guard is dropped, even if
/// the cache drops the plan before. Hold it for one decision.
#[derive(Debug)]
pub struct HotPlans<'c> {
    residents: &'c Residents,
    plans: papaya::HashMapRef<'c, Key, Arc<CachedPlan>, DefaultHashBuilder, LocalGuard<'c>>,
}

impl HotPlans<'_> {
    /// Returns the plan of `(tenant, resource)`, if it is hot: in memory, and no older than any write that was published
    /// before the call, nor than revision `at_least`. `None` means that the caller must use
    /// [`PlanCache::get`](crate::PlanCache::get).
    // Each check calls it, and the caller knows the lengths of its keys.
    #[inline]
    pub fn get(&self, tenant: &str, resource: &str, at_least: u64) -> Option<&CachedPlan> {
        let cached = self.plans.get(&KeyRef { tenant, resource })?;
        let needed = cached.changes.latest().max(at_least);
        if !self.residents.is_fresh(cached, resource, needed) {
            return None;
        }
        cached.note_read();
        Some(cached)
    }
}

impl Residents {
    /// Makes an empty map for plans of at most `max_bytes` in total.
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            plans: PlanMap::default(),
            shares: Mutex::default(),
            #[cfg(test)]
            ignores_freshness: false,
        }
    }

    /// Pins the plans for a read.
    #[inline]
    pub(crate) fn pin(&self) -> HotPlans<'_> {
        HotPlans { residents: self, plans: self.plans.pin() }
    }

    /// Returns the plan of `key`, if it is in memory and valid through revision `needed`.
    pub(crate) fn find(&self, key: &KeyRef<'_>, needed: u64) -> Option<Arc<CachedPlan>> {
        let plans = self.plans.pin();
        let cached = plans.get(key).filter(|cached| self.is_fresh(cached, key.resource, needed))?;
        cached.note_read();
        Some(Arc::clone(cached))
    }

    /// Returns the plan of `key` that is in memory, however old.
    pub(crate) fn any(&self, key: &KeyRef<'_>) -> Option<Arc<CachedPlan>> {
        self.plans.pin().get(key).map(Arc::clone)
    }

    /// Applies the freshness rule: returns whether the plan is valid through revision `needed`.
    #[inline]
    pub(crate) fn is_fresh(&self, cached: &CachedPlan, resource: &str, needed: u64) -> bool {
        #[cfg(test)]
        if self.ignores_freshness {
            return true;
        }
        cached.is_fresh(resource, needed)
    }

    /// Keeps a loaded plan in place of the one before, and drops plans until the rest fits.
    pub(crate) fn keep(
        &self,
        key: Key,
        loaded: NewPlan,
        changes: Arc<ChangeLog>,
    ) -> Arc<CachedPlan> {
        let overhead = PLACE_BYTES + key.resource.len();
        let cached = Arc::new(CachedPlan::new(loaded, changes, overhead));
        if self.fits(&cached) {
            let mut shares = self.shares.lock();
            self.insert(&mut shares, key, Arc::clone(&cached));
        }
        cached
    }

    /// Keeps `plan` in place of `before`, if that is the plan of `key` in memory.
    pub(crate) fn replace(&self, key: &KeyRef<'_>, before: &Arc<CachedPlan>, plan: Plan) {
        let overhead = PLACE_BYTES + key.resource.len();
        let loaded = NewPlan { plan, own: before.own_patterns().cloned() };
        let cached = CachedPlan::new(loaded, Arc::clone(&before.changes), overhead);
        cached.extend_to(before.revision());
        let mut shares = self.shares.lock();
        let plans = self.plans.pin();
        let there = plans.get_key_value(key).filter(|(_, there)| Arc::ptr_eq(there, before));
        if let Some((key, _)) = there.filter(|_| self.fits(&cached)) {
            self.insert(&mut shares, key.clone(), Arc::new(cached));
        }
    }

    fn fits(&self, cached: &CachedPlan) -> bool {
        cached.weight() as u64 <= self.max_bytes
    }

    fn insert(&self, shares: &mut Shares, key: Key, cached: Arc<CachedPlan>) {
        let weight = cached.weight() as u64;
        let guard = self.plans.guard();
        let before = self.plans.insert(key.clone(), cached, &guard);
        shares.keep(&key, before.map(|before| before.weight() as u64), weight);
        self.make_room(shares, &guard);
        // Without this, each thread would hold 32 dropped plans before it frees one.
        guard.flush();
    }

    /// Drops plans until the rest fits: those of the largest tenant that were not read for the longest time.
    fn make_room(&self, shares: &mut Shares, guard: &LocalGuard<'_>) {
        let mut second_chances = MAX_SECOND_CHANCES;
        while shares.bytes() > self.max_bytes {
            let Some(key) = shares.next() else { return };
            // Checks read the plans that share with a broader one, and to drop that one would free nothing.
            let is_used = |cached: &Arc<CachedPlan>| cached.take_read() | cached.plan().is_shared();
            let is_used = self.plans.get(&key, guard).is_some_and(is_used);
            if is_used && second_chances > 0 {
                second_chances -= 1;
                shares.postpone(key);
                continue;
            }
            let removed = self.plans.remove(&key, guard);
            shares.forget(&key.tenant, removed.map_or(0, |cached| cached.weight() as u64));
        }
    }

    /// Returns the number of plans.
    pub(crate) fn len(&self) -> usize {
        self.plans.len()
    }

    /// Returns the bytes of all plans and their tenants.
    pub(crate) fn bytes(&self) -> u64 {
        self.shares.lock().bytes()
    }
}

#[cfg(test)]
mod tests;
