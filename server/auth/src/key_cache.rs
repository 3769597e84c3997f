//! The verified service keys, in memory: a check must not read the store (`docs/semantics.md`, section 6.8).

use std::sync::Arc;

use parking_lot::Mutex;
use portcullis_fairness::{ShareBounds, TenantShares};
use uuid::Uuid;

use crate::verified_key::VerifiedKey;

/// Most keys in memory. A key takes some 500 bytes, 8 MiB together. Domains of the greatest length make it 5 KiB.
const MAX_KEYS: usize = 16_384;
/// Most keys of one tenant in memory: a sixteenth of all, and more than the default quota of stored keys.
const MAX_KEYS_OF_TENANT: usize = 1_024;

/// The keys that the store had, by id. A full cache drops the oldest key of a tenant that has the most, so that a
/// tenant with many keys drops its own.
///
/// Readers take no lock.
#[derive(Debug)]
pub(crate) struct KeyCache {
    keys: papaya::HashMap<Uuid, Arc<VerifiedKey>>,
    /// Held while keys are added or removed.
    bookkeeping: Mutex<Bookkeeping>,
}

#[derive(Debug)]
struct Bookkeeping {
    /// The ids of the keys of each tenant. Each key weighs 1.
    shares: TenantShares<Uuid>,
    /// The number of times that keys may have been revoked without the knowledge of a read that runs.
    changes: u64,
}

impl Default for KeyCache {
    fn default() -> Self {
        Self::new(MAX_KEYS, MAX_KEYS_OF_TENANT)
    }
}

impl KeyCache {
    fn new(most: usize, most_of_tenant: usize) -> Self {
        let shares = TenantShares::new(ShareBounds { all: most, tenant: most_of_tenant });
        Self {
            keys: papaya::HashMap::new(),
            bookkeeping: Mutex::new(Bookkeeping { shares, changes: 0 }),
        }
    }

    /// Returns the key with this id.
    pub(crate) fn get(&self, id: Uuid) -> Option<Arc<VerifiedKey>> {
        self.keys.pin().get(&id).cloned()
    }

    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of changes so far. A read of the store begins after it.
    pub(crate) fn changes(&self) -> u64 {
        self.bookkeeping.lock().changes
    }

    /// Keeps a key that a read found that began after `changes` changes. Does nothing if the key may have been revoked since.
    pub(crate) fn keep(&self, changes: u64, key: &Arc<VerifiedKey>) {
        let mut bookkeeping = self.bookkeeping.lock();
        let keys = self.keys.pin();
        // A read at the same time may have kept it already.
        if bookkeeping.changes != changes || keys.contains_key(&key.id()) {
            return;
        }
        for dropped in bookkeeping.shares.add(key.tenant(), key.id(), 1) {
            keys.remove(&dropped);
        }
        keys.insert(key.id(), Arc::clone(key));
    }

    /// Drops a key that is revoked, and every read that began before.
    pub(crate) fn forget(&self, id: Uuid) {
        let mut bookkeeping = self.bookkeeping.lock();
        bookkeeping.changes += 1;
        if let Some(key) = self.keys.pin().remove(&id) {
            bookkeeping.shares.remove(key.tenant(), &id);
        }
    }

    /// Drops the keys of `tenants`, of which some may be revoked, and every read that began before.
    pub(crate) fn forget_tenants<'t>(&self, tenants: impl IntoIterator<Item = &'t str>) {
        let mut bookkeeping = self.bookkeeping.lock();
        bookkeeping.changes += 1;
        let keys = self.keys.pin();
        for tenant in tenants {
            for id in bookkeeping.shares.take(tenant) {
                keys.remove(&id);
            }
        }
    }

    /// Drops every key, and every read that began before.
    pub(crate) fn clear(&self) {
        let mut bookkeeping = self.bookkeeping.lock();
        bookkeeping.changes += 1;
        bookkeeping.shares.clear();
        self.keys.pin().clear();
    }
}

#[cfg(test)]
mod tests;
