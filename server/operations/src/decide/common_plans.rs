//! Plans of several resources at one revision, as for the checks of a batch (`docs/semantics.md`, section 11.2).

use std::sync::Arc;

use portcullis_plan_cache::CachedPlan;
use portcullis_runtime::error::OperationError;
use portcullis_runtime::plans::Plans;

/// The most resources of a batch. A plan may have to be loaded for each.
const MAX_RESOURCES: usize = 1_000;
/// The most bytes of the plans of a batch, which stay in memory until it ends, whatever the cache drops meanwhile.
const MAX_PLAN_BYTES: usize = 256 << 20;
/// The most rounds in which plans are brought to one revision. A further round is needed only if a change of one of the
/// resources commits during a round.
const MAX_ROUNDS: usize = 32;

/// The plans of several resources at one revision.
#[derive(Debug)]
pub(crate) struct CommonPlans {
    /// One for each resource, in their order.
    pub plans: Vec<Arc<CachedPlan>>,
    /// The revision that all plans reflect.
    pub revision: u64,
}

/// Returns the plans that decide `resources` in `tenant`, all of one revision: `at_least` or a later one, and no older than
/// any write acknowledged here so far.
///
/// # Errors
/// A plan cannot be had, the plans are too many or too large together, or the rules change too fast.
pub(crate) async fn find(
    plans: &Plans,
    tenant: &str,
    resources: &[&str],
    at_least: u64,
) -> Result<CommonPlans, OperationError> {
    if resources.len() > MAX_RESOURCES {
        let what = format!(
            "the items are about {} resources: send at most {MAX_RESOURCES} in one batch",
            resources.len()
        );
        return Err(OperationError::BadRequest(what));
    }
    let (mut found, mut bytes) = (Vec::with_capacity(resources.len()), 0);
    for resource in resources {
        let plan = plans.find(tenant, resource, at_least).await?;
        bytes += plan.weight();
        if bytes > MAX_PLAN_BYTES {
            let what = "the rules and policies of all resources of the batch are too large: send items of fewer \
                        resources in one batch";
            return Err(OperationError::BadRequest(what.to_owned()));
        }
        found.push(plan);
    }
    agree(plans, tenant, resources, found).await
}

/// Brings `found` to one revision: the latest that one of them reflects. A plan that a change in between touches is found
/// again.
async fn agree(
    plans: &Plans,
    tenant: &str,
    resources: &[&str],
    mut found: Vec<Arc<CachedPlan>>,
) -> Result<CommonPlans, OperationError> {
    for _ in 0..MAX_ROUNDS {
        // The latest, because no plan goes back: an older one is found again, or no change since touches its resource.
        let revision = found.iter().map(|plan| plan.revision()).max().unwrap_or_default();
        let mut agreed = true;
        for (plan, resource) in found.iter_mut().zip(resources) {
            if !plan.is_valid_at(resource, revision) {
                *plan = plans.find(tenant, resource, revision).await?;
                agreed = false;
            }
        }
        if agreed {
            return Ok(CommonPlans { plans: found, revision });
        }
    }
    let what =
        "the rules of the items changed again and again, and nothing was decided; try again later";
    Err(OperationError::NotNow(what.to_owned()))
}

#[cfg(test)]
mod tests;
