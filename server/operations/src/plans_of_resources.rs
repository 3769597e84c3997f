//! The plans of several resources at one revision.

use std::sync::Arc;

use portcullis_plan_cache::CachedPlan;

use crate::app::App;
use crate::error::OperationError;

/// The number of attempts to find all plans at one revision.
const ATTEMPTS: usize = 4;

/// The plans of several resources, all of one revision.
#[derive(Debug)]
pub(crate) struct PlansOfResources {
    /// In the order of the resources.
    pub(crate) plans: Vec<Arc<CachedPlan>>,
    pub(crate) revision: u64,
}

/// Returns the plans of `resources` at one revision, not older than `at_least`.
///
/// # Errors
/// The store failed, or the rules change faster than they are read.
pub(crate) async fn find_all(
    app: &App,
    tenant: &str,
    resources: &[&str],
    at_least: u64,
) -> Result<PlansOfResources, OperationError> {
    let mut at_least = at_least;
    for _ in 0..ATTEMPTS {
        let mut plans = Vec::with_capacity(resources.len());
        for resource in resources {
            plans.push(app.plans.find(tenant, resource, at_least).await?);
        }
        let revisions = plans.iter().map(|cached| cached.revision());
        let (first, last) = (revisions.clone().min(), revisions.max());
        if first == last {
            return Ok(PlansOfResources { plans, revision: last.unwrap_or(at_least) });
        }
        at_least = last.unwrap_or(at_least);
    }
    let what = "the rules change faster than they can be read; try again later";
    Err(OperationError::NotNow(what.to_owned()))
}
