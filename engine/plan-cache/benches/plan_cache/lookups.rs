//! Lookups in the cache, from a thread that never waits.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use portcullis_engine::Plan;
use portcullis_plan_cache::{CachedPlan, PlanCache};

/// A cache of plans whose loads cannot fail.
pub(crate) type Cache = PlanCache<Infallible>;

/// Returns the revision of the plan of `(tenant, resource)`. Reads a hot plan if there is one.
pub(crate) fn revision(cache: &Cache, tenant: &str, resource: &str) -> u64 {
    let hot = cache.hot().get(tenant, resource, 0).map(CachedPlan::revision);
    hot.unwrap_or_else(|| {
        cached(cache, tenant, resource, || Plan::compile(resource, 1, &[], [])).revision()
    })
}

/// Returns the plan of `(tenant, resource)`. Calls `load` if the cache has no fresh plan. A hit, and a load that waits
/// for nothing, are ready at once.
pub(crate) fn cached(
    cache: &Cache,
    tenant: &str,
    resource: &str,
    load: impl Fn() -> Plan,
) -> Arc<CachedPlan> {
    let load = || std::future::ready(Ok(load()));
    let get = pin!(cache.get(tenant, resource, 0, load));
    match get.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Ok(cached)) => cached,
        Poll::Ready(Err(never)) => match never {},
        Poll::Pending => unreachable!("no other thread loads plans"),
    }
}
