//! The plans that a search or a report decides by.

use std::sync::Arc;

use portcullis_plan_cache::CachedPlan;
use portcullis_runtime::app::App;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::plans::Plans;

use super::past_plans::PastRules;

/// The origin of the plans of a search or a report.
#[derive(Clone, Copy)]
pub(crate) enum PlanSource<'s> {
    /// The present rules.
    Present(&'s Plans),
    /// The rules of an earlier revision.
    Past(&'s PastRules<'s>),
}

impl<'s> PlanSource<'s> {
    /// Returns the plans of `past`, or the present ones.
    pub(crate) fn new(app: &'s App, past: Option<&'s PastRules<'s>>) -> Self {
        past.map_or(Self::Present(&app.plans), Self::Past)
    }

    /// Returns the revision that plans must have at least, if present plans must have `present`.
    pub(crate) fn at_least(self, present: u64) -> u64 {
        match self {
            Self::Present(_) => present,
            Self::Past(past) => past.revision(),
        }
    }

    /// Returns the plan that decides `resource` in `tenant`.
    ///
    /// # Errors
    /// The plan cannot be had.
    pub(crate) async fn find(
        self,
        tenant: &str,
        resource: &str,
        at_least: u64,
    ) -> Result<Arc<CachedPlan>, OperationError> {
        match self {
            Self::Present(plans) => Ok(plans.find(tenant, resource, at_least).await?),
            Self::Past(past) => past.plan(resource).await,
        }
    }

    /// Returns whether what a plan of `resource` decided at revision `from` is known to hold at revision `to`.
    pub(crate) fn is_unaffected(self, tenant: &str, resource: &str, from: u64, to: u64) -> bool {
        match self {
            Self::Present(plans) => plans.is_unaffected(tenant, resource, from, to),
            // All plans of the past are of one revision.
            Self::Past(_) => true,
        }
    }
}
