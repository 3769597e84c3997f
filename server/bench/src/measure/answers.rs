//! How long answers take: plans in memory, plans that have to be loaded, and many threads at once.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use portcullis_engine::Effect;
use portcullis_plan_cache::{CachedPlan, PlanCache};
use rustix::time::{ClockId, clock_gettime};

use super::{Bench, GETS, HITS, LOADS, Question, THROUGHPUT, since, times};
use crate::progress::Step;
use crate::report::Throughput;
use crate::source::Source;

/// Checks between two looks at how much time is left.
const BATCH: usize = 256;

impl Bench<'_> {
    /// Puts every plan into the cache, and what it hands out twice into its map of hot plans.
    pub(super) async fn warm_up(
        &self,
        questions: &[Question<'_>],
        cache: &PlanCache,
        source: &Source,
    ) -> anyhow::Result<()> {
        for _ in 0..2 {
            for question in questions {
                question.plan(cache, source).await?;
            }
        }
        Ok(())
    }

    /// As the service answers from plans in memory.
    pub(super) async fn hits(
        &self,
        questions: &[Question<'_>],
        cache: &PlanCache,
        source: &Source,
        clock: u64,
    ) -> anyhow::Result<Histogram<u64>> {
        let step = self.progress.step("answering from plans in memory", self.share(HITS));
        time_each(&step, questions, clock, async |question| question.answer(cache, source).await)
            .await
    }

    /// The same without the map of hot plans.
    pub(super) async fn gets(
        &self,
        questions: &[Question<'_>],
        cache: &PlanCache,
        source: &Source,
        clock: u64,
    ) -> anyhow::Result<Histogram<u64>> {
        let step = self.progress.step("answering from moka alone", self.share(GETS));
        time_each(&step, questions, clock, async |question| {
            Ok(question.decide(&*question.plan(cache, source).await?))
        })
        .await
    }

    /// As the service answers the first check of each plan, into an empty cache, again and again.
    pub(super) async fn misses(
        &self,
        first_of_plan: &[&Question<'_>],
        source: &Source,
        clock: u64,
    ) -> anyhow::Result<Histogram<u64>> {
        let step = self.loading("loading plans to keep", source);
        let mut times = times()?;
        while step.goes_on() {
            let cache = PlanCache::new(self.cache_bytes);
            for question in first_of_plan {
                let start = Instant::now();
                black_box(question.answer(&cache, source).await?);
                times.record(since(start, clock))?;
                if !step.goes_on() {
                    break;
                }
            }
        }
        Ok(times)
    }

    /// As if there were no cache: a plan is loaded for each check and dropped.
    pub(super) async fn uncached(
        &self,
        questions: &[Question<'_>],
        source: &Source,
        clock: u64,
    ) -> anyhow::Result<Histogram<u64>> {
        let step = self.loading("loading a plan for each check", source);
        let mut times = times()?;
        for question in questions.iter().cycle() {
            let start = Instant::now();
            let plan = source.load(question.tenant, question.check.resource).await?;
            black_box(plan.evaluate_with(&question.check, question.resolved).effect());
            drop(plan);
            times.record(since(start, clock))?;
            if !step.goes_on() {
                break;
            }
        }
        Ok(times)
    }

    fn loading(&self, what: &str, source: &Source) -> Step {
        let share = self.share(LOADS / 2.0 / self.sources.len() as f64);
        self.progress.step(format!("{what}: {}", source.name), share)
    }

    /// Answers from plans in memory, on ever more threads.
    pub(super) fn throughput(
        &self,
        questions: &[Question<'_>],
        cache: &PlanCache,
        source: &Source,
    ) -> anyhow::Result<Vec<Throughput>> {
        let counts = thread_counts(self.threads);
        let share = self.share(THROUGHPUT / counts.len() as f64);
        counts
            .into_iter()
            .map(|threads| {
                let step = self.progress.step(format!("deciding on {threads} threads"), share);
                let together = Barrier::new(threads);
                let work = |thread: usize| {
                    together.wait();
                    // Not all at the same place.
                    let first = thread * questions.len() / threads;
                    let work = answer_until(&step, questions, first, cache, source);
                    self.runtime.block_on(work)
                };
                let total = on_threads(threads, work)?;
                let (answered, cores) = (total.answered as f64, total.cpu / total.wall);
                Ok(Throughput {
                    threads,
                    // The walls of all threads are about the same.
                    per_second: answered / (total.wall / threads as f64),
                    per_core_second: answered / total.cpu,
                    cores: cores * threads as f64,
                })
            })
            .collect()
    }
}

impl Question<'_> {
    /// Answers as `operations::checks` does: with the hot plan, if there is one.
    async fn answer(&self, cache: &PlanCache, source: &Source) -> anyhow::Result<Effect> {
        let (tenant, resource) = self.key();
        if let Some(cached) = cache.hot().get(tenant, resource, 0) {
            return Ok(self.decide(cached));
        }
        Ok(self.decide(&*self.plan(cache, source).await?))
    }

    fn decide(&self, cached: &CachedPlan) -> Effect {
        cached.plan().evaluate_with(&self.check, self.resolved).effect()
    }
}

/// What threads have done, and the seconds that it took.
#[derive(Default)]
struct Done {
    answered: usize,
    wall: f64,
    cpu: f64,
}

async fn answer_until(
    step: &Step,
    questions: &[Question<'_>],
    first: usize,
    cache: &PlanCache,
    source: &Source,
) -> anyhow::Result<Done> {
    let (start, cpu) = (Instant::now(), thread_time());
    let (mut next, mut answered) = (first, 0);
    while step.goes_on() {
        for _ in 0..BATCH {
            black_box(questions[next].answer(cache, source).await?);
            next = (next + 1) % questions.len();
        }
        answered += BATCH;
    }
    let (wall, cpu) = (start.elapsed().as_secs_f64(), (thread_time() - cpu).as_secs_f64());
    Ok(Done { answered, wall, cpu })
}

/// CPU time that the calling thread has used.
fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// The sum of what `work` does on each of so many threads.
fn on_threads(
    threads: usize,
    work: impl Fn(usize) -> anyhow::Result<Done> + Sync,
) -> anyhow::Result<Done> {
    std::thread::scope(|scope| {
        let work = &work;
        let spawned: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let mut total = Done::default();
        for thread in spawned {
            let done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            total.answered += done.answered;
            total.wall += done.wall;
            total.cpu += done.cpu;
        }
        Ok(total)
    })
}

/// 1, 2, 4 and so on, and `most` itself.
fn thread_counts(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1_usize), |count| count.checked_mul(2));
    powers.take_while(|count| *count < most).chain([most]).collect()
}

/// How long each `answer` takes, to one question after the other until the step is over.
async fn time_each(
    step: &Step,
    questions: &[Question<'_>],
    clock: u64,
    answer: impl AsyncFn(&Question<'_>) -> anyhow::Result<Effect>,
) -> anyhow::Result<Histogram<u64>> {
    let (mut times, mut next) = (times()?, 0);
    while step.goes_on() {
        for _ in 0..BATCH {
            let question = &questions[next];
            next = (next + 1) % questions.len();
            let start = Instant::now();
            black_box(answer(question).await?);
            times.record(since(start, clock))?;
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::thread_counts;

    #[test]
    fn thread_counts_end_with_the_most() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(2), [1, 2]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
    }
}
