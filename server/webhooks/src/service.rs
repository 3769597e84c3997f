//! The part of webhooks that the rest of the service calls.

use std::sync::Arc;

use portcullis_model::event::Event;
use portcullis_storage::{Store, StoreError, WebhookWrites};
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
    pub async fn committed(&self, tenant: &str, writes: WebhookWrites) {
        if writes.webhooks {
            self.subscribers.changed(tenant).await;
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

    /// Reads which of `tenants` are denial subscribers, after another process may have changed their webhooks.
    ///
    /// # Errors
    /// The store failed.
    pub async fn refresh(&self, tenants: &[&str]) -> Result<(), StoreError> {
        self.subscribers.refresh(tenants).await
    }

    /// Reads all denial subscribers.
    ///
    /// # Errors
    /// The store failed.
    pub async fn reload(&self) -> Result<(), StoreError> {
        self.subscribers.reload().await
    }

    /// Tells whether a webhook of `tenant` may subscribe to denied checks.
    pub fn subscribes_to_denials(&self, tenant: &str) -> bool {
        self.subscribers.contains(tenant)
    }

    /// Stores the event of a denied check. It is stored when this function returns, unless the store is down.
    pub async fn record_denial(&self, tenant: &str, event: Event) {
        self.record_denials(tenant, vec![event]).await;
    }

    /// Stores the events of the denied checks of a batch, as one wait.
    pub async fn record_denials(&self, tenant: &str, events: Vec<Event>) {
        self.denials.write(tenant, events).await;
    }

    /// Returns the notification that wakes the dispatcher.
    pub fn waker(&self) -> Arc<Notify> {
        Arc::clone(&self.wake)
    }
}
