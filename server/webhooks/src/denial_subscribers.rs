//! The denial subscribers, in memory: a check must not read the store.

use std::collections::HashSet;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use portcullis_storage::{Store, StoreError, webhooks};
use tokio::sync::Mutex;

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

    /// Reads whether `tenant` subscribes, after a commit of this process. Every check that begins after the return uses it.
    pub(crate) async fn changed(&self, tenant: &str) {
        if let Err(error) = self.refresh(&[tenant]).await {
            tracing::warn!(%error, "cannot read the webhooks that subscribed to denied checks");
            // Too many subscribers cost a read of the store each; one too few loses an event.
            self.tenants.store(None);
        }
    }

    /// Reads which of `tenants` subscribe; all subscribers if they are unknown. While the store is down, the last ones
    /// stay.
    pub(crate) async fn refresh(&self, tenants: &[&str]) -> Result<(), StoreError> {
        let _guard = self.reloading.lock().await;
        let Some(known) = self.tenants.load_full() else { return self.read_all().await };
        let mut tx = self.store.read_all().await?;
        let subscribed = webhooks::denial_subscribers_among(&mut tx, tenants).await?;
        tx.end().await?;
        let subscribed: HashSet<String> = subscribed.into_iter().collect();
        if tenants.iter().all(|tenant| known.contains(*tenant) == subscribed.contains(*tenant)) {
            return Ok(());
        }
        let mut after = HashSet::clone(&known);
        after.retain(|known| !tenants.contains(&known.as_str()));
        after.extend(subscribed);
        self.tenants.store(Some(Arc::new(after)));
        Ok(())
    }

    /// Reads all subscribers.
    pub(crate) async fn reload(&self) -> Result<(), StoreError> {
        let _guard = self.reloading.lock().await;
        self.read_all().await
    }

    async fn read_all(&self) -> Result<(), StoreError> {
        let mut tx = self.store.read_all().await?;
        let tenants = webhooks::denial_subscribers(&mut tx).await?;
        tx.end().await?;
        self.tenants.store(Some(Arc::new(tenants.into_iter().collect())));
        Ok(())
    }
}
