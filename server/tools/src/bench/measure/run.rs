//! The order of the measurements.

use hdrhistogram::Histogram;

use super::answers::time_each;
use super::bench::{Bench, BenchCache, GETS, HITS, Question, clock, first_of_plan};
use crate::bench::checks::MeasuredCheck;
use crate::bench::report::{Answering, Latency, Report, Way};
use crate::bench::source::Source;
use crate::bench::tenant::Tenant;

impl Bench<'_> {
    /// Decides every check once, then measures for the total time.
    pub(crate) fn run(&self) -> anyhow::Result<Report> {
        let questions: Vec<Question<'_>> =
            self.asked.iter().filter_map(|asked| question(asked, self.tenants)).collect();
        let clock = clock();
        let mut report = Report {
            version: env!("CARGO_PKG_VERSION"),
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            clock_ns: clock,
            ..Report::default()
        };
        let first_of_plan = first_of_plan(&questions);
        self.runtime.block_on(self.decide(&questions, &mut report))?;
        self.compile(&first_of_plan, clock, &mut report)?;
        let Some(first) = self.sources.first() else { return Ok(report) };
        let cache = BenchCache::new(self.cache_bytes);
        self.runtime.block_on(async {
            // The first loads are not a part of the times of plans in memory.
            for question in &questions {
                question.plan(&cache, first).await?;
            }
            let step = self.progress.step("answering from plans in the view", self.share(HITS));
            let times = time_each(&step, &questions, clock, async |question| {
                question.answer(&cache, first).await
            })
            .await?;
            report.answers.push(answering(Way::Hit, None, &times));
            // As without the view.
            let step = self.progress.step("answering from plans of moka", self.share(GETS));
            let times = time_each(&step, &questions, clock, async |question| {
                let (tenant, resource) = question.key();
                match cache.owned(tenant, resource) {
                    Some(cached) => Ok(question.decide(&cached)),
                    None => question.answer(&cache, first).await,
                }
            })
            .await?;
            report.answers.push(answering(Way::Get, None, &times));
            anyhow::Ok(())
        })?;
        report.throughput = self.throughput(&questions, &cache, first)?;
        for source in self.sources {
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
}

fn answering(way: Way, source: Option<&Source>, times: &Histogram<u64>) -> Answering {
    let source = source.map(|source| source.name.clone());
    Answering { way, source, latency: Latency::from(times) }
}

/// Returns the check, ready to be decided.
fn question<'a>(asked: &'a MeasuredCheck, tenants: &'a [Tenant]) -> Option<Question<'a>> {
    let tenant = tenants.get(asked.tenant)?;
    Some(Question { tenant, check: asked.check(tenants)?, resolved: &asked.resolved })
}
