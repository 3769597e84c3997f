//! Lookups in the cache, from a thread that never waits.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use portcullis_engine::Plan;
use portcullis_plan_cache::{CachedPlan, PlanCache};

/// Returns the revision of the plan of `(tenant, resource)`. Reads a hot plan if there is one.
pub(crate) fn revision(cache: &PlanCache, tenant: &str, resource: &str) -> u64 {
    let hot = cache.hot(tenant, resource, 0, CachedPlan::revision);
    hot.unwrap_or_else(|| {
        cached(cache, tenant, resource, || Plan::compile(resource, 1, &[], [])).revision()
    })
}

/// Returns the plan of `(tenant, resource)`. Calls `load` if the cache has no fresh plan. A hit, and a load that waits
/// for nothing, are ready at once.
pub(crate) fn cached(
    cache: &PlanCache,
    tenant: &str,
    resource: &str,
    load: impl Fn() -> Plan,
) -> Arc<CachedPlan> {
    let load = || std::future::ready(Ok::<_, std::convert::Infallible>(load()));
    let get = pin!(cache.get(tenant, resource, 0, load));
    match get.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(cached)) => cached,
        Poll::Ready(Err(never)) => match *never {},
        Poll::Pending => unreachable!("no other thread loads plans"),
    }
}
