//! The part of webhooks that the rest of the service calls.

use std::sync::Arc;

use portcullis_model::event::Event;
use portcullis_storage::{Store, WebhookWrites};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::Notify;

use crate::denial_subscribers::DenialSubscribers;
use crate::denials::Denials;

/// Connects the rest of the service with the delivery of events.
#[derive(Debug)]
pub struct Webhooks {
    subscribers: DenialSubscribers,
    denials: Denials,
    /// Wakes the dispatcher.
    wake: Arc<Notify>,
}

impl Webhooks {
    /// `lost` counts denied checks whose event may be lost, `dropped` their deliveries that were dropped because too
    /// many waited.
    pub fn new(store: Store, lost: Counter, dropped: Counter) -> Self {
        let wake = Arc::new(Notify::new());
        let denials = Denials::new(store.clone(), Arc::clone(&wake), lost, dropped);
        Self { subscribers: DenialSubscribers::new(store), denials, wake }
    }

    /// Handles the writes of a transaction of `tenant`, after its commit and before its acknowledgement.
    pub fn committed(&self, tenant: &str, writes: WebhookWrites) {
        if writes.webhooks {
            self.subscribers.forget([tenant]);
        }
        if writes.deliveries {
            self.wake();
        }
    }

    /// Returns the number of entries of each map in memory, for metrics.
    pub fn entries(&self) -> [(&'static str, usize); 2] {
        [("denial_subscribers", self.subscribers.len()), ("denials", self.denials.len())]
    }

    /// Wakes the dispatcher, which looks for due delivery queues.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Forgets whether `tenants` are denial subscribers, after another process may have changed their webhooks.
    pub fn forget<'t>(&self, tenants: impl IntoIterator<Item = &'t str>) {
        self.subscribers.forget(tenants);
    }

    /// Forgets all denial subscribers.
    pub fn forget_all(&self) {
        self.subscribers.forget_all();
    }

    /// Forgets the denial subscribers that nobody needed for an hour. Called every minute.
    pub fn tidy(&self) {
        self.subscribers.tidy();
    }

    /// Learns whether `tenant` is a denial subscriber, unless that is known: a later denied check needs no read for it, also
    /// if the store is down by then.
    pub async fn prepare(&self, tenant: &str) {
        // A failure is no news: the plan that the check needs is read from the same store.
        let _ = self.subscribers.learn(tenant).await;
    }

    /// Tells whether a webhook of `tenant` may subscribe to denied checks.
    pub fn subscribes_to_denials(&self, tenant: &str) -> bool {
        self.subscribers.contains(tenant)
    }

    /// Stores the event of a denied check if a webhook subscribes to it. It is stored when this function returns, unless the
    /// store is down.
    pub async fn record_denial(&self, tenant: &str, event: Event) {
        self.record_denials(tenant, vec![event]).await;
    }

    /// Stores the events of the denied checks of a batch, as one wait.
    pub async fn record_denials(&self, tenant: &str, events: Vec<Event>) {
        // If the store fails, the loss of the events is counted, whether somebody subscribes or not.
        if self.subscribers.learn(tenant).await.unwrap_or(true) {
            self.denials.write(tenant, events).await;
        }
    }

    /// Returns the notification that wakes the dispatcher.
    pub fn waker(&self) -> Arc<Notify> {
        Arc::clone(&self.wake)
    }
}
