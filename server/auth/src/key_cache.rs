//! The verified service keys, in memory: a check must not read the store (`docs/semantics.md`, section 6.8).

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use uuid::Uuid;

use crate::verified_key::VerifiedKey;

/// Most keys in memory. A key takes some 500 bytes, 8 MiB together. Domains of the greatest length make it 5 KiB.
const MOST_KEYS: usize = 16_384;
/// Most keys of one tenant in memory: a sixteenth of all, and more than the default quota of stored keys.
const MOST_KEYS_OF_TENANT: usize = 1_024;

/// The keys that the store had, by id. A full cache drops the oldest key of the tenant that has the most, so that a
/// tenant with many keys drops its own.
///
/// Readers take no lock.
#[derive(Debug)]
pub(crate) struct KeyCache {
    keys: papaya::HashMap<Uuid, Arc<VerifiedKey>>,
    /// Held while keys are added or removed.
    shares: Mutex<Shares>,
    most: usize,
    most_of_tenant: usize,
}

#[derive(Debug, Default)]
struct Shares {
    /// The ids of the keys of each tenant, the oldest first.
    by_tenant: HashMap<Arc<str>, VecDeque<Uuid>>,
    /// Every tenant, by the number of its keys.
    by_size: BTreeSet<(usize, Arc<str>)>,
    /// The number of times that keys may have been revoked without the knowledge of a read that runs.
    changes: u64,
}

/// A read of a key that began. It must begin before the store is read.
#[derive(Debug)]
pub(crate) struct KeyRead {
    changes: u64,
}

impl Default for KeyCache {
    fn default() -> Self {
        Self::new(MOST_KEYS, MOST_KEYS_OF_TENANT)
    }
}

impl KeyCache {
    fn new(most: usize, most_of_tenant: usize) -> Self {
        Self { keys: papaya::HashMap::new(), shares: Mutex::default(), most, most_of_tenant }
    }

    /// Returns the key with this id.
    pub(crate) fn get(&self, id: Uuid) -> Option<Arc<VerifiedKey>> {
        self.keys.pin().get(&id).cloned()
    }

    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Begins to read a key from the store.
    pub(crate) fn begin_read(&self) -> KeyRead {
        KeyRead { changes: self.shares.lock().changes }
    }

    /// Keeps a key that `read` found. Does nothing if the key may have been revoked since.
    pub(crate) fn keep(&self, read: &KeyRead, key: &Arc<VerifiedKey>) {
        let mut shares = self.shares.lock();
        let keys = self.keys.pin();
        if shares.changes != read.changes || keys.contains_key(&key.id()) {
            return;
        }
        if shares.count(key.tenant()) >= self.most_of_tenant
            && let Some(oldest) = shares.drop_oldest(key.tenant())
        {
            keys.remove(&oldest);
        }
        if keys.len() >= self.most
            && let Some(oldest) = shares.drop_oldest_of_largest()
        {
            keys.remove(&oldest);
        }
        shares.add(key.tenant(), key.id());
        keys.insert(key.id(), Arc::clone(key));
    }

    /// Drops a key that is revoked, and every read that began before.
    pub(crate) fn forget(&self, id: Uuid) {
        let mut shares = self.shares.lock();
        shares.changes += 1;
        self.remove(&mut shares, id);
    }

    /// Returns the ids of all keys, for a comparison with the store. Reads that began before are not kept: the comparison
    /// does not include their keys.
    pub(crate) fn ids(&self) -> Vec<Uuid> {
        let mut shares = self.shares.lock();
        shares.changes += 1;
        self.keys.pin().keys().copied().collect()
    }

    /// Drops those of `compared` that are not in `existing`.
    pub(crate) fn retain(&self, compared: &[Uuid], existing: &HashSet<Uuid>) {
        let mut gone = compared.iter().filter(|id| !existing.contains(id)).peekable();
        if gone.peek().is_none() {
            return;
        }
        let mut shares = self.shares.lock();
        for id in gone {
            self.remove(&mut shares, *id);
        }
    }

    fn remove(&self, shares: &mut Shares, id: Uuid) {
        if let Some(key) = self.keys.pin().remove(&id) {
            shares.remove(key.tenant(), id);
        }
    }
}

impl Shares {
    fn count(&self, tenant: &str) -> usize {
        self.by_tenant.get(tenant).map_or(0, VecDeque::len)
    }

    fn add(&mut self, tenant: &str, id: Uuid) {
        let known = self.by_tenant.get_key_value(tenant).map(|(known, _)| Arc::clone(known));
        let tenant = known.unwrap_or_else(|| tenant.into());
        let ids = self.by_tenant.entry(Arc::clone(&tenant)).or_default();
        let before = ids.len();
        ids.push_back(id);
        self.sort(&tenant, before);
    }

    fn drop_oldest_of_largest(&mut self) -> Option<Uuid> {
        let tenant = self.by_size.last().map(|(_, tenant)| Arc::clone(tenant))?;
        self.drop_oldest(&tenant)
    }

    fn drop_oldest(&mut self, tenant: &str) -> Option<Uuid> {
        let oldest = *self.by_tenant.get(tenant)?.front()?;
        self.remove(tenant, oldest);
        Some(oldest)
    }

    fn remove(&mut self, tenant: &str, id: Uuid) {
        let Some((tenant, _)) = self.by_tenant.get_key_value(tenant) else { return };
        let tenant = Arc::clone(tenant);
        let Some(ids) = self.by_tenant.get_mut(&tenant) else { return };
        let before = ids.len();
        ids.retain(|own| *own != id);
        if ids.is_empty() {
            self.by_tenant.remove(&tenant);
        }
        self.sort(&tenant, before);
    }

    /// Notes that a tenant had `before` keys and now has another number.
    fn sort(&mut self, tenant: &Arc<str>, before: usize) {
        self.by_size.remove(&(before, Arc::clone(tenant)));
        let after = self.count(tenant);
        if after > 0 {
            self.by_size.insert((after, Arc::clone(tenant)));
        }
    }
}

#[cfg(test)]
mod tests;
