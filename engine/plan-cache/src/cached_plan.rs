//! A plan in the cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use portcullis_engine::Plan;

use crate::changes::ChangeLog;

/// The weight of policies for which the allocator takes one byte of its own. Compiled policies are blocks of some 80 bytes,
/// and each block has 16 bytes more, for its size and to fill it up. Rules are a few large blocks.
const POLICIES_PER_ALLOCATOR: usize = 5;

/// A plan in the cache.
#[derive(Debug)]
pub struct CachedPlan {
    plan: Plan,
    /// The bytes that the plan occupies, with its place in the cache.
    weight: usize,
    /// The changes of the plan's tenant.
    pub(crate) changes: Arc<ChangeLog>,
    /// The revision up to which the plan reflects every change that touches its resource.
    valid_through: AtomicU64,
    /// Set by readers. Cleared when the cache looks for a plan to drop: a plan that was read meanwhile stays.
    was_read: AtomicBool,
}

impl CachedPlan {
    /// Returns a plan that was loaded in a snapshot of its revision. `overhead` is the bytes of its place.
    pub(crate) fn new(plan: Plan, changes: Arc<ChangeLog>, overhead: usize) -> Self {
        let valid_through = AtomicU64::new(plan.revision());
        // The plan itself is a part of its own weight.
        let weight = plan.weight() + overhead + plan.weight_of_policies() / POLICIES_PER_ALLOCATOR;
        Self { plan, weight, changes, valid_through, was_read: AtomicBool::new(false) }
    }

    /// Returns the plan.
    #[inline]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the latest revision of the tenant that the plan is known to reflect.
    #[inline]
    pub fn revision(&self) -> u64 {
        self.valid_through.load(Ordering::Acquire)
    }

    /// Returns whether the plan reflects revision `revision` of its tenant, which is not before that of its load, for checks
    /// of `resource`.
    pub fn is_valid_at(&self, resource: &str, revision: u64) -> bool {
        self.plan.revision() <= revision && self.is_fresh(resource, revision)
    }

    /// Returns the bytes that the plan takes in the cache.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Applies the freshness rule: returns whether the plan is valid through revision `needed`.
    #[inline]
    pub(crate) fn is_fresh(&self, resource: &str, needed: u64) -> bool {
        let valid_through = self.revision();
        !self.changes.is_ended()
            && (valid_through >= needed || self.catches_up(resource, valid_through, needed))
    }

    /// Notes that the plan reflects every change up to `revision`.
    pub(crate) fn extend_to(&self, revision: u64) {
        self.valid_through.fetch_max(revision, Ordering::AcqRel);
    }

    fn catches_up(&self, resource: &str, valid_through: u64, needed: u64) -> bool {
        let fresh = self.changes.unaffected(resource, valid_through, needed);
        if fresh {
            // The next check needs no look at the log.
            self.extend_to(needed);
        }
        fresh
    }

    /// Records a read. Most reads find the record and write nothing, so that readers share no written memory.
    #[inline]
    pub(crate) fn note_read(&self) {
        if !self.was_read.load(Ordering::Relaxed) {
            self.was_read.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether the plan was read since the last call.
    pub(crate) fn take_read(&self) -> bool {
        self.was_read.swap(false, Ordering::Relaxed)
    }
}
