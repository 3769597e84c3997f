//! The metrics of the log. No label has a value that a tenant can choose.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::lost::Lost;

/// Counts what the log takes and loses.
#[derive(Clone, Debug, Default)]
pub struct LogMetrics {
    /// Records on disk.
    pub(crate) written: Counter,
    /// Bytes of the write-ahead files.
    pub(crate) buffered: Gauge,
    /// Write-ahead files that were sealed.
    pub(crate) sealed: Counter,
    /// Failed tries to seal files or to remove old ones.
    pub(crate) store_failures: Counter,
    lost: Family<[(&'static str, &'static str); 1], Counter>,
    /// Groups of allows that are left out and counted in memory.
    pub(crate) left_out_groups: Gauge,
    /// Allows that are left out, once their counts are written.
    pub(crate) left_out: Counter,
    /// The streams of new records.
    pub(crate) streams: Gauge,
    /// Records that were skipped because the reader of a stream was slow.
    pub(crate) skipped: Counter,
}

impl LogMetrics {
    /// Registers every series, so that each is visible from the start.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let Self { written, buffered, sealed, store_failures, lost, .. } = metrics.clone();
        let Self { left_out_groups, left_out, streams, skipped, .. } = metrics.clone();
        registry.register("decision_records", "Recorded decisions on disk", written);
        registry.register("decision_buffer_bytes", "Bytes of the write-ahead files", buffered);
        registry.register("decision_files_sealed", "Write-ahead files that were sealed", sealed);
        let failures = "Failed tries to seal decisions";
        registry.register("decision_store_failures", failures, store_failures);
        registry.register("decision_records_lost", "Decisions that could not be recorded", lost);
        let help = "Groups of allows without a record that are counted and not written yet";
        registry.register("decision_left_out_groups", help, left_out_groups);
        let help = "Allows that have no record, by the settings of tenants";
        registry.register("decisions_left_out", help, left_out);
        registry.register("decision_streams", "Streams of new records", streams);
        let help = "Records that streams skipped because their readers were slow";
        registry.register("decision_stream_skipped", help, skipped);
        for cause in Lost::ALL {
            metrics.lose(cause, 0);
        }
        metrics
    }

    /// Counts lost records.
    pub(crate) fn lose(&self, cause: Lost, records: u64) {
        self.lost.get_or_create(&[("cause", cause.into_str())]).inc_by(records);
    }

    /// Returns how many records were lost by the cause.
    pub fn lost(&self, cause: Lost) -> u64 {
        self.lost.get_or_create(&[("cause", cause.into_str())]).get()
    }
}
