//! The plans in memory. moka owns them, and lookups read a view of them.

use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use parking_lot::Mutex;
use portcullis_engine::Plan;

use crate::cached_plan::{CachedPlan, NewPlan};
use crate::changes::ChangeLog;
use crate::key::{Key, KeyRef};
use crate::view::{SMALL, View};

/// The most plans that stay because they were read, in one search for plans to drop. It bounds the time of the search.
const MAX_SECOND_CHANCES: usize = 64;

/// The outcome for a plan that nobody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spare {
    /// It is in memory now.
    Kept,
    /// A plan that is as new was in memory already.
    Ready,
    /// Others would have to leave, its tenant has its part, or the tenant begins anew.
    NoRoom,
}

/// The plans in memory, of at most `max_bytes` in total.
#[derive(Debug)]
pub(crate) struct OwnedPlans {
    max_bytes: u64,
    /// Has every plan. Its own limit is never reached as long as the shares make room before they give it a plan.
    pub(crate) owner: Cache<Key, Arc<CachedPlan>, DefaultHashBuilder>,
    /// The view for lookups.
    pub(crate) view: Arc<View>,
    /// Held by every write, so that moka and the view get plans in the same order.
    writing: Mutex<()>,
}

impl OwnedPlans {
    /// Returns no plans. They may take `max_bytes` in total.
    pub(crate) fn new(max_bytes: u64) -> Self {
        let view = Arc::<View>::default();
        let watching = Arc::clone(&view);
        let owner = Cache::builder()
            .max_capacity(max_bytes)
            // moka weighs in 32 bits, so that a larger plan counts as 4 GiB.
            .weigher(|_, plan: &Arc<CachedPlan>| plan.weight().try_into().unwrap_or(u32::MAX))
            // Its default admits a plan only if it is read more often than all that must go for it, taken together.
            .eviction_policy(EvictionPolicy::lru())
            .eviction_listener(move |key, plan, _| watching.forget(&key, &plan))
            .build_with_hasher(DefaultHashBuilder::default());
        Self { max_bytes, owner, view, writing: Mutex::default() }
    }

    /// Keeps a loaded plan in place of the one before, and drops plans until the rest fits.
    pub(crate) fn keep(
        &self,
        key: Key,
        loaded: NewPlan,
        changes: Arc<ChangeLog>,
    ) -> Arc<CachedPlan> {
        let cached = Arc::new(CachedPlan::new(&key.resource, loaded, changes));
        let _writing = self.writing.lock();
        self.insert(key, &cached);
        cached
    }

    /// Keeps a plan that nobody asked for, if it fits beside all others and is not ready already.
    pub(crate) fn keep_spare(&self, key: Key, loaded: NewPlan, changes: Arc<ChangeLog>) -> Spare {
        let cached = Arc::new(CachedPlan::new(&key.resource, loaded, changes));
        let _writing = self.writing.lock();
        let shown = KeyRef { tenant: &key.tenant, resource: &key.resource };
        if self.view.is_ready(&shown, cached.revision()) {
            return Spare::Ready;
        }
        if cached.changes.is_ended() || !self.view.has_room(&key, &cached, self.max_bytes) {
            return Spare::NoRoom;
        }
        self.insert(key, &cached);
        Spare::Kept
    }

    /// Keeps `plan` in place of `before`, if that is the plan of `key` in memory.
    pub(crate) fn replace(&self, key: &KeyRef<'_>, before: &Arc<CachedPlan>, plan: Plan) {
        let loaded = NewPlan { plan, own: before.own_patterns().cloned() };
        let cached = CachedPlan::new(key.resource, loaded, Arc::clone(&before.changes));
        // Both decide the same, so that the new one is as fresh as the one before.
        cached.extend_to(before.revision());
        let _writing = self.writing.lock();
        if let Some(key) = self.view.key_of(key, before) {
            self.insert(key, &Arc::new(cached));
        }
    }

    /// Drops the plans of `tenant`.
    pub(crate) fn drop_plans(&self, tenant: &str) {
        let _writing = self.writing.lock();
        for key in self.view.keys_of(tenant) {
            self.owner.invalidate(&key);
        }
        self.owner.run_pending_tasks();
    }

    fn insert(&self, key: Key, plan: &Arc<CachedPlan>) {
        if plan.weight() as u64 > self.max_bytes {
            return;
        }
        // The view first: what moka drops at once must be found there.
        let fits = self.view.add(&key, plan) <= self.max_bytes;
        if fits || self.make_room(&key) {
            self.owner.insert(key, Arc::clone(plan));
        } else {
            // moka may have the one before.
            self.owner.invalidate(&key);
            self.view.forget(&key, plan);
        }
        // moka holds dropped plans until then. Of itself it does this after 64 changes.
        if !fits || plan.weight() > SMALL {
            self.owner.run_pending_tasks();
        }
    }

    /// Drops plans until the rest fits. Returns false if the plan of `new`, which moka does not have yet, must go, too.
    fn make_room(&self, new: &Key) -> bool {
        let mut chances = MAX_SECOND_CHANCES;
        while let Some(key) = self.view.next_to_go(self.max_bytes, &mut chances) {
            if key == *new {
                return false;
            }
            self.owner.invalidate(&key);
        }
        true
    }
}

#[cfg(test)]
mod tests;
