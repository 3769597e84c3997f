//! Counts the spans that were sent and that were lost.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// The metrics of traces.
#[derive(Clone, Debug)]
pub struct TraceMetrics {
    /// Counts the spans that the collector took.
    pub sent: Counter,
    /// Counts the spans that the collector did not take.
    pub lost: Counter,
}

impl TraceMetrics {
    /// Registers both series, so that each shows from the start.
    pub fn register(registry: &mut Registry) -> Self {
        let spans = Family::<[(&str, &str); 1], Counter>::default();
        registry.register("trace_spans", "Spans of traces, by their outcome", spans.clone());
        let [sent, lost] =
            ["sent", "lost"].map(|outcome| spans.get_or_create_owned(&[("outcome", outcome)]));
        Self { sent, lost }
    }
}
