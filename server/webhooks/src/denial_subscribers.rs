//! The denial subscribers: whether a tenant has a webhook for denied checks is read when a check first needs it, kept in
//! memory, and forgotten when it changes or nobody needs it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use ahash::RandomState;
use parking_lot::Mutex;
use portcullis_fairness::{TurnLimits, TurnQueue};
use portcullis_storage::{Store, StoreError, webhooks};

/// Most tenants in memory. Each takes some 200 bytes.
const MAX: usize = 20_000;
/// Rounds of a minute without a use after which a tenant is forgotten: an hour.
const IDLE_ROUNDS: u32 = 60;
/// The reads. A tenant's reads follow each other, so that it is read once for all who wait.
const READS: TurnLimits = TurnLimits { at_once: 8, per_tenant: 1, ..TurnLimits::NONE };

/// The tenants of which it is known whether they have a webhook for denied checks.
#[derive(Debug)]
pub(crate) struct DenialSubscribers {
    store: Store,
    /// Readers take no lock.
    by_tenant: papaya::HashMap<Arc<str>, Subscription, RandomState>,
    /// The number of times that webhooks may have changed without the knowledge of a read that runs. Held while tenants are
    /// added or removed.
    changes: Mutex<u64>,
    reads: TurnQueue,
}

#[derive(Debug)]
struct Subscription {
    subscribes: bool,
    /// Rounds since the last use.
    idle: AtomicU32,
}

impl DenialSubscribers {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            by_tenant: papaya::HashMap::default(),
            changes: Mutex::default(),
            reads: TurnQueue::new(READS),
        }
    }

    /// Tells whether `tenant` may have a webhook for denied checks: one that is not in memory may.
    pub(crate) fn contains(&self, tenant: &str) -> bool {
        self.known(tenant).unwrap_or(true)
    }

    /// Returns the number of tenants in memory.
    pub(crate) fn len(&self) -> usize {
        self.by_tenant.len()
    }

    /// Tells whether `tenant` has a webhook for denied checks. Reads it unless it is in memory, once for all who wait.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) async fn learn(&self, tenant: &str) -> Result<bool, StoreError> {
        if let Some(subscribes) = self.known(tenant) {
            return Ok(subscribes);
        }
        let _turn = self.reads.begin_patiently(tenant).await;
        // Whoever had the turn before may have read it.
        if let Some(subscribes) = self.known(tenant) {
            return Ok(subscribes);
        }
        // This comes before the read: what changes during it is noticed by this number.
        let changes = *self.changes.lock();
        let subscribes =
            self.store.read(tenant, async |tx| webhooks::subscribes_to_denials(tx).await).await?;
        self.keep(changes, tenant, subscribes);
        Ok(subscribes)
    }

    fn known(&self, tenant: &str) -> Option<bool> {
        let by_tenant = self.by_tenant.pin();
        let subscription = by_tenant.get(tenant)?;
        // Threads share no write while the tenant is in use.
        if subscription.idle.load(Ordering::Relaxed) != 0 {
            subscription.idle.store(0, Ordering::Relaxed);
        }
        Some(subscription.subscribes)
    }

    /// Keeps what a read found that began after `changes` changes. Does nothing if that may have changed since.
    fn keep(&self, changes: u64, tenant: &str, subscribes: bool) {
        // The lock is held until the end, so that no change comes between the comparison and the insertion.
        let now = self.changes.lock();
        if *now != changes {
            return;
        }
        let by_tenant = self.by_tenant.pin();
        if by_tenant.len() >= MAX {
            by_tenant.retain(|_, subscription| subscription.idle.load(Ordering::Relaxed) == 0);
        }
        if by_tenant.len() >= MAX {
            by_tenant.clear();
        }
        by_tenant.insert(tenant.into(), Subscription { subscribes, idle: AtomicU32::new(0) });
    }

    /// Forgets `tenants`, whose webhooks may have changed: the next check that needs them reads them. What is being read
    /// now is not kept.
    pub(crate) fn forget<'t>(&self, tenants: impl IntoIterator<Item = &'t str>) {
        let mut changes = self.changes.lock();
        *changes += 1;
        let by_tenant = self.by_tenant.pin();
        for tenant in tenants {
            by_tenant.remove(tenant);
        }
    }

    /// Forgets all tenants, as [`DenialSubscribers::forget`] does.
    pub(crate) fn forget_all(&self) {
        let mut changes = self.changes.lock();
        *changes += 1;
        self.by_tenant.pin().clear();
    }

    /// Ends a round of a minute: forgets the tenants that nobody needed for [`IDLE_ROUNDS`].
    pub(crate) fn tidy(&self) {
        let _changes = self.changes.lock();
        self.by_tenant.pin().retain(|_, subscription| {
            subscription.idle.fetch_add(1, Ordering::Relaxed) < IDLE_ROUNDS
        });
    }
}

#[cfg(test)]
mod tests;
