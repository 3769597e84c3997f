//! The measurements of the calls of one resolver since the process started.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use portcullis_model::Timestamp;
use portcullis_model::resolver::{ActivityRecord, LastErrorRecord, LatencyRecord};
use portcullis_resolver_host::{CallError, limits};
use strum::VariantNames as _;

/// The outcome of a call that has an answer.
const OK: &str = "ok";

/// Returns every name that [`outcome`] gives.
pub(crate) fn outcomes() -> impl Iterator<Item = &'static str> {
    [OK].into_iter().chain(CallError::VARIANTS.iter().copied())
}

/// Returns the result of a call in one word, for metrics.
pub(crate) fn outcome<T>(result: &Result<T, CallError>) -> &'static str {
    result.as_ref().err().map_or(OK, Into::into)
}

/// The counters of one resolver.
#[derive(Debug, Default)]
pub(crate) struct Statistics {
    calls: Mutex<Calls>,
    cached: AtomicU64,
    stale: AtomicU64,
}

#[derive(Debug)]
struct Calls {
    answered: u64,
    failed: BTreeMap<&'static str, u64>,
    /// Microseconds.
    latency: Histogram<u32>,
    last_error: Option<LastErrorRecord>,
}

impl Default for Calls {
    fn default() -> Self {
        let longest = u64::try_from(limits::TIMEOUT_MAX.as_micros()).unwrap_or(u64::MAX);
        #[expect(
            clippy::expect_used,
            reason = "both are constants, and in the range that is allowed"
        )]
        // Two digits take 10 KiB for each resolver.
        let latency = Histogram::new_with_max(longest, 2).expect("a range and digits");
        Self { answered: 0, failed: BTreeMap::new(), latency, last_error: None }
    }
}

impl Statistics {
    /// Counts a call that ended at `at`.
    pub(crate) fn called<T>(
        &self,
        result: &Result<T, CallError>,
        elapsed: Duration,
        at: Timestamp,
    ) {
        let mut calls = self.calls.lock();
        // A call may end a little after its time limit, beyond the range of the histogram.
        calls.latency.saturating_record(u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX));
        match result {
            Ok(_) => calls.answered += 1,
            Err(error) => {
                *calls.failed.entry(outcome(result)).or_default() += 1;
                calls.last_error = Some(LastErrorRecord { at, message: error.to_string() });
            }
        }
    }

    /// Counts attributes that came from the cache.
    pub(crate) fn found(&self, cached: u64, stale: u64) {
        self.cached.fetch_add(cached, Ordering::Relaxed);
        self.stale.fetch_add(stale, Ordering::Relaxed);
    }

    /// Returns the measurements so far, which say nothing about a breaker.
    pub(crate) fn measurements(&self) -> ActivityRecord {
        let calls = self.calls.lock();
        let latency = &calls.latency;
        ActivityRecord {
            breaker: None,
            calls: calls.answered + calls.failed.values().sum::<u64>(),
            failures: calls.failed.clone(),
            cached: self.cached.load(Ordering::Relaxed),
            stale: self.stale.load(Ordering::Relaxed),
            latency_us: (!latency.is_empty()).then(|| LatencyRecord {
                p50: latency.value_at_quantile(0.5),
                p99: latency.value_at_quantile(0.99),
                max: latency.max(),
            }),
            last_error: calls.last_error.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_what_they_came_to() {
        let statistics = Statistics::default();
        assert!(statistics.measurements().latency_us.is_none());
        let at = Timestamp::from_millis;
        for millis in 1..=99 {
            statistics.called(&Ok(()), Duration::from_millis(millis), at(0));
        }
        let timed_out = CallError::TimedOut(Duration::from_secs(2));
        statistics.called::<()>(&Err(timed_out), Duration::from_secs(2), at(7));
        statistics.found(3, 1);
        let measured = statistics.measurements();
        assert_eq!((measured.calls, measured.cached, measured.stale), (100, 3, 1));
        assert_eq!(measured.failures, BTreeMap::from([("timed_out", 1)]));
        let last = measured.last_error.expect("a failure");
        assert_eq!((last.at, &*last.message), (at(7), "timed out after 2000 ms"));
        let latency = measured.latency_us.expect("calls");
        let near = |found: u64, millis: u64| found.abs_diff(1_000 * millis) <= 10 * millis;
        assert!(near(latency.p50, 50) && near(latency.p99, 99), "{latency:?}");
        assert!(near(latency.max, 2_000), "{latency:?}");
    }

    /// The labels of `resolver_calls_total` (`docs/semantics.md`, section 5.7).
    #[test]
    fn outcomes_have_the_names_that_are_documented() {
        let mut names: Vec<_> = outcomes().collect();
        names.sort_unstable();
        let documented = [
            "bad_answer",
            "busy",
            "contract",
            "exited",
            "handles",
            "host",
            "internal",
            "invalid",
            "memory",
            "ok",
            "out_of_bounds",
            "panicked",
            "refused",
            "stack",
            "timed_out",
            "too_large",
            "trapped",
            "unavailable",
        ];
        assert_eq!(names, documented);
        assert_eq!(outcome::<()>(&Err(CallError::OutOfBounds)), "out_of_bounds");
    }
}
