//! The metrics of the servers that plans are read from.

use portcullis_storage::ReadSource;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Counts the loads of plans by the server that they read.
#[derive(Clone, Debug, Default)]
pub struct LoadSources(Family<SourceLabels, Counter>);

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SourceLabels {
    source: &'static str,
}

impl LoadSources {
    /// Registers every series, so that each shows from the start.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Loads of plans by the server that was read: the primary, a standby, or the primary because the \
                    standby was behind or unavailable";
        registry.register("plan_load_sources", help, self.0.clone());
        for source in [
            ReadSource::Primary,
            ReadSource::Standby,
            ReadSource::StandbyBehind,
            ReadSource::StandbyUnavailable,
        ] {
            drop(self.series(source));
        }
    }

    fn series(&self, source: ReadSource) -> impl std::ops::Deref<Target = Counter> {
        let source = match source {
            ReadSource::Primary => "primary",
            ReadSource::Standby => "standby",
            ReadSource::StandbyBehind => "primary_standby_behind",
            ReadSource::StandbyUnavailable => "primary_standby_unavailable",
        };
        self.0.get_or_create(&SourceLabels { source })
    }

    pub(crate) fn count(&self, source: ReadSource) {
        self.series(source).inc();
    }
}
