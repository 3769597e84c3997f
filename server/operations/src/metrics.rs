//! What `GET /metrics` shows, in the text format of OpenMetrics, which Prometheus reads.
//!
//! Handles are made once, with every label they can have; counting is an atomic addition. No label names a tenant,
//! or anything else that a tenant chose.

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
/// Every figure of this process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    pub checks: CheckMetrics,
    /// Plans that were loaded from the store.
    pub plan_loads: Counter,
    /// Denied checks whose event may be lost.
    pub denials_lost: Counter,
    pub attempts: DeliveryMetrics,
    pub resolvers: ResolverMetrics,
}

impl Metrics {
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("portcullis");
        let (plan_loads, denials_lost) = (Counter::default(), Counter::default());
        let loads = "Plans that were loaded from the store and compiled";
        registry.register("plan_cache_loads", loads, plan_loads.clone());
        let lost = "Denied checks whose event may be lost, since the store was unavailable";
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

    /// The text.
    pub fn render(&self) -> String {
        let mut rendered = String::new();
        // A string takes whatever is written to it.
        let _ = text::encode(&mut rendered, &self.registry);
        rendered
    }
}

/// Which route decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// `POST /api/v1/check`
    Combined,
    /// `POST /api/v1/resources/access/check`
    Legacy,
}

/// Checks that were decided.
#[derive(Debug)]
pub struct CheckMetrics {
    combined: OneKind,
    legacy: OneKind,
}

#[derive(Debug)]
struct OneKind {
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

impl CheckMetrics {
    fn register(registry: &mut Registry) -> Self {
        let counts = Family::<DecisionLabels, Counter>::default();
        let latencies =
            Family::<KindLabels, Histogram, fn() -> Histogram>::new_with_constructor(|| {
                Histogram::new(CHECK_BUCKETS)
            });
        let of_kind = |kind| {
            let count = |decision| counts.get_or_create_owned(&DecisionLabels { kind, decision });
            let latency = latencies.get_or_create_owned(&KindLabels { kind });
            OneKind { allowed: count("allow"), denied: count("deny"), latency }
        };
        let (combined, legacy) = (of_kind("combined"), of_kind("legacy"));
        registry.register("checks", "Checks that were decided", counts);
        let help = "How long decided checks took, without reading the request, in seconds";
        registry.register("check_duration_seconds", help, latencies);
        Self { combined, legacy }
    }

    /// Takes note of a check that took so long.
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
