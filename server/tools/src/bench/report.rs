//! The report of a run. The JSON file is this report; the table and the page show it.

use hdrhistogram::Histogram;
use serde::Serialize;

/// The report of a run. Times are nanoseconds of wall-clock time.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// The version of Portcullis.
    pub(super) version: &'static str,
    /// `debug` or `release`. The times of a debug build say nothing about the service.
    pub(super) build: &'static str,
    /// The total time of the measurement.
    pub(super) seconds: f64,
    /// The seed of the generated checks; `null` if the checks were replayed.
    pub(super) seed: Option<u64>,
    /// The number of cores of the machine.
    pub(super) cores: usize,
    /// The time of reading the clock. No other measurement includes it.
    pub(super) clock_ns: u64,
    pub(super) tenants: Vec<TenantSize>,
    pub(super) checks: CheckCounts,
    pub(super) outcomes: Vec<DecisionCount>,
    pub(super) cases: Vec<DecidedCase>,
    pub(super) undetermined: UndeterminedChecks,
    /// The databases that decide some checks in another way than the first source.
    pub(super) differing: Vec<Differing>,
    /// Compiling a plan from rules that are in memory.
    pub(super) compile: Latency,
    /// Answering a check.
    pub(super) answers: Vec<Answering>,
    pub(super) throughput: Vec<Throughput>,
    pub(super) memory: Memory,
    pub(super) plans: Vec<PlanSize>,
}

#[derive(Debug, Serialize)]
pub(super) struct TenantSize {
    pub(super) tenant: String,
    pub(super) rules: usize,
    pub(super) policies: usize,
    /// The number of resources that checks are about.
    pub(super) resources: usize,
    /// The number of rules and policies that decide at least one check.
    pub(super) deciding: usize,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct CheckCounts {
    pub(super) count: usize,
    pub(super) generated: usize,
    pub(super) cases: usize,
    pub(super) replayed: usize,
}

/// The number of checks with one decision.
#[derive(Debug, Serialize)]
pub(super) struct DecisionCount {
    pub(super) decision: &'static str,
    /// `policy`, `rule` or `default`.
    pub(super) by: &'static str,
    pub(super) checks: usize,
    /// The share of all checks, from 0 to 1.
    pub(super) share: f64,
}

/// The decision of a case of a tenant's folder.
#[derive(Debug, Serialize)]
pub(super) struct DecidedCase {
    pub(super) tenant: String,
    pub(super) name: String,
    pub(super) decision: &'static str,
    pub(super) rule: String,
    pub(super) as_expected: bool,
}

/// The checks whose decision can change with attributes that no resolver answered. Resolvers are not called here, so
/// that only the cases of a folder have answers; the tests of other attributes are undetermined.
#[derive(Debug, Default, Serialize)]
pub(super) struct UndeterminedChecks {
    pub(super) checks: usize,
    /// The attributes without an answer, sorted.
    pub(super) attributes: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Differing {
    pub(super) source: String,
    pub(super) checks: usize,
}

/// One way to answer a check.
#[derive(Debug, Serialize)]
pub(super) struct Answering {
    pub(super) way: Way,
    /// The source of plans; `null` if no plan is loaded.
    pub(super) source: Option<String>,
    pub(super) latency: Latency,
}

/// The way in which a check gets its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Way {
    /// The service finds the plan in the view of the cache.
    Hit,
    /// moka, which owns the plans, looks the plan up.
    Get,
    /// The plan is loaded and kept.
    Miss,
    /// The plan is loaded for this check only.
    NoCache,
}

impl Way {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Get => "hit, moka alone",
            Self::Miss => "miss",
            Self::NoCache => "no cache",
        }
    }
}

impl Answering {
    /// Returns the way, with the source of its plans.
    pub(super) fn name(&self) -> String {
        let name = self.way.name();
        self.source.as_ref().map_or_else(|| name.to_owned(), |source| format!("{name}: {source}"))
    }
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Latency {
    pub(super) samples: u64,
    pub(super) mean_ns: f64,
    pub(super) p50_ns: u64,
    pub(super) p90_ns: u64,
    pub(super) p99_ns: u64,
    pub(super) p999_ns: u64,
    pub(super) max_ns: u64,
    /// The points of a plot: percentiles with their times.
    pub(super) curve: Vec<(f64, u64)>,
}

/// The percentiles of the curve: closer together towards the slowest samples.
const CURVE: [f64; 17] = [
    0.0, 10.0, 25.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.75, 99.9, 99.95,
    99.99, 99.999,
];

impl From<&Histogram<u64>> for Latency {
    fn from(times: &Histogram<u64>) -> Self {
        // A percentile that fewer than one sample lies beyond is the slowest sample.
        let known = CURVE
            .into_iter()
            .filter(|percentile| (100.0 - percentile) / 100.0 * times.len() as f64 >= 1.0);
        // The histogram takes fractions of one, and the list has percents.
        let curve =
            known.map(|percentile| (percentile, times.value_at_quantile(percentile / 100.0)));
        Self {
            samples: times.len(),
            mean_ns: times.mean(),
            p50_ns: times.value_at_quantile(0.5),
            p90_ns: times.value_at_quantile(0.9),
            p99_ns: times.value_at_quantile(0.99),
            p999_ns: times.value_at_quantile(0.999),
            max_ns: times.max(),
            curve: curve.collect(),
        }
    }
}

/// Decisions from plans in memory, on several threads at once.
#[derive(Debug, Serialize)]
pub(super) struct Throughput {
    pub(super) threads: usize,
    /// Checks per second of wall-clock time.
    pub(super) per_second: f64,
    /// Checks per second of CPU time.
    pub(super) per_core_second: f64,
    /// The number of cores that the threads had. It is lower than the number of threads if other processes ran.
    pub(super) cores: f64,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Memory {
    /// All plans that the checks need.
    pub(super) total_bytes: u64,
    pub(super) p50_bytes: u64,
    pub(super) p99_bytes: u64,
    pub(super) max_bytes: u64,
    /// `PLAN_CACHE_BYTES`
    pub(super) cache_bytes: u64,
}

/// One plan.
#[derive(Debug, Serialize)]
pub(super) struct PlanSize {
    pub(super) tenant: String,
    pub(super) resource: String,
    pub(super) rules: usize,
    pub(super) policies: usize,
    pub(super) bytes: u64,
    /// The median time to compile it.
    pub(super) compile_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(times: impl IntoIterator<Item = u64>) -> Latency {
        let mut histogram = Histogram::new(3).expect("a histogram");
        times.into_iter().for_each(|time| histogram.record(time).expect("in range"));
        Latency::from(&histogram)
    }

    #[test]
    fn percentiles_are_those_of_the_samples() {
        let thousand = latency(1..=1_000);
        let percentiles = [thousand.p50_ns, thousand.p90_ns, thousand.p99_ns, thousand.p999_ns];
        assert_eq!((thousand.samples, thousand.max_ns), (1_000, 1_000));
        assert_eq!(percentiles, [500, 900, 990, 999]);
        assert!((thousand.mean_ns - 500.5).abs() < 1.0);
        assert_eq!(latency([]).samples, 0);
    }

    #[test]
    fn a_curve_ends_where_no_sample_is_left() {
        let ends = |count: u64| latency(1..=count).curve.last().map(|(percentile, _)| *percentile);
        assert_eq!([1, 10, 150, 20_000].map(ends), [0.0, 90.0, 99.0, 99.99].map(Some));
    }
}
