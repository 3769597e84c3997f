//! The metrics of the process, as `GET /metrics` shows them: in the text format of OpenMetrics, which Prometheus reads.
//!
//! Each handle is made once, with every label that it can have; counting is an atomic addition. No label has a value
//! that a tenant can choose.

use std::time::Duration;

use portcullis_engine::Effect;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use portcullis_resolvers::ResolverMetrics;
use portcullis_webhooks::DeliveryMetrics;

/// Seconds. A check from a plan in memory takes microseconds, one that asks a source milliseconds.
const CHECK_BUCKETS: [f64; 12] =
    [25e-6, 50e-6, 1e-4, 25e-5, 5e-4, 1e-3, 25e-4, 1e-2, 5e-2, 0.25, 1.0, 5.0];

/// Every metric of this process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    pub checks: CheckMetrics,
    /// Counts the plans that were loaded from the store.
    pub plan_loads: Counter,
    /// Counts the denied checks whose event may be lost.
    pub denials_lost: Counter,
    pub attempts: DeliveryMetrics,
    pub resolvers: ResolverMetrics,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl Metrics {
    /// Registers every series, so that each shows from the start.
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("portcullis");
        let (plan_loads, denials_lost) = (Counter::default(), Counter::default());
        let loads = "Plans that were loaded from the store and compiled";
        registry.register("plan_cache_loads", loads, plan_loads.clone());
        let lost = "Denied checks whose event may be lost because the database was unavailable";
        registry.register("denials_lost", lost, denials_lost.clone());
        Self {
            checks: CheckMetrics::register(&mut registry),
            plan_loads,
            denials_lost,
            attempts: DeliveryMetrics::register(&mut registry),
            resolvers: ResolverMetrics::register(&mut registry),
            registry,
        }
    }

    /// Returns the text that Prometheus reads.
    pub fn render(&self) -> String {
        let mut rendered = String::new();
        // Writing to a string does not fail.
        let _ = text::encode(&mut rendered, &self.registry);
        rendered
    }
}

/// The route of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// `POST /api/v1/check`
    Combined,
    /// `POST /api/v1/resources/access/check`
    Legacy,
}

/// The metrics of decided checks.
#[derive(Debug)]
pub struct CheckMetrics {
    combined: KindMetrics,
    legacy: KindMetrics,
}

#[derive(Debug)]
struct KindMetrics {
    allowed: Counter,
    denied: Counter,
    latency: Histogram,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DecisionLabels {
    kind: &'static str,
    decision: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabels {
    kind: &'static str,
}

type CheckCounts = Family<DecisionLabels, Counter>;
type CheckLatencies = Family<KindLabels, Histogram, fn() -> Histogram>;

impl KindMetrics {
    fn create(kind: &'static str, counts: &CheckCounts, latencies: &CheckLatencies) -> Self {
        let allow = DecisionLabels { kind, decision: "allow" };
        let deny = DecisionLabels { kind, decision: "deny" };
        Self {
            allowed: counts.get_or_create_owned(&allow),
            denied: counts.get_or_create_owned(&deny),
            latency: latencies.get_or_create_owned(&KindLabels { kind }),
        }
    }
}

impl CheckMetrics {
    fn register(registry: &mut Registry) -> Self {
        let counts = CheckCounts::default();
        let latencies = CheckLatencies::new_with_constructor(|| Histogram::new(CHECK_BUCKETS));
        let combined = KindMetrics::create("combined", &counts, &latencies);
        let legacy = KindMetrics::create("legacy", &counts, &latencies);
        registry.register("checks", "Checks that were decided", counts);
        let help = "Duration of decided checks in seconds, without reading the request";
        registry.register("check_duration_seconds", help, latencies);
        Self { combined, legacy }
    }

    /// Counts a check that took `elapsed`.
    pub fn decided(&self, kind: CheckKind, effect: Effect, elapsed: Duration) {
        let of_kind = match kind {
            CheckKind::Combined => &self.combined,
            CheckKind::Legacy => &self.legacy,
        };
        match effect {
            Effect::Allow => of_kind.allowed.inc(),
            Effect::Deny => of_kind.denied.inc(),
        };
        of_kind.latency.observe(elapsed.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_there_from_the_start() {
        let text = Metrics::new().render();
        for series in [
            r#"portcullis_checks_total{kind="combined",decision="allow"} 0"#,
            r#"portcullis_checks_total{kind="legacy",decision="deny"} 0"#,
            r#"portcullis_check_duration_seconds_count{kind="combined"} 0"#,
            "portcullis_plan_cache_loads_total 0",
            "portcullis_denials_lost_total 0",
            r#"portcullis_webhook_attempts_total{outcome="dead"} 0"#,
            r#"portcullis_resolver_calls_total{outcome="timed_out"} 0"#,
            "portcullis_resolver_call_duration_seconds_count 0",
            r#"portcullis_resolver_admissions_total{outcome="limit"} 0"#,
            r#"portcullis_resolver_cache_lookups_total{result="stale"} 0"#,
            "portcullis_resolver_breaker_openings_total 0",
        ] {
            assert!(text.lines().any(|line| line == series), "{series}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }

    #[test]
    fn what_happens_is_counted() {
        let metrics = Metrics::new();
        metrics.checks.decided(CheckKind::Legacy, Effect::Deny, Duration::from_micros(40));
        metrics.resolvers.called("ok", Duration::from_millis(2));
        let text = metrics.render();
        for series in [
            r#"portcullis_checks_total{kind="legacy",decision="deny"} 1"#,
            r#"portcullis_check_duration_seconds_bucket{le="0.000025",kind="legacy"} 0"#,
            r#"portcullis_check_duration_seconds_bucket{le="0.00005",kind="legacy"} 1"#,
            r#"portcullis_resolver_calls_total{outcome="ok"} 1"#,
            r#"portcullis_resolver_call_duration_seconds_bucket{le="0.0025"} 1"#,
        ] {
            assert!(text.lines().any(|line| line == series), "{series}\n{text}");
        }
    }
}
