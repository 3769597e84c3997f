//! The metrics of connections and of request bodies in memory.

use portcullis_limits::MemoryMetrics;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// The metrics of connections.
#[derive(Clone, Debug, Default)]
pub struct ConnectionMetrics {
    pub open: Gauge,
    /// Connections that were closed at once, because there were too many.
    pub refused: Counter,
}

impl ConnectionMetrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("connections", "Open connections", metrics.open.clone());
        let refused = "Connections that were closed at once because there were too many";
        registry.register("connections_refused", refused, metrics.refused.clone());
        metrics
    }
}

/// Registers the metrics of request bodies in memory.
pub(crate) fn register_bodies(registry: &mut Registry) -> MemoryMetrics {
    let metrics = MemoryMetrics::default();
    registry.register(
        "request_body_bytes",
        "Memory that request bodies take",
        metrics.bytes.clone(),
    );
    let refused = "Requests that were refused because request bodies took too much memory or time";
    registry.register("request_bodies_refused", refused, metrics.refused.clone());
    metrics
}
