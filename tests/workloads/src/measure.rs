//! Measures times and allocations of alternatives in turns, so that their ratios are valid on a machine that others use.

use std::hint::black_box;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::time::{ClockId, clock_gettime};

/// The number of turns of each alternative.
const ROUNDS: usize = 21;
/// The number of runs of a load.
const LOADS: usize = 7;
/// The minimum duration of a turn: many times the cost of reading the clock.
const TURN: Duration = Duration::from_millis(2);

/// Returns the CPU time of the calling thread.
pub fn thread_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// One way to answer the requests of a workload.
pub struct Variant<'a> {
    name: String,
    /// Answers this many requests, and continues where it stopped.
    run: Box<dyn FnMut(usize) + 'a>,
}

impl<'a> Variant<'a> {
    /// Makes a variant of `requests` requests; `answer` answers the request of an index.
    pub fn new<R>(
        name: impl Into<String>,
        requests: usize,
        mut answer: impl FnMut(usize) -> R + 'a,
    ) -> Self {
        let mut next = 0;
        let run = move |count: usize| {
            for _ in 0..count {
                black_box(answer(black_box(next)));
                next += 1;
                if next == requests {
                    next = 0;
                }
            }
        };
        Self { name: name.into(), run: Box::new(run) }
    }

    /// Makes a variant that decides, as [`new`](Self::new) does. Compares every decision with the right one.
    ///
    /// # Errors
    /// A wrong decision, or none.
    pub fn checked(
        name: impl Into<String>,
        right: impl IntoIterator<Item = bool>,
        allows: impl FnMut(usize) -> Result<bool> + 'a,
    ) -> Result<Self> {
        Self::checked_within(Duration::MAX, name, right, allows)
    }

    /// Makes a variant like [`checked`](Self::checked), of only as many requests as it decides in the given time.
    ///
    /// # Errors
    /// A wrong decision, or none.
    pub fn checked_within(
        time: Duration,
        name: impl Into<String>,
        right: impl IntoIterator<Item = bool>,
        mut allows: impl FnMut(usize) -> Result<bool> + 'a,
    ) -> Result<Self> {
        let (name, start) = (name.into(), thread_time());
        let mut requests = 0;
        for right in right {
            let allowed = allows(requests).with_context(|| name.clone())?;
            ensure!(allowed == right, "{name}: request {requests} must give {right}");
            requests += 1;
            if thread_time() - start > time {
                break;
            }
        }
        Ok(Self::new(name, requests, allows))
    }

    fn time(&mut self, count: usize) -> Duration {
        let start = thread_time();
        (self.run)(count);
        thread_time() - start
    }
}

/// The times of one variant.
#[derive(Clone, Debug)]
pub struct Samples {
    /// The variant's name.
    pub name: String,
    /// Nanoseconds per request, one number per turn.
    turns: Vec<f64>,
}

impl Samples {
    /// Returns the median of the turns, in nanoseconds per request.
    pub fn ns(&self) -> f64 {
        median(self.turns.clone())
    }

    /// Returns the time relative to `other` of the same comparison: the median over the turns.
    pub fn ratio(&self, other: &Self) -> f64 {
        median(self.turns.iter().zip(&other.turns).map(|(own, other)| own / other).collect())
    }
}

/// Times `variants` in turns.
pub fn compare(mut variants: Vec<Variant<'_>>) -> Vec<Samples> {
    let counts: Vec<usize> = variants.iter_mut().map(turn_length).collect();
    let mut samples: Vec<Samples> = variants
        .iter()
        .map(|variant| Samples { name: variant.name.clone(), turns: Vec::new() })
        .collect();
    for _ in 0..ROUNDS {
        for ((variant, samples), &count) in variants.iter_mut().zip(&mut samples).zip(&counts) {
            // Warms up: the turns of other variants have evicted this one from the processor's caches.
            (variant.run)(count);
            samples.turns.push(variant.time(count).as_nanos() as f64 / count as f64);
        }
    }
    samples
}

/// Returns the number of requests that fill a turn. Finding it out warms the variant up.
fn turn_length(variant: &mut Variant<'_>) -> usize {
    let mut count = 1;
    while variant.time(count) < TURN {
        count *= 2;
    }
    count
}

/// Returns the median of `measurements`; NaN if there are none.
pub fn median(mut measurements: Vec<f64>) -> f64 {
    measurements.sort_by(f64::total_cmp);
    measurements.get(measurements.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Counts the allocations of `run` on this thread.
pub fn allocations(run: impl FnOnce()) -> u64 {
    allocation_counter::measure(run).count_total
}

/// Returns the heap bytes of the value that `make` returns.
pub fn kept<T>(make: impl FnOnce() -> T) -> u64 {
    let mut made = None;
    let info = allocation_counter::measure(|| made = Some(make()));
    drop(made);
    info.bytes_current.unsigned_abs()
}

/// Returns the heap bytes of the value that `make` returns, as the allocator of the C library takes them: each block has 16
/// bytes more, for its size and to fill it up.
pub fn kept_in_blocks<T>(make: impl FnOnce() -> T) -> u64 {
    const EACH: u64 = 16;
    let mut made = None;
    let info = allocation_counter::measure(|| made = Some(make()));
    drop(made);
    info.bytes_current.unsigned_abs() + EACH * info.count_current.unsigned_abs()
}

/// Returns the CPU time of `make`: the median of several runs. Dropping the value does not count.
pub fn load_time<T>(mut make: impl FnMut() -> T) -> Duration {
    let run = |_| {
        let start = thread_time();
        let made = black_box(make());
        let took = thread_time() - start;
        drop(made);
        took.as_secs_f64()
    };
    Duration::from_secs_f64(median((0..LOADS).map(run).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_decision_is_an_error() {
        assert!(Variant::checked("right", [true, false], |index| Ok(index == 0)).is_ok());
        let error = Variant::checked("wrong", [true, false], |_| Ok(true)).err();
        assert_eq!(
            error.map(|error| error.to_string()).as_deref(),
            Some("wrong: request 1 must give false")
        );
    }

    #[test]
    fn allocations_and_kept_bytes_are_counted() {
        assert_eq!(allocations(|| drop(black_box(Box::new(1)))), 1);
        assert_eq!(allocations(|| ()), 0);
        assert_eq!(kept(|| vec![0_u8; 1_000]), 1_000);
    }

    #[test]
    fn ratios_are_taken_turn_by_turn() {
        let samples = |turns: &[f64]| Samples { name: String::new(), turns: turns.to_vec() };
        let (own, other) = (samples(&[2.0, 40.0, 6.0]), samples(&[1.0, 20.0, 2.0]));
        assert_eq!((own.ns(), own.ratio(&other)), (6.0, 2.0));
    }
}
