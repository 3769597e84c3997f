//! Compiles plans whose policies changed often, while they decide.

use std::sync::Arc;

use portcullis_fairness::{TurnLimits, TurnQueue, run_apart};
use portcullis_plan_cache::{CachedPlan, PlanCache};

use super::error::PlanError;

/// Folds plans on a thread that serves no requests, one after the other. A plan that finds another one at work stays as it
/// is until its next change: it decides the same, a little slower.
#[derive(Debug)]
pub(super) struct Folding(TurnQueue);

impl Default for Folding {
    fn default() -> Self {
        Self(TurnQueue::new(TurnLimits { at_once: 1, waiting: 0, ..TurnLimits::NONE }))
    }
}

impl Folding {
    /// Begins to fold `cached` if enough of its policies changed for it to pay, and no other plan is folded now.
    pub(super) async fn begin(
        &self,
        cache: &Arc<PlanCache<PlanError>>,
        tenant: &str,
        resource: &str,
        cached: &Arc<CachedPlan>,
    ) {
        if !cached.plan().is_worth_folding() {
            return;
        }
        let Ok(turn) = self.0.begin(tenant).await else { return };
        let (cache, cached) = (Arc::clone(cache), Arc::clone(cached));
        let (tenant, resource) = (tenant.to_owned(), resource.to_owned());
        // Nobody waits for it.
        drop(run_apart(move || {
            let _turn = turn;
            let plan = cached.plan().folded();
            cache.replace(&tenant, &resource, &cached, plan);
        }));
    }
}
