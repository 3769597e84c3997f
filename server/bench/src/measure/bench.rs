//! The measuring: everything is decided once, then each figure gets its share of the time.

mod answers;
mod decided;
mod plans;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use portcullis_engine::{Answers, Check};
use portcullis_plan_cache::{CachedPlan, PlanCache};
use tokio::runtime::Handle;

use super::checks::Asked;
use super::progress::Progress;
use super::report::{Answering, Latency, Report, Way};
use super::source::Source;
use super::tenant::Tenant;

/// Shares of the time.
const COMPILING: f64 = 0.1;
const HITS: f64 = 0.2;
const GETS: f64 = 0.1;
const THROUGHPUT: f64 = 0.25;
const LOADS: f64 = 0.35;
/// Readings of the clock that tell what one takes.
const CLOCK_READINGS: usize = 10_001;

/// What is measured, and how.
pub(super) struct Bench<'a> {
    pub(super) tenants: &'a [Tenant],
    /// The first is what hits are measured on.
    pub(super) sources: &'a [Source],
    pub(super) asked: &'a [Asked],
    /// All in all.
    pub(super) time: Duration,
    /// Most threads at once.
    pub(super) threads: usize,
    pub(super) cache_bytes: u64,
    pub(super) progress: Progress,
    pub(super) runtime: &'a Handle,
}

/// A check that is ready to be decided.
struct Question<'a> {
    tenant: &'a Tenant,
    check: Check<'a>,
    resolved: &'a Answers,
}

impl Question<'_> {
    /// The plan from the cache, which loads it from `source` if need be.
    async fn plan(
        &self,
        cache: &PlanCache,
        source: &Source,
    ) -> anyhow::Result<std::sync::Arc<CachedPlan>> {
        let load = || source.load(self.tenant, self.check.resource);
        let cached = cache.get(&self.tenant.id, self.check.resource, 0, load).await;
        cached.map_err(|error| anyhow::anyhow!("{}: {error}", source.name))
    }

    fn key(&self) -> (&str, &str) {
        (&self.tenant.id, self.check.resource)
    }
}

impl Bench<'_> {
    /// Measures everything.
    pub(super) fn run(&self) -> anyhow::Result<Report> {
        let questions: Vec<Question<'_>> = self
            .asked
            .iter()
            .filter_map(|asked| {
                let tenant = self.tenants.get(asked.tenant)?;
                let (check, resolved) = (asked.check(self.tenants)?, &asked.resolved);
                Some(Question { tenant, check, resolved })
            })
            .collect();
        let clock = clock();
        let mut report = Report {
            version: env!("CARGO_PKG_VERSION"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            clock_ns: clock,
            ..Report::default()
        };
        let first_of_plan = first_of_plan(&questions);
        self.runtime.block_on(self.decide(&questions, &mut report))?;
        self.compile(&first_of_plan, clock, &mut report)?;
        let (fastest, sources) = (self.sources.first(), self.sources);
        let Some(first) = fastest else { return Ok(report) };
        let cache = PlanCache::new(self.cache_bytes);
        self.runtime.block_on(async {
            self.warm_up(&questions, &cache, first).await?;
            let times = self.hits(&questions, &cache, first, clock).await?;
            report.answers.push(answering(Way::Hit, None, &times));
            let times = self.gets(&questions, &cache, first, clock).await?;
            report.answers.push(answering(Way::Get, None, &times));
            anyhow::Ok(())
        })?;
        report.throughput = self.throughput(&questions, &cache, first)?;
        for source in sources {
            self.runtime.block_on(async {
                let times = self.misses(&first_of_plan, source, clock).await?;
                report.answers.push(answering(Way::Miss, Some(source), &times));
                let times = self.uncached(&questions, source, clock).await?;
                report.answers.push(answering(Way::NoCache, Some(source), &times));
                anyhow::Ok(())
            })?;
        }
        Ok(report)
    }

    fn share(&self, share: f64) -> Duration {
        self.time.mul_f64(share)
    }
}

fn answering(way: Way, source: Option<&Source>, times: &Histogram<u64>) -> Answering {
    let source = source.map(|source| source.name.clone());
    Answering { way, source, latency: Latency::from(times) }
}

/// The first question about each plan.
fn first_of_plan<'q, 'a>(questions: &'q [Question<'a>]) -> Vec<&'q Question<'a>> {
    let mut seen = HashMap::new();
    let mut first = Vec::new();
    for question in questions {
        seen.entry(question.key()).or_insert_with(|| first.push(question));
    }
    first
}

/// Times of any length, with three digits.
fn times() -> anyhow::Result<Histogram<u64>> {
    Ok(Histogram::new(3)?)
}

/// Nanoseconds since `start`, without what reading the clock takes.
fn since(start: Instant, clock: u64) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX).saturating_sub(clock)
}

/// The median of what reading the clock twice takes.
fn clock() -> u64 {
    let mut readings: Vec<u64> = (0..CLOCK_READINGS).map(|_| since(Instant::now(), 0)).collect();
    readings.sort_unstable();
    readings[CLOCK_READINGS / 2]
}
