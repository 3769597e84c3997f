//! The denial subscribers, in memory: a check must not read the store.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use portcullis_storage::{Store, StoreError, webhooks};
use tokio::sync::Mutex;

/// The time between two reads of the store. Another process may have changed a webhook, and its notification may be
/// lost.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The tenants that have a webhook for denied checks.
#[derive(Debug)]
pub(crate) struct DenialSubscribers {
    store: Store,
    /// `None` if they are unknown; then every tenant counts as a subscriber.
    tenants: ArcSwapOption<HashSet<String>>,
    /// Held from the read of the store to the update of `tenants`, so that an older read never replaces a newer one.
    reloading: Mutex<()>,
}

impl DenialSubscribers {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, tenants: ArcSwapOption::default(), reloading: Mutex::default() }
    }

    /// Tells whether `tenant` may have a webhook for denied checks.
    pub(crate) fn contains(&self, tenant: &str) -> bool {
        self.tenants.load().as_ref().is_none_or(|tenants| tenants.contains(tenant))
    }

    /// Returns the number of tenants; 0 if they are unknown.
    pub(crate) fn len(&self) -> usize {
        self.tenants.load().as_ref().map_or(0, |tenants| tenants.len())
    }

    /// Reads the subscribers after a commit of this process. Every check that begins after the return uses them.
    pub(crate) async fn changed(&self) {
        if let Err(error) = self.reload().await {
            tracing::warn!(%error, "cannot read the webhooks that subscribed to denied checks");
            // Too many subscribers cost a read of the store each; one too few loses an event.
            self.tenants.store(None);
        }
    }

    /// Reads the subscribers after a change of another process. While the store is down, the last ones stay.
    pub(crate) async fn refresh(&self) {
        if let Err(error) = self.reload().await {
            tracing::warn!(%error, "cannot read the webhooks that subscribed to denied checks");
        }
    }

    /// Reads the subscribers again and again.
    pub(crate) async fn poll(&self) {
        loop {
            self.refresh().await;
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn reload(&self) -> Result<(), StoreError> {
        let _guard = self.reloading.lock().await;
        let mut tx = self.store.read_all().await?;
        let tenants = webhooks::denial_subscribers(&mut tx).await?;
        tx.end().await?;
        self.tenants.store(Some(Arc::new(tenants.into_iter().collect())));
        Ok(())
    }
}
