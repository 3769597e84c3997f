//! The metrics of the process, as `GET /metrics` shows them: in the text format of OpenMetrics, which Prometheus reads.
//!
//! Each handle is made once, with every label that it can have; counting is an atomic addition. No label has a value
//! that a tenant can choose.

use std::fmt;

use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::check_metrics::CheckMetrics;
use crate::edge_metrics::{ConnectionMetrics, register_bodies};
use crate::label::Label;
use crate::load_sources::LoadSources;
use crate::name_metrics::NameMetrics;
use crate::quota_metrics::QuotaMetrics;
use crate::shadow_metrics::ShadowMetrics;
use portcullis_decision_log::LogMetrics;
use portcullis_limits::{LimitMetrics, MemoryMetrics};
use portcullis_resolvers::ResolverMetrics;
use portcullis_traces::TraceMetrics;
use portcullis_webhooks::DeliveryMetrics;

/// Every metric of this process.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    pub checks: CheckMetrics,
    pub plans: PlanMetrics,
    /// The number of entries of each map in memory that callers can fill.
    entries: Family<Label, Gauge>,
    /// The bytes of the entities in memory.
    pub entity_bytes: Gauge,
    /// Counts the denied checks whose event may be lost.
    pub denials_lost: Counter,
    /// Counts the deliveries of denied checks that were dropped because too many waited for their webhook.
    pub denials_dropped: Counter,
    /// Counts the reads of service keys from the store.
    pub key_reads: Counter,
    /// Counts the transactions of the service that were repeated after a conflict with another one.
    pub conflicts: Counter,
    /// The history of tenants.
    pub history: HistoryMetrics,
    /// Counts the exports that broke off before their end.
    pub exports_broken: Counter,
    /// Counts the attributes of checks that were taken from the token or the directory instead.
    pub attributes_overridden: Counter,
    /// The enabled policies of all tenants that compare declared date-times as texts.
    pub datetimes_as_texts: Gauge,
    pub decision_log: LogMetrics,
    pub quotas: QuotaMetrics,
    pub shadows: ShadowMetrics,
    pub attempts: DeliveryMetrics,
    pub resolvers: ResolverMetrics,
    pub connections: ConnectionMetrics,
    pub bodies: MemoryMetrics,
    pub limits: LimitMetrics,
    pub names: NameMetrics,
    pub traces: TraceMetrics,
}

/// The metrics of the history.
#[derive(Clone, Debug, Default)]
pub struct HistoryMetrics {
    /// The bytes of the records before and after the changes of all tenants.
    pub bytes: Gauge,
    /// Counts the revisions that were deleted because of their age, or of the bytes of their tenant.
    pub pruned: Counter,
}

impl HistoryMetrics {
    fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let help = "Bytes of the records before and after the changes of all revisions, as of the last minute";
        registry.register("history_bytes", help, metrics.bytes.clone());
        let help =
            "Revisions that were deleted because of their age, or of the bytes of their tenant";
        registry.register("history_revisions_pruned", help, metrics.pruned.clone());
        metrics
    }
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
        let denials_lost = Counter::default();
        let lost =
            "Denied checks whose event may be lost because the database did not store it in time";
        registry.register("denials_lost", lost, denials_lost.clone());
        let denials_dropped = Counter::default();
        let dropped = "Deliveries of denied checks that were dropped because too many waited for their webhook";
        registry.register("denials_dropped", dropped, denials_dropped.clone());
        let key_reads = Counter::default();
        let help = "Service keys that were read from the store because they were not in memory";
        registry.register("service_key_reads", help, key_reads.clone());
        let conflicts = Counter::default();
        let help = "Transactions of the service that were repeated because they conflicted with another one";
        registry.register("transaction_conflicts", help, conflicts.clone());
        let exports_broken = Counter::default();
        let broken = "Exports that broke off, because their client took them too slowly or the database failed";
        registry.register("exports_broken", broken, exports_broken.clone());
        let attributes_overridden = Counter::default();
        let overridden = "Attributes that checks sent, and that were taken from the token or the directory instead, because \
                          their type says so";
        registry.register("attributes_overridden", overridden, attributes_overridden.clone());
        let datetimes_as_texts = Gauge::default();
        let orders = "Enabled policies that compare declared date-times by the order of texts, which is undetermined, as of the \
                      last hour";
        registry.register("datetimes_as_texts", orders, datetimes_as_texts.clone());
        let entity_bytes = Gauge::default();
        let bytes = "Bytes of the entities of all tenants in memory";
        registry.register("entity_table_bytes", bytes, entity_bytes.clone());
        Self {
            checks: CheckMetrics::register(&mut registry),
            plans: PlanMetrics::register(&mut registry),
            entries: register_entries(&mut registry),
            entity_bytes,
            denials_lost,
            denials_dropped,
            key_reads,
            conflicts,
            history: HistoryMetrics::register(&mut registry),
            exports_broken,
            attributes_overridden,
            datetimes_as_texts,
            decision_log: LogMetrics::register(&mut registry),
            quotas: QuotaMetrics::register(&mut registry),
            shadows: ShadowMetrics::register(&mut registry),
            attempts: DeliveryMetrics::register(&mut registry),
            resolvers: ResolverMetrics::register(&mut registry),
            connections: ConnectionMetrics::register(&mut registry),
            bodies: register_bodies(&mut registry),
            limits: LimitMetrics::register(&mut registry),
            names: NameMetrics::register(&mut registry),
            traces: TraceMetrics::register(&mut registry),
            registry,
        }
    }

    /// Sets the number of entries of `map`, a name that no caller chooses.
    pub fn set_entries(&self, map: &'static str, entries: usize) {
        let entries = i64::try_from(entries).unwrap_or(i64::MAX);
        self.entries.get_or_create(&[("map", map)]).set(entries);
    }

    /// Writes the text that Prometheus reads.
    ///
    /// # Errors
    /// Writing to `text` fails.
    pub fn render(&self, text: &mut impl fmt::Write) -> fmt::Result {
        text::encode(text, &self.registry)
    }
}

