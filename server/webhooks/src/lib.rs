//! Webhooks at work: events become deliveries in the transaction that causes them (`storage/events.rs`);
//! here is who delivers them, and how denied checks become events without a transaction of their own.

mod attempt;
mod courier;
mod denials;
mod interest;
mod metrics;
mod retention;
mod schedule;
mod signature;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use portcullis_engine::{Check, Decision, Effect};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::Notify;

use denials::Denials;
use interest::Interest;
use portcullis_model::event::Event;
use portcullis_storage::{Store, Wrote};

pub use courier::{Courier, MAX_TRANSACTIONS};
pub use metrics::DeliveryMetrics;
pub use retention::prune_for_ever;
pub use schedule::{Jitter, Schedule};
pub use worker::Worker;

/// How events are delivered (`docs/semantics.md`, section 7.7).
#[derive(Clone, Debug)]
pub struct WebhookConfig {
    /// The waits after the first failure, the second, and so on; the last one repeats. Never empty.
    pub backoff: Vec<Duration>,
    /// The failure that makes a delivery dead.
    pub max_failures: u32,
    /// The longest attempt.
    pub timeout: Duration,
    /// How long attempts are kept.
    pub retention: Duration,
}

impl Default for WebhookConfig {
    fn default() -> Self {
        Self {
            backoff: [10, 30, 120, 600, 3_600].map(Duration::from_secs).to_vec(),
            max_failures: 5,
            timeout: Duration::from_secs(10),
            retention: Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}

/// What the rest of the service tells webhooks of.
#[derive(Debug)]
pub struct Webhooks {
    interest: Arc<Interest>,
    denials: Denials,
    /// Wakes the worker.
    wake: Arc<Notify>,
}

impl Webhooks {
    /// `denials_lost` counts denied checks whose event may be lost.
    pub fn new(store: Store, denials_lost: Counter) -> Self {
        let (interest, wake) = (Arc::new(Interest::new(store.clone())), Arc::new(Notify::new()));
        Self { interest, denials: Denials::new(store, Arc::clone(&wake), denials_lost), wake }
    }

    /// Takes note of what a transaction wrote, once it is committed and before it is acknowledged.
    pub async fn committed(&self, wrote: Wrote) {
        if wrote.webhooks {
            self.interest.changed().await;
        }
        if wrote.deliveries {
            self.wake();
        }
    }

    /// Has the worker look for something to deliver.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Has another process's change of webhooks known here.
    pub async fn heard_of_webhooks(&self) {
        self.interest.heard().await;
    }

    /// Keeps up with webhooks that other processes write.
    pub async fn poll(&self) {
        self.interest.poll().await;
    }

    /// The event of a check that was denied, if its tenant has a webhook that wants to know.
    pub fn denial(
        &self,
        tenant: &str,
        check: &Check<'_>,
        decision: &Decision<'_>,
    ) -> Option<Event> {
        let told = decision.effect() == Effect::Deny && self.interest.has(tenant);
        told.then(|| Event::denied(check, decision))
    }

    /// Tells of a denied check: it is written down when this returns, unless the store is down.
    pub async fn tell(&self, tenant: &str, event: Event) {
        self.denials.write(tenant, event).await;
    }

    /// What wakes the worker.
    pub fn waker(&self) -> Arc<Notify> {
        Arc::clone(&self.wake)
    }
}

#[cfg(test)]
mod tests;
