//! Which tenants want to know of denied checks, in memory: a check must not ask the store.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::Mutex;

use portcullis_storage::{Store, StoreError, webhooks};

/// How often the store is asked: another process may have changed it, and its notification got lost.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The tenants that have a webhook for denied checks.
#[derive(Debug)]
pub(super) struct Interest {
    store: Store,
    /// `None`: not known, so that every tenant may be one.
    tenants: ArcSwapOption<HashSet<String>>,
    /// Held while they are read and taken over, so that what was read before a change is never taken over
    /// after it.
    reloading: Mutex<()>,
}

impl Interest {
    pub(super) fn new(store: Store) -> Self {
        Self { store, tenants: ArcSwapOption::default(), reloading: Mutex::default() }
    }

    /// Whether `tenant` may want to know of a denied check.
    pub(super) fn has(&self, tenant: &str) -> bool {
        self.tenants.load().as_ref().is_none_or(|tenants| tenants.contains(tenant))
    }

    /// Takes note of a change that was committed here: from now on it counts.
    pub(super) async fn changed(&self) {
        if let Err(error) = self.reload().await {
            tracing::warn!(%error, "cannot read who wants to know of denied checks");
            // Too many are asked rather than one too few, until the store is back.
            self.tenants.store(None);
        }
    }

    /// Takes note of a change somewhere else. While the store is down, what was known before is as good as
    /// anything.
    pub(super) async fn heard(&self) {
        if let Err(error) = self.reload().await {
            tracing::warn!(%error, "cannot read who wants to know of denied checks");
        }
    }

    /// Reads them again and again.
    pub(super) async fn poll(&self) {
        loop {
            self.heard().await;
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn reload(&self) -> Result<(), StoreError> {
        let _one_at_a_time = self.reloading.lock().await;
        let mut tx = self.store.read_all().await?;
        let tenants = webhooks::tenants_told_of_denials(&mut tx).await?;
        tx.end().await?;
        self.tenants.store(Some(Arc::new(tenants.into_iter().collect())));
        Ok(())
    }
}
