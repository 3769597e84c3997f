//! Plans that are made before checks ask for them.

use std::sync::Arc;

use crate::cache::PlanCache;
use crate::cached_plan::NewPlan;
use crate::changes::ChangeLog;
use crate::key::{Key, KeyRef};
use crate::owned::Spare;

/// A tenant whose plans are made before checks ask for them. Every change that is published meanwhile reaches its log.
#[derive(Debug)]
pub struct WarmedTenant {
    tenant: Arc<str>,
    changes: Arc<ChangeLog>,
    is_first: bool,
}

impl WarmedTenant {
    /// Returns whether the plans of the tenant in memory were never made so.
    pub fn is_first(&self) -> bool {
        self.is_first
    }

    /// Notes that not all plans were made: the next time is like the first.
    pub fn abandon(&self) {
        self.changes.abandon_warming();
    }
}

impl<E: Clone> PlanCache<E> {
    /// Returns whether the plans of `tenant` were never made before checks ask for them, or something was published since.
    pub fn needs_warming(&self, tenant: &str) -> bool {
        self.logs.get(tenant).is_none_or(|log| log.needs_warming())
    }

    /// Notes that the plans of `tenant` are made now.
    pub fn begin_warming(&self, tenant: &str) -> WarmedTenant {
        let (tenant, changes) = self.logs.get_or_create(tenant);
        let is_first = changes.begin_warming();
        WarmedTenant { tenant, changes, is_first }
    }

    /// Returns the resources whose plans are in memory and outdated.
    pub fn outdated_resources(&self, warmed: &WarmedTenant) -> Vec<Arc<str>> {
        let keys = self.plans.view.keys_of(&warmed.tenant).into_iter();
        keys.map(|key| key.resource).filter(|resource| self.is_cold(warmed, resource)).collect()
    }

    /// Returns whether no plan of `resource` itself is in memory that is valid now.
    pub fn is_cold(&self, warmed: &WarmedTenant, resource: &str) -> bool {
        let key = KeyRef { tenant: &warmed.tenant, resource };
        !self.plans.view.is_ready(&key, warmed.changes.latest())
    }

    /// Keeps a plan that was compiled in a snapshot of its revision, read after [`PlanCache::begin_warming`], if it fits beside
    /// all others and its tenant has no more than an equal part of the memory.
    pub fn keep_spare(&self, warmed: &WarmedTenant, resource: &str, plan: NewPlan) -> Spare {
        let key = Key { tenant: Arc::clone(&warmed.tenant), resource: resource.into() };
        self.plans.keep_spare(key, plan, Arc::clone(&warmed.changes))
    }
}

#[cfg(test)]
mod tests {
    use portcullis_engine::{Plan, ResourcePattern};

    use super::*;

    type Cache = PlanCache<&'static str>;

    fn plan(resource: &str, revision: u64) -> NewPlan {
        Plan::compile(resource, revision, &[], []).into()
    }

    /// Keeps plans while there is room, at most `most`. Returns their number.
    fn keep_spares(cache: &Cache, warmed: &WarmedTenant, most: usize) -> usize {
        let names = (0..most).map(|number| format!("doc-{number}:read"));
        let kept = names.take_while(|name| {
            let kept = cache.keep_spare(warmed, name, plan(name, 1));
            assert_ne!(kept, Spare::Ready);
            kept == Spare::Kept
        });
        kept.count()
    }

    #[test]
    fn plans_that_nobody_asked_for_push_out_none_and_take_an_equal_part() {
        let cache = Cache::new(256 << 10);
        let alone = cache.begin_warming("alone");
        let all = keep_spares(&cache, &alone, usize::MAX);
        assert!(all > 100 && cache.size().bytes <= 256 << 10, "{all}");
        // The memory is full.
        let late = cache.begin_warming("late");
        assert_eq!(keep_spares(&cache, &late, 1), 0);
        assert_eq!(cache.size().plans, all);
        // A check finds room at the cost of the one that has the most.
        cache.keep("late", "doc-0:read", plan("doc-0:read", 1));
        assert!(cache.find("late", "doc-0:read", 0).is_some());

        let cache = Cache::new(256 << 10);
        cache.keep("used", "doc-0:read", plan("doc-0:read", 1));
        let second = cache.begin_warming("second");
        let half = keep_spares(&cache, &second, usize::MAX);
        assert!((all * 9 / 20..=all.div_ceil(2)).contains(&half), "{half} of {all}");
        assert!(cache.find("used", "doc-0:read", 0).is_some());
    }

    #[test]
    fn a_plan_from_before_a_change_decides_nothing_and_takes_no_place_of_a_later_one() {
        let cache = Cache::new(1 << 20);
        let warmed = cache.begin_warming("acme");
        assert!(warmed.is_first() && !cache.needs_warming("acme"));
        let touched = || vec![ResourcePattern::Exact("doc:read".to_owned()).into()];
        cache.publish("acme", 2, touched());
        assert!(cache.needs_warming("acme"), "something was published since");
        let keep = |revision| cache.keep_spare(&warmed, "doc:read", plan("doc:read", revision));
        assert_eq!(keep(1), Spare::Kept);
        assert!(cache.find("acme", "doc:read", 0).is_none());
        assert!(cache.is_cold(&warmed, "doc:read"));
        assert_eq!(cache.outdated_resources(&warmed), ["doc:read".into()]);
        cache.keep("acme", "doc:read", plan("doc:read", 2));
        assert_eq!(keep(1), Spare::Ready);
        let found = cache.find("acme", "doc:read", 0).expect("the later plan stays");
        assert_eq!(found.plan().revision(), 2);
        assert!(cache.outdated_resources(&warmed).is_empty());
        // The tenant begins anew meanwhile.
        cache.forget("acme");
        assert_eq!(keep(3), Spare::NoRoom);
        assert!(cache.find("acme", "doc:read", 0).is_none());
        assert!(cache.begin_warming("acme").is_first());
    }
}
