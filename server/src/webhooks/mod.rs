//! Webhooks at work: events become deliveries in the transaction that causes them (`storage/events.rs`);
//! here is who delivers them, and how denied checks become events without a transaction of their own.

mod attempt;
mod courier;
mod denials;
mod interest;
mod retention;
mod schedule;
mod signature;
mod worker;

use std::sync::Arc;
use std::time::Duration;

use portcullis_engine::{Check, Decision, Effect};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::Notify;

use crate::model::event::Event;
use crate::storage::{Store, Wrote};
use denials::Denials;
use interest::Interest;

pub(crate) use courier::{Courier, MAX_TRANSACTIONS};
pub(crate) use retention::prune_for_ever;
pub(crate) use schedule::{Jitter, Schedule};
pub(crate) use worker::Worker;

/// How events are delivered (`docs/semantics.md`, section 7.7).
#[derive(Clone, Debug)]
pub(crate) struct WebhookConfig {
    /// The waits after the first failure, the second, and so on; the last one repeats. Never empty.
    pub(crate) backoff: Vec<Duration>,
    /// The failure that makes a delivery dead.
    pub(crate) max_failures: u32,
    /// The longest attempt.
    pub(crate) timeout: Duration,
    /// How long attempts are kept.
    pub(crate) retention: Duration,
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
pub(crate) struct Webhooks {
    interest: Arc<Interest>,
    denials: Denials,
    /// Wakes the worker.
    wake: Arc<Notify>,
}

impl Webhooks {
    /// `denials_lost` counts denied checks whose event may be lost.
    pub(crate) fn new(store: Store, denials_lost: Counter) -> Self {
        let (interest, wake) = (Arc::new(Interest::new(store.clone())), Arc::new(Notify::new()));
        Self { interest, denials: Denials::new(store, Arc::clone(&wake), denials_lost), wake }
    }

    /// Takes note of what a transaction wrote, once it is committed and before it is acknowledged.
    pub(crate) async fn committed(&self, wrote: Wrote) {
        if wrote.webhooks {
            self.interest.changed().await;
        }
        if wrote.deliveries {
            self.wake();
        }
    }

    /// Has the worker look for something to deliver.
    pub(crate) fn wake(&self) {
        self.wake.notify_one();
    }

    /// Has another process's change of webhooks known here.
    pub(crate) async fn heard_of_webhooks(&self) {
        self.interest.heard().await;
    }

    /// Keeps up with webhooks that other processes write.
    pub(crate) async fn poll(&self) {
        self.interest.poll().await;
    }

    /// The event of a check that was denied, if its tenant has a webhook that wants to know.
    pub(crate) fn denial(
        &self,
        tenant: &str,
        check: &Check<'_>,
        decision: &Decision<'_>,
    ) -> Option<Event> {
        let told = decision.effect() == Effect::Deny && self.interest.has(tenant);
        told.then(|| Event::denied(check, decision))
    }

    /// Tells of a denied check: it is written down when this returns, unless the store is down.
    pub(crate) async fn tell(&self, tenant: &str, event: Event) {
        self.denials.write(tenant, event).await;
    }

    /// What wakes the worker.
    pub(crate) fn waker(&self) -> Arc<Notify> {
        Arc::clone(&self.wake)
    }
}

#[cfg(test)]
mod tests;
