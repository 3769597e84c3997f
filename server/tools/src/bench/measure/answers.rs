//! Measures the time of answers: from plans in memory, from plans that are loaded, and on many threads at once.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use portcullis_engine::Effect;
use portcullis_plan_cache::CachedPlan;
use rustix::time::{ClockId, clock_gettime};

use super::bench::{Bench, BenchCache, LOADS, Question, THROUGHPUT, since, times};
use crate::bench::checks::decide;
use crate::bench::progress::TimedStep;
use crate::bench::report::Throughput;
use crate::bench::source::Source;

/// The number of checks between two tests whether the time is over.
const BATCH: usize = 256;

impl Bench<'_> {
    /// Measures the first check of each plan with an empty cache, again and again.
    pub(super) async fn misses(
        &self,
        first_of_plan: &[&Question<'_>],
        source: &Source,
        clock: u64,
    ) -> anyhow::Result<Histogram<u64>> {
        let step = self.loading("loading plans to keep", source);
        let mut times = times()?;
        while step.goes_on() {
            let cache = BenchCache::new(self.cache_bytes);
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

    /// Measures checks without a cache: each check loads a plan and drops it.
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
            black_box(decide(&plan, &question.check, question.resolved).effect());
            drop(plan);
            times.record(since(start, clock))?;
            if !step.goes_on() {
                break;
            }
        }
        Ok(times)
    }

    fn loading(&self, what: &str, source: &Source) -> TimedStep {
        // Each source has two such steps.
        let share = self.share(LOADS / 2.0 / self.sources.len() as f64);
        self.progress.step(format!("{what}: {}", source.name), share)
    }

    /// Measures checks per second from plans in memory, on more and more threads.
    pub(super) fn throughput(
        &self,
        questions: &[Question<'_>],
        cache: &BenchCache,
        source: &Source,
    ) -> anyhow::Result<Vec<Throughput>> {
        let counts = thread_counts(self.threads);
        let share = self.share(THROUGHPUT / counts.len() as f64);
        let mut rows = Vec::new();
        for threads in counts {
            let step = self.progress.step(format!("deciding on {threads} threads"), share);
            let together = Barrier::new(threads);
            let total = on_threads(threads, |thread| {
                // Otherwise the first threads would have the machine to themselves for a while.
                together.wait();
                // Each thread begins with another question.
                let first = thread * questions.len() / threads;
                let work = answer_until(&step, questions, first, cache, source);
                self.runtime.block_on(work)
            })?;
            let (answered, cores) = (total.answered as f64, total.cpu / total.wall);
            rows.push(Throughput {
                threads,
                // All threads run for about the same time.
                per_second: answered / (total.wall / threads as f64),
                per_core_second: answered / total.cpu,
                cores: cores * threads as f64,
            });
        }
        Ok(rows)
    }
}

impl Question<'_> {
    /// Decides as the service does: with a hot plan, if there is one.
    pub(super) async fn answer(
        &self,
        cache: &BenchCache,
        source: &Source,
    ) -> anyhow::Result<Effect> {
        let (tenant, resource) = self.key();
        if let Some(cached) = cache.hot().get(tenant, resource, 0) {
            return Ok(self.decide(cached));
        }
        Ok(self.decide(&*self.plan(cache, source).await?))
    }

    pub(super) fn decide(&self, cached: &CachedPlan) -> Effect {
        decide(cached.plan(), &self.check, self.resolved).effect()
    }
}

/// The work of threads, and its time in seconds.
#[derive(Default)]
struct ThreadWork {
    answered: usize,
    wall: f64,
    cpu: f64,
}

/// Answers one question after the other, from the question with the index `first`, until the step is over.
async fn answer_until(
    step: &TimedStep,
    questions: &[Question<'_>],
    first: usize,
    cache: &BenchCache,
    source: &Source,
) -> anyhow::Result<ThreadWork> {
    let (start, cpu) = (Instant::now(), thread_time());
    let (mut next, mut answered) = (first, 0);
    loop {
        for _ in 0..BATCH {
            black_box(questions[next].answer(cache, source).await?);
            next = (next + 1) % questions.len();
        }
        answered += BATCH;
        // Asked last: a thread that a busy machine starts late has a figure, too.
        if !step.goes_on() {
            break;
        }
    }
    let (wall, cpu) = (start.elapsed().as_secs_f64(), (thread_time() - cpu).as_secs_f64());
    Ok(ThreadWork { answered, wall, cpu })
}

/// Returns the CPU time of the calling thread.
fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// Runs `work` on each of `threads` threads, and returns the sum.
fn on_threads(
    threads: usize,
    work: impl Fn(usize) -> anyhow::Result<ThreadWork> + Sync,
) -> anyhow::Result<ThreadWork> {
    std::thread::scope(|scope| {
        let work = &work;
        let spawned: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        let mut total = ThreadWork::default();
        for thread in spawned {
            let done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            total.answered += done.answered;
            total.wall += done.wall;
            total.cpu += done.cpu;
        }
        Ok(total)
    })
}

/// Returns 1, 2, 4 and so on below `most`, and `most` itself.
fn thread_counts(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1_usize), |count| count.checked_mul(2));
    powers.take_while(|count| *count < most).chain([most]).collect()
}

/// Measures each `answer` to one question after the other, until the step is over.
pub(super) async fn time_each(
    step: &TimedStep,
    questions: &[Question<'_>],
    clock: u64,
    answer: impl AsyncFn(&Question<'_>) -> anyhow::Result<Effect>,
) -> anyhow::Result<Histogram<u64>> {
    let (mut times, mut next) = (times()?, 0);
    loop {
        for _ in 0..BATCH {
            let question = &questions[next];
            next = (next + 1) % questions.len();
            let start = Instant::now();
            black_box(answer(question).await?);
            times.record(since(start, clock))?;
        }
        if !step.goes_on() {
            break;
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