fn register_entries(registry: &mut Registry) -> Family<Label, Gauge> {
    let entries = Family::<Label, Gauge>::default();
    registry.register(
        "map_entries",
        "Entries of maps in memory that callers can fill",
        entries.clone(),
    );
    entries
}

/// The metrics of plans and their loads.
#[derive(Clone, Debug, Default)]
pub struct PlanMetrics {
    /// Counts the plans that were loaded from the store.
    pub loads: Counter,
    /// Counts the loads that were refused, because too many others of the same tenant waited.
    pub refused_loads: Counter,
    pub sources: LoadSources,
    pub cache_bytes: Gauge,
}

impl PlanMetrics {
    fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let help = "Plans that were loaded from the store and compiled";
        registry.register("plan_cache_loads", help, metrics.loads.clone());
        let help = "Loads of plans that were refused because too many others of the tenant waited";
        registry.register("plan_cache_loads_refused", help, metrics.refused_loads.clone());
        metrics.sources.register(registry);
        let help = "Bytes that the plans in memory take";
        registry.register("plan_cache_bytes", help, metrics.cache_bytes.clone());
        metrics
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use portcullis_engine::{CheckKind, Effect};

    use super::*;

    fn rendered(metrics: &Metrics) -> String {
        let mut text = String::new();
        metrics.render(&mut text).expect("a text");
        text
    }

    #[test]
    fn every_series_is_there_from_the_start() {
        let text = rendered(&Metrics::new());
        for series in [
            r#"portcullis_checks_total{kind="combined",decision="allow"} 0"#,
            r#"portcullis_checks_total{kind="legacy",decision="deny"} 0"#,
            r#"portcullis_check_duration_seconds_count{kind="combined"} 0"#,
            "portcullis_plan_cache_loads_total 0",
            "portcullis_plan_cache_loads_refused_total 0",
            "portcullis_plan_cache_bytes 0",
            "portcullis_denials_lost_total 0",
            "portcullis_denials_dropped_total 0",
            "portcullis_service_key_reads_total 0",
            r#"portcullis_shadow_checks_total{outcome="not_ready"} 0"#,
            r#"portcullis_quota_refusals_total{quota="stored_bytes"} 0"#,
            r#"portcullis_webhook_attempts_total{outcome="dead"} 0"#,
            r#"portcullis_resolver_calls_total{outcome="timed_out"} 0"#,
            "portcullis_resolver_call_duration_seconds_count 0",
            r#"portcullis_resolver_admissions_total{outcome="limit"} 0"#,
            r#"portcullis_resolver_cache_lookups_total{result="stale"} 0"#,
            "portcullis_resolver_breaker_openings_total 0",
            r#"portcullis_requests_refused_total{reason="queue_full",class="checks"} 0"#,
            "portcullis_connections 0",
            "portcullis_connections_refused_total 0",
            "portcullis_request_body_bytes 0",
            "portcullis_request_bodies_refused_total 0",
            "portcullis_answer_bytes 0",
            "portcullis_answers_refused_total 0",
            "portcullis_datetimes_as_texts 0",
        ] {
            assert!(text.lines().any(|line| line == series), "{series}\n{text}");
        }
        assert!(text.ends_with("# EOF\n"), "{text}");
    }

    #[test]
    fn each_event_increments_its_counter() {
        let metrics = Metrics::new();
        metrics.checks.decided(CheckKind::Legacy, Effect::Deny, Duration::from_micros(40));
        metrics.resolvers.called("ok", Duration::from_millis(2));
        metrics.set_entries("plans", 7);
        let text = rendered(&metrics);
        for series in [
            r#"portcullis_checks_total{kind="legacy",decision="deny"} 1"#,
            r#"portcullis_check_duration_seconds_bucket{le="0.000025",kind="legacy"} 0"#,
            r#"portcullis_check_duration_seconds_bucket{le="0.00005",kind="legacy"} 1"#,
            r#"portcullis_resolver_calls_total{outcome="ok"} 1"#,
            r#"portcullis_map_entries{map="plans"} 7"#,
            r#"portcullis_resolver_call_duration_seconds_bucket{le="0.0025"} 1"#,
        ] {
            assert!(text.lines().any(|line| line == series), "{series}\n{text}");
        }
    }
}
