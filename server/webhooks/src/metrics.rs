//! The metrics of delivery attempts. No label has a value that a tenant can choose.

use portcullis_model::delivery::DeliveryState;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Counts delivery attempts by outcome.
#[derive(Clone, Debug)]
pub struct DeliveryMetrics {
    delivered: Counter,
    retrying: Counter,
    dead: Counter,
    gone: Counter,
}

impl DeliveryMetrics {
    /// Registers every series, so that each is visible from the start.
    pub fn register(registry: &mut Registry) -> Self {
        let counts = Family::<[(&str, &str); 1], Counter>::default();
        registry.register(
            "webhook_attempts",
            "Attempts to deliver an event, by outcome",
            counts.clone(),
        );
        Self {
            delivered: counts.get_or_create_owned(&[("outcome", "delivered")]),
            retrying: counts.get_or_create_owned(&[("outcome", "retrying")]),
            dead: counts.get_or_create_owned(&[("outcome", "dead")]),
            gone: counts.get_or_create_owned(&[("outcome", "gone")]),
        }
    }

    /// Counts an attempt after which the delivery is in `state`, and which the receiver answered that it `is_gone`.
    pub fn made(&self, state: DeliveryState, is_gone: bool) {
        match state {
            _ if is_gone => self.gone.inc(),
            DeliveryState::Delivered => self.delivered.inc(),
            DeliveryState::Retrying => self.retrying.inc(),
            DeliveryState::Dead => self.dead.inc(),
        };
    }
}
