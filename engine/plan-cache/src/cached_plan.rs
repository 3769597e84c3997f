//! A plan in the cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use portcullis_engine::Plan;

use crate::changes::ChangeLog;
use crate::own_patterns::OwnPatterns;

/// A plan that a load gave.
#[derive(Debug)]
pub struct NewPlan {
    pub plan: Plan,
    /// The patterns of the tenant at the revision of the plan or before, for the plan of `*`.
    pub own: Option<Arc<OwnPatterns>>,
}

impl From<Plan> for NewPlan {
    fn from(plan: Plan) -> Self {
        Self { plan, own: None }
    }
}

/// Bytes of a plan's place without the name of its resource: the key, the entry and the slot of the view, the records of
/// moka, the place in the queue of its tenant, and the fields beside the plan. A test compares it with the measured bytes.
const PLACE_BYTES: usize = 424;
/// The weight of policies for which the allocator takes one byte for itself. Compiled policies are blocks of some 80
/// bytes, and each block has 16 bytes more, for its size and to fill it up.
const POLICIES_PER_ALLOCATOR: usize = 5;
/// The weight of rules for which the allocator takes one byte for itself. Rules are a few large blocks. An allocator
/// has sizes of blocks that are up to a quarter apart, so that a block is a tenth larger than it must be, on average.
const RULES_PER_ALLOCATOR: usize = 10;

/// A plan in the cache.
#[derive(Debug)]
pub struct CachedPlan {
    plan: Plan,
    /// The bytes that the plan occupies, with its place in the cache.
    weight: usize,
    /// The changes of the plan's tenant.
    pub(crate) changes: Arc<ChangeLog>,
    /// The patterns of the tenant, for the plan of `*`; `None` if they are not known.
    own: Option<Arc<OwnPatterns>>,
    /// The revision up to which the plan reflects every change that touches its resource.
    valid_through: AtomicU64,
    /// Set by readers. Cleared when the cache looks for a plan to drop: a plan that was read meanwhile stays.
    was_read: AtomicBool,
}

impl CachedPlan {
    /// Returns the plan of `resource`, which was loaded in a snapshot of its revision.
    pub(crate) fn new(resource: &str, loaded: NewPlan, changes: Arc<ChangeLog>) -> Self {
        let NewPlan { plan, own } = loaded;
        // The plan itself is a part of its weight.
        let (all, policies) = (plan.weight(), plan.weight_of_policies());
        let allocator = policies / POLICIES_PER_ALLOCATOR + (all - policies) / RULES_PER_ALLOCATOR;
        let own_patterns = own.as_ref().map_or(0, |own| own.weight());
        let weight = all + PLACE_BYTES + resource.len() + allocator + own_patterns;
        Self::with_weight(plan, own, changes, weight)
    }

    /// Returns a plan of an earlier revision, which no cache has and no change touches.
    pub fn from_past(plan: Plan) -> Self {
        let weight = plan.weight();
        Self::with_weight(plan, None, Arc::default(), weight)
    }

    fn with_weight(
        plan: Plan,
        own: Option<Arc<OwnPatterns>>,
        changes: Arc<ChangeLog>,
        weight: usize,
    ) -> Self {
        let valid_through = AtomicU64::new(plan.revision());
        Self { plan, weight, changes, own, valid_through, was_read: AtomicBool::new(false) }
    }

    /// Returns the plan of a resource that no rule and no policy names, which this plan of a pattern decides at `revision`.
    /// It weighs little, because both share their parts.
    pub(crate) fn renamed(&self, resource: &str, revision: u64) -> Self {
        let plan = self.plan.renamed(resource, revision);
        // `own_weight` includes the plan itself.
        let weight = size_of::<Self>() - size_of::<Plan>() + plan.own_weight();
        Self::with_weight(plan, None, Arc::clone(&self.changes), weight)
    }

    /// Returns the patterns of the tenant, if this is the plan of `*` and they are known.
    pub fn own_patterns(&self) -> Option<&Arc<OwnPatterns>> {
        self.own.as_ref()
    }

    /// Returns whether checks compare the decisions of the plan with the decisions of a cache beside.
    #[inline]
    pub fn has_shadow(&self) -> bool {
        self.changes.has_shadow()
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

    /// Returns whether the plan reflects revision `revision` of its tenant, which is not before the revision of its
    /// load, for checks of `resource`.
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
            // A plan of `*` is also as old as the patterns that come with it.
            && self.own.as_ref().is_none_or(|own| own.catches_up(needed, &self.changes))
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
