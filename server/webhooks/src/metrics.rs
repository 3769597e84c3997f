//! Counts attempts to deliver events. No label is chosen by a tenant.

use portcullis_model::delivery::DeliveryState;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Attempts to deliver an event.
#[derive(Clone, Debug)]
pub struct DeliveryMetrics {
    delivered: Counter,
    retrying: Counter,
    dead: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    outcome: &'static str,
}

impl DeliveryMetrics {
    /// Registers every series, so that each shows from the start.
    pub fn register(registry: &mut Registry) -> Self {
        let counts = Family::<OutcomeLabels, Counter>::default();
        let of = |outcome| counts.get_or_create_owned(&OutcomeLabels { outcome });
        let (delivered, retrying, dead) = (of("delivered"), of("retrying"), of("dead"));
        let help = "Attempts to deliver an event, by what follows from them";
        registry.register("webhook_attempts", help, counts);
        Self { delivered, retrying, dead }
    }

    /// Takes note of an attempt that led to `state`.
    pub fn made(&self, state: DeliveryState) {
        match state {
            DeliveryState::Delivered => self.delivered.inc(),
            DeliveryState::Retrying => self.retrying.inc(),
            DeliveryState::Dead => self.dead.inc(),
        };
    }
}
