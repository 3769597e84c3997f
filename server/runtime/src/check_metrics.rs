//! The metrics of decided checks. Each thread counts on its own, so that no check writes memory that another thread
//! writes. `GET /metrics` adds up the threads.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use portcullis_engine::{CheckKind, Effect};
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use strum::VariantArray;
use thread_local::ThreadLocal;

use crate::label::Label;

/// Seconds. A check from a plan in memory takes microseconds, one that asks a source milliseconds.
const BOUNDS: [f64; 12] =
    [25e-6, 50e-6, 1e-4, 25e-5, 5e-4, 1e-3, 25e-4, 1e-2, 5e-2, 0.25, 1.0, 5.0];
/// The buckets of a histogram: one for each bound, and one for what takes longer.
const BUCKETS: usize = BOUNDS.len() + 1;

/// The metrics of decided checks.
#[derive(Debug)]
pub struct CheckMetrics(Arc<ThreadLocal<ThreadCounts>>);

/// The checks that one thread decided. The alignment keeps the counts of two threads in different cache lines; some
/// processors fetch two lines at a time.
#[derive(Debug, Default)]
#[repr(align(128))]
struct ThreadCounts {
    combined: KindCounts,
    legacy: KindCounts,
}

#[derive(Debug, Default)]
struct KindCounts {
    allowed: AtomicU64,
    denied: AtomicU64,
    /// The time of all checks, in nanoseconds.
    nanos: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
}

impl ThreadCounts {
    fn counts(&self, kind: CheckKind) -> &KindCounts {
        match kind {
            CheckKind::Combined => &self.combined,
            CheckKind::Legacy => &self.legacy,
        }
    }
}

impl CheckMetrics {
    /// Registers every series, so that each shows from the start.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let threads = Arc::new(ThreadLocal::new());
        registry.register("checks", "Checks that were decided", Decisions(Arc::clone(&threads)));
        let help = "Duration of decided checks in seconds, without reading the request";
        registry.register("check_duration_seconds", help, Latencies(Arc::clone(&threads)));
        Self(threads)
    }

    /// Counts a check that took `elapsed`.
    pub fn decided(&self, kind: CheckKind, effect: Effect, elapsed: Duration) {
        self.decided_many(kind, effect, 1, elapsed);
    }

    /// Counts `number` decisions, each of which took `elapsed`.
    pub fn decided_many(&self, kind: CheckKind, effect: Effect, number: u64, elapsed: Duration) {
        let counts = self.0.get_or_default().counts(kind);
        let decided = match effect {
            Effect::Allow => &counts.allowed,
            Effect::Deny => &counts.denied,
        };
        decided.fetch_add(number, Ordering::Relaxed);
        let nanos = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        counts.nanos.fetch_add(nanos.saturating_mul(number), Ordering::Relaxed);
        let seconds = elapsed.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound);
        // There is one bucket more than there are bounds.
        if let Some(bucket) = counts.buckets.get(bucket.unwrap_or(BOUNDS.len())) {
            bucket.fetch_add(number, Ordering::Relaxed);
        }
    }
}

/// The numbers of decisions, as `GET /metrics` shows them.
#[derive(Debug)]
struct Decisions(Arc<ThreadLocal<ThreadCounts>>);

impl EncodeMetric for Decisions {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for &kind in CheckKind::VARIANTS {
            let decisions = [
                ("allow", sum(&self.0, kind, |counts| &counts.allowed)),
                ("deny", sum(&self.0, kind, |counts| &counts.denied)),
            ];
            for (decision, total) in decisions {
                let labels: [(&str, &str); 2] = [("kind", kind.into()), ("decision", decision)];
                encoder
                    .encode_family(&labels)?
                    .encode_counter::<NoLabelSet, u64, u64>(&total, None)?;
            }
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }
}

/// The histogram of durations, as `GET /metrics` shows it.
#[derive(Debug)]
struct Latencies(Arc<ThreadLocal<ThreadCounts>>);

impl EncodeMetric for Latencies {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for &kind in CheckKind::VARIANTS {
            let mut totals = [0; BUCKETS];
            for thread in self.0.iter() {
                for (total, count) in totals.iter_mut().zip(&thread.counts(kind).buckets) {
                    *total += count.load(Ordering::Relaxed);
                }
            }
            // The encoder writes this bound as `+Inf`.
            let bounds = BOUNDS.into_iter().chain([f64::MAX]);
            let buckets: Vec<(f64, u64)> = bounds.zip(totals).collect();
            // The count comes from the buckets, so that both agree also while threads count.
            let count = buckets.iter().map(|(_, count)| count).sum();
            let seconds = sum(&self.0, kind, |counts| &counts.nanos) as f64 / 1e9;
            let labels: Label = [("kind", kind.into())];
            let mut of_kind = encoder.encode_family(&labels)?;
            of_kind.encode_histogram::<NoLabelSet>(seconds, count, &buckets, None)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// Returns the sum of one count of all threads.
fn sum(
    threads: &ThreadLocal<ThreadCounts>,
    kind: CheckKind,
    count: impl Fn(&KindCounts) -> &AtomicU64,
) -> u64 {
    threads.iter().map(|counts| count(counts.counts(kind)).load(Ordering::Relaxed)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_all_threads_add_up() {
        let mut registry = Registry::default();
        let metrics = CheckMetrics::register(&mut registry);
        let count = |effect, micros| {
            metrics.decided(CheckKind::Combined, effect, Duration::from_micros(micros));
        };
        std::thread::scope(|scope| {
            scope.spawn(|| (0..10).for_each(|_| count(Effect::Allow, 40)));
            scope.spawn(|| (0..7).for_each(|_| count(Effect::Deny, 10_000_000)));
        });
        count(Effect::Allow, 25);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).expect("a text");
        for line in [
            r#"checks_total{kind="combined",decision="allow"} 11"#,
            r#"checks_total{kind="combined",decision="deny"} 7"#,
            r#"checks_total{kind="legacy",decision="allow"} 0"#,
            r#"check_duration_seconds_count{kind="combined"} 18"#,
            r#"check_duration_seconds_sum{kind="combined"} 70.000425"#,
            r#"check_duration_seconds_bucket{le="0.000025",kind="combined"} 1"#,
            r#"check_duration_seconds_bucket{le="0.00005",kind="combined"} 11"#,
            r#"check_duration_seconds_bucket{le="5.0",kind="combined"} 11"#,
            r#"check_duration_seconds_bucket{le="+Inf",kind="combined"} 18"#,
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\n{text}");
        }
    }
}
