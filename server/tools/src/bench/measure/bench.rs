//! The input of a run, and the clock of all measurements.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use portcullis_engine::{AttributeAnswers, Check};
use portcullis_plan_cache::{CachedPlan, PlanCache};
use portcullis_storage::StoreError;
use tokio::runtime::Handle;

use crate::bench::checks::MeasuredCheck;
use crate::bench::progress::Progress;
use crate::bench::source::Source;
use crate::bench::tenant::Tenant;

/// The shares of the total time. They add up to 1.
pub(super) const COMPILING: f64 = 0.1;
pub(super) const HITS: f64 = 0.2;
pub(super) const GETS: f64 = 0.1;
pub(super) const THROUGHPUT: f64 = 0.25;
pub(super) const LOADS: f64 = 0.35;
/// The number of clock readings. Their median counts.
const CLOCK_READINGS: usize = 10_001;

/// The cache whose answers are measured.
pub(super) type BenchCache = PlanCache<Arc<StoreError>>;

/// The input of a run.
pub(crate) struct Bench<'a> {
    pub(crate) tenants: &'a [Tenant],
    /// The sources of plans. Hits are measured on the first one.
    pub(crate) sources: &'a [Source],
    pub(crate) asked: &'a [MeasuredCheck],
    /// The total time.
    pub(crate) time: Duration,
    /// The largest number of threads.
    pub(crate) threads: usize,
    pub(crate) cache_bytes: u64,
    pub(crate) progress: Progress,
    pub(crate) runtime: &'a Handle,
}

/// A check that is ready to be decided.
pub(super) struct Question<'a> {
    pub(super) tenant: &'a Tenant,
    pub(super) check: Check<'a>,
    pub(super) resolved: &'a AttributeAnswers,
}

impl Question<'_> {
    /// Returns the plan from the cache, which loads it from `source` if it does not have it.
    pub(super) async fn plan(
        &self,
        cache: &BenchCache,
        source: &Source,
    ) -> anyhow::Result<Arc<CachedPlan>> {
        let cached = cache.get(&self.tenant.id, self.check.resource, 0, || async {
            source.load(self.tenant, self.check.resource).await.map_err(Arc::new)
        });
        cached.await.map_err(|error| anyhow::anyhow!("{}: {error}", source.name))
    }

    /// Returns the tenant and the resource, which identify the plan.
    pub(super) fn key(&self) -> (&str, &str) {
        (&self.tenant.id, self.check.resource)
    }
}

impl Bench<'_> {
    /// Returns a share of the total time.
    pub(super) fn share(&self, share: f64) -> Duration {
        self.time.mul_f64(share)
    }
}

/// Returns the first question about each plan.
pub(super) fn first_of_plan<'q, 'a>(questions: &'q [Question<'a>]) -> Vec<&'q Question<'a>> {
    let mut seen = HashMap::new();
    let mut first = Vec::new();
    for question in questions {
        // The map has no values of use: it only tells whether the key is new.
        seen.entry(question.key()).or_insert_with(|| first.push(question));
    }
    first
}

/// An empty histogram of nanoseconds, with three digits.
pub(super) fn times() -> anyhow::Result<Histogram<u64>> {
    // Three significant digits keep the memory small and the error within a tenth of a percent.
    Ok(Histogram::new(3)?)
}

/// Returns the nanoseconds since `start`, without the time of reading the clock.
pub(super) fn since(start: Instant, clock: u64) -> u64 {
    // A fast step may take less time than a usual reading of the clock.
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX).saturating_sub(clock)
}

/// Returns the median time of reading the clock twice, in nanoseconds.
pub(super) fn clock() -> u64 {
    let mut readings: Vec<u64> = (0..CLOCK_READINGS).map(|_| since(Instant::now(), 0)).collect();
    readings.sort_unstable();
    // The median is not moved by readings that the system interrupted.
    readings[CLOCK_READINGS / 2]
}
