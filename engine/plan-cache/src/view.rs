//! The view of the plans that moka owns: lookups read it without a lock, and it says which plan goes next.

use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use papaya::{Guard, LocalGuard};
use parking_lot::Mutex;

use crate::cached_plan::CachedPlan;
use crate::key::{Key, KeyRef};
use crate::shares::Shares;

type PlanMap = papaya::HashMap<Key, Arc<CachedPlan>, DefaultHashBuilder>;

/// The bytes of plans of which some may stay for a while after they were replaced: 32 for each thread, and 64 in moka.
pub(crate) const SMALL: usize = 16 << 10;

/// The plans in memory, by key. Its readers write no memory that they share.
#[derive(Debug, Default)]
pub(crate) struct View {
    plans: PlanMap,
    shares: Mutex<Shares>,
    #[cfg(test)]
    pub(crate) ignores_freshness: std::sync::atomic::AtomicBool,
}

/// The plans in memory, pinned: a plan that [`HotPlans::get`] gives stays in memory until this guard is dropped, even if
/// the cache drops the plan before. Hold it for one decision.
#[derive(Debug)]
pub struct HotPlans<'c> {
    view: &'c View,
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
        if !self.view.is_fresh(cached, resource, needed) {
            return None;
        }
        cached.note_read();
        Some(cached)
    }
}

impl View {
    /// Pins the plans for a read.
    #[inline]
    pub(crate) fn pin(&self) -> HotPlans<'_> {
        HotPlans { view: self, plans: self.plans.pin() }
    }

    /// Returns the plan of `key`, if it is in memory and valid through revision `needed`.
    pub(crate) fn find(&self, key: &KeyRef<'_>, needed: u64) -> Option<Arc<CachedPlan>> {
        let plans = self.plans.pin();
        let cached = plans.get(key).filter(|cached| self.is_fresh(cached, key.resource, needed))?;
        cached.note_read();
        Some(Arc::clone(cached))
    }

    /// Returns the key that `plan` is shown under, if it is the plan of `key`.
    pub(crate) fn key_of(&self, key: &KeyRef<'_>, plan: &Arc<CachedPlan>) -> Option<Key> {
        let plans = self.plans.pin();
        let shown = plans.get_key_value(key).filter(|(_, shown)| Arc::ptr_eq(shown, plan));
        shown.map(|(key, _)| key.clone())
    }

    /// Returns the keys of the plans of `tenant`.
    pub(crate) fn keys_of(&self, tenant: &str) -> Vec<Key> {
        self.shares.lock().keys_of(tenant)
    }

    /// Returns the plan of `key` that is in memory, however old.
    pub(crate) fn any(&self, key: &KeyRef<'_>) -> Option<Arc<CachedPlan>> {
        self.plans.pin().get(key).map(Arc::clone)
    }

    /// Applies the freshness rule: returns whether the plan is valid through revision `needed`.
    #[inline]
    pub(crate) fn is_fresh(&self, cached: &CachedPlan, resource: &str, needed: u64) -> bool {
        #[cfg(test)]
        if self.ignores_freshness.load(std::sync::atomic::Ordering::Relaxed) {
            return true;
        }
        cached.is_fresh(resource, needed)
    }

    /// Returns whether `plan` can take its place within `max_bytes`, while no other plan leaves and its tenant has no more
    /// than an equal part of them.
    pub(crate) fn has_room(&self, key: &Key, plan: &CachedPlan, max_bytes: u64) -> bool {
        let replaced = self.plans.pin().get(key).map_or(0, |before| before.weight());
        self.shares.lock().have_room(&key.tenant, (replaced, plan.weight()), max_bytes)
    }

    /// Returns whether the plan of `key` is in memory and valid through `needed`. It does not count as read.
    pub(crate) fn is_ready(&self, key: &KeyRef<'_>, needed: u64) -> bool {
        let plans = self.plans.pin();
        plans.get(key).is_some_and(|cached| self.is_fresh(cached, key.resource, needed))
    }

    /// Adds a plan that moka gets next, in place of the one before. Returns the bytes of all plans and their tenants.
    pub(crate) fn add(&self, key: &Key, plan: &Arc<CachedPlan>) -> u64 {
        let guard = self.plans.guard();
        // Writers hold a lock of their own, so that no other plan of the key is added before the shares have this one.
        let before = self.plans.insert(key.clone(), Arc::clone(plan), &guard);
        let before = before.map(|before| before.weight());
        // Each thread may hold 32 dropped plans before it frees one.
        if before.is_some_and(|weight| weight > SMALL) {
            guard.flush();
        }
        let mut shares = self.shares.lock();
        shares.add(key, before, plan.weight());
        shares.bytes()
    }

    /// Forgets a plan that moka dropped, unless a later one is in its place.
    pub(crate) fn forget(&self, key: &Key, plan: &Arc<CachedPlan>) {
        let guard = self.plans.guard();
        let removed = self.plans.remove_if(key, |_, shown| Arc::ptr_eq(shown, plan), &guard);
        if removed.is_ok_and(|removed| removed.is_some()) {
            guard.flush();
            self.shares.lock().subtract(&key.tenant, plan.weight());
        }
    }

    /// Takes the plan that goes next out of the queue of the largest tenant, if all plans take more than `max_bytes`. A plan
    /// that was read since it came to the head of the queue stays, but at most as many plans as there are `chances`.
    pub(crate) fn next_to_go(&self, max_bytes: u64, chances: &mut usize) -> Option<Key> {
        let plans = self.plans.pin();
        let mut shares = self.shares.lock();
        while shares.bytes() > max_bytes {
            let key = shares.next()?;
            if *chances == 0 || !plans.get(&key).is_some_and(is_used) {
                return Some(key);
            }
            *chances -= 1;
            shares.postpone(key);
        }
        None
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

/// Returns whether checks read the plan lately, or read those that share with it: to drop it would then free nothing.
fn is_used(cached: &Arc<CachedPlan>) -> bool {
    // `|`, so that the mark of a read is cleared in any case.
    cached.take_read() | cached.plan().is_shared()
}
