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

use crate::model::delivery::DeliveryState;
use crate::resolvers::OUTCOMES;

/// Seconds. A check from a plan in memory takes microseconds, one that asks a source milliseconds.
const CHECK_BUCKETS: [f64; 12] =
    [25e-6, 50e-6, 1e-4, 25e-5, 5e-4, 1e-3, 25e-4, 1e-2, 5e-2, 0.25, 1.0, 5.0];
/// Seconds, up to the longest call that a manifest may allow.
const CALL_BUCKETS: [f64; 12] =
    [25e-6, 1e-4, 25e-5, 1e-3, 25e-4, 1e-2, 25e-3, 0.1, 0.25, 1.0, 5.0, 30.0];

/// Every figure of this process.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    pub(crate) checks: CheckMetrics,
    /// Plans that were loaded from the store.
    pub(crate) plan_loads: Counter,
    /// Denied checks whose event may be lost.
    pub(crate) denials_lost: Counter,
    pub(crate) attempts: AttemptMetrics,
    pub(crate) resolvers: ResolverMetrics,
}

impl Metrics {
    pub(crate) fn new() -> Self {
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
            attempts: AttemptMetrics::register(&mut registry),
            resolvers: ResolverMetrics::register(&mut registry),
            registry,
        }
    }

    /// The text.
    pub(crate) fn render(&self) -> String {
        let mut rendered = String::new();
        // A string takes whatever is written to it.
        let _ = text::encode(&mut rendered, &self.registry);
        rendered
    }
}

/// Which route decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckKind {
    /// `POST /api/v1/check`
    Combined,
    /// `POST /api/v1/resources/access/check`
    Legacy,
}

/// Checks that were decided.
#[derive(Debug)]
pub(crate) struct CheckMetrics {
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
    pub(crate) fn decided(&self, kind: CheckKind, effect: Effect, elapsed: Duration) {
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

/// Attempts to deliver an event.
#[derive(Clone, Debug)]
pub(crate) struct AttemptMetrics {
    delivered: Counter,
    retrying: Counter,
    dead: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

impl AttemptMetrics {
    fn register(registry: &mut Registry) -> Self {
        let counts = Family::<OutcomeLabels, Counter>::default();
        let of = |outcome| counts.get_or_create_owned(&OutcomeLabels { outcome });
        let (delivered, retrying, dead) = (of("delivered"), of("retrying"), of("dead"));
        let help = "Attempts to deliver an event, by what follows from them";
        registry.register("webhook_attempts", help, counts);
        Self { delivered, retrying, dead }
    }

    /// Takes note of an attempt that led to `state`.
    pub(crate) fn made(&self, state: DeliveryState) {
        match state {
            DeliveryState::Delivered => self.delivered.inc(),
            DeliveryState::Retrying => self.retrying.inc(),
            DeliveryState::Dead => self.dead.inc(),
        };
    }
}

/// Calls of attribute resolvers, of all tenants.
#[derive(Clone, Debug)]
pub(crate) struct ResolverMetrics {
    calls: Family<OutcomeLabels, Counter>,
    pub(crate) latency: Histogram,
    /// Calls that a breaker did not let through.
    pub(crate) suspended: Counter,
    /// Attributes that were found in the cache, that were not, and that served beyond their time.
    pub(crate) hits: Counter,
    pub(crate) misses: Counter,
    pub(crate) stale: Counter,
    pub(crate) openings: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    result: &'static str,
}

impl ResolverMetrics {
    fn register(registry: &mut Registry) -> Self {
        let calls = Family::<OutcomeLabels, Counter>::default();
        for outcome in OUTCOMES {
            calls.get_or_create_owned(&OutcomeLabels { outcome });
        }
        let lookups = Family::<ResultLabels, Counter>::default();
        let of = |result| lookups.get_or_create_owned(&ResultLabels { result });
        let metrics = Self {
            calls: calls.clone(),
            latency: Histogram::new(CALL_BUCKETS),
            suspended: Counter::default(),
            hits: of("hit"),
            misses: of("miss"),
            stale: of("stale"),
            openings: Counter::default(),
        };
        registry.register("resolver_calls", "Calls of attribute resolvers", calls);
        let help = "How long calls of attribute resolvers took, in seconds";
        registry.register("resolver_call_duration_seconds", help, metrics.latency.clone());
        let help = "Calls that were not made, since the resolver's circuit breaker is open";
        registry.register("resolver_calls_suspended", help, metrics.suspended.clone());
        let help = "Look-ups of attributes in the cache; a stale one is a miss whose call found the source \
                    unavailable";
        registry.register("resolver_cache_lookups", help, lookups);
        let help = "How often circuit breakers of resolvers opened";
        registry.register("resolver_breaker_openings", help, metrics.openings.clone());
        metrics
    }

    /// Takes note of a call.
    pub(crate) fn called(&self, outcome: &'static str, elapsed: Duration) {
        self.calls.get_or_create(&OutcomeLabels { outcome }).inc();
        self.latency.observe(elapsed.as_secs_f64());
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
