//! The metrics of the servers that plans are read from.

use portcullis_storage::ReadSource;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;
use strum::VariantArray;

use crate::label::Label;

/// Counts the loads of plans by the server that they read.
#[derive(Clone, Debug, Default)]
pub struct LoadSources(Family<Label, Counter>);

impl LoadSources {
    /// Registers every series, so that each shows from the start.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let help = "Loads of plans by the server that was read: the primary, a standby, or the primary because the \
                    standby was behind or unavailable";
        registry.register("plan_load_sources", help, self.0.clone());
        for source in ReadSource::VARIANTS {
            drop(self.0.get_or_create(&[("source", source.into_str())]));
        }
    }

    pub(crate) fn count(&self, source: ReadSource, loads: u64) {
        self.0.get_or_create(&[("source", source.into_str())]).inc_by(loads);
    }
}
