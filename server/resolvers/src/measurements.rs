//! The measurements of the calls of one resolver since the process started.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;
use parking_lot::{Mutex, MutexGuard};
use portcullis_model::Timestamp;
use portcullis_resolver_host::{CallError, limits};

/// Every name that [`outcome`] gives.
pub(crate) const OUTCOMES: [&str; 18] = [
    OK,
    "bad_answer",
    "busy",
    "contract",
    "exited",
    "handles",
    "host",
    "internal",
    "invalid",
    "memory",
    "out_of_bounds",
    "panicked",
    "refused",
    "stack",
    "timed_out",
    "too_large",
    "trapped",
    "unavailable",
];
const OK: &str = "ok";

/// Returns the result of a call in one word, for metrics.
pub(crate) fn outcome<T>(result: &Result<T, CallError>) -> &'static str {
    let Err(error) = result else { return OK };
    match error {
        CallError::Busy(_) => "busy",
        CallError::TimedOut(_) => "timed_out",
        CallError::Memory(_) => "memory",
        CallError::Stack => "stack",
        CallError::OutOfBounds => "out_of_bounds",
        CallError::TooLarge => "too_large",
        CallError::Handles => "handles",
        CallError::Panicked(_) => "panicked",
        CallError::Trapped(_) => "trapped",
        CallError::Exited => "exited",
        CallError::Contract(_) => "contract",
        CallError::Refused(_) => "refused",
        CallError::BadAnswer(_) => "bad_answer",
        CallError::Invalid(_) => "invalid",
        CallError::Unavailable(_) => "unavailable",
        CallError::Internal(_) => "internal",
        CallError::Host => "host",
    }
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
    last_error: Option<(Timestamp, String)>,
}

/// The measurements of one resolver at one instant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measurements {
    /// Calls of the module, failed ones included.
    pub(crate) calls: u64,
    /// Calls that failed, by their outcome.
    pub(crate) failures: BTreeMap<&'static str, u64>,
    /// Attributes that needed no call.
    pub(crate) cached: u64,
    /// Attributes that were used beyond their time, since the source was unavailable.
    pub(crate) stale: u64,
    /// The latency of the calls; `None` if there was no call.
    pub(crate) latency: Option<Latency>,
    pub(crate) last_error: Option<(Timestamp, String)>,
}

/// The latency of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latency {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) max: Duration,
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
        let mut calls = self.calls();
        calls.latency.saturating_record(u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX));
        match result {
            Ok(_) => calls.answered += 1,
            Err(error) => {
                *calls.failed.entry(outcome(result)).or_default() += 1;
                calls.last_error = Some((at, error.to_string()));
            }
        }
    }

    /// Counts attributes that came from the cache.
    pub(crate) fn found(&self, cached: u64, stale: u64) {
        self.cached.fetch_add(cached, Ordering::Relaxed);
        self.stale.fetch_add(stale, Ordering::Relaxed);
    }

    /// Returns the measurements so far.
    pub(crate) fn measurements(&self) -> Measurements {
        let calls = self.calls();
        let percentile = |of: f64| Duration::from_micros(calls.latency.value_at_quantile(of));
        let latency = (!calls.latency.is_empty()).then(|| Latency {
            p50: percentile(0.5),
            p99: percentile(0.99),
            max: Duration::from_micros(calls.latency.max()),
        });
        Measurements {
            calls: calls.answered + calls.failed.values().sum::<u64>(),
            failures: calls.failed.clone(),
            cached: self.cached.load(Ordering::Relaxed),
            stale: self.stale.load(Ordering::Relaxed),
            latency,
            last_error: calls.last_error.clone(),
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_what_they_came_to() {
        let statistics = Statistics::default();
        assert_eq!(statistics.measurements().latency, None);
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
        assert_eq!(measured.last_error, Some((at(7), "timed out after 2000 ms".to_owned())));
        let latency = measured.latency.expect("calls");
        let near = |found: Duration, millis: u64| {
            let found = found.as_secs_f64() * 1e3;
            (found - millis as f64).abs() <= 0.01 * millis as f64
        };
        assert!(near(latency.p50, 50) && near(latency.p99, 99), "{latency:?}");
        assert!(near(latency.max, 2_000), "{latency:?}");
    }

    #[test]
    fn every_outcome_has_a_name_of_its_own() {
        let mut names = OUTCOMES.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), OUTCOMES.len());
    }
}
