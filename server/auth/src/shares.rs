//! The shares of tenants in a cache with a bound.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// The entries of each tenant in a cache. A full cache drops the oldest entries of the tenant that has the most, so that a
/// tenant with many entries drops its own.
#[derive(Debug)]
pub(crate) struct Shares<K> {
    bounds: Bounds,
    by_tenant: HashMap<Arc<str>, Share<K>>,
    /// Every tenant, by the weight of its entries.
    by_weight: BTreeSet<(usize, Arc<str>)>,
    /// The weight of all entries.
    total: usize,
}

/// The bounds of a cache, in the unit of the weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Most of all tenants together.
    pub(crate) all: usize,
    /// Most of one tenant.
    pub(crate) tenant: usize,
}

#[derive(Debug)]
struct Share<K> {
    /// The entries with their weights, the oldest first.
    entries: VecDeque<(K, usize)>,
    weight: usize,
}

impl<K: PartialEq> Shares<K> {
    /// Returns shares without entries.
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, by_tenant: HashMap::new(), by_weight: BTreeSet::new(), total: 0 }
    }

    /// Adds an entry of `tenant`. Returns the entries that the cache must drop for it.
    #[must_use]
    pub(crate) fn add(&mut self, tenant: &str, key: K, weight: usize) -> Vec<K> {
        let mut dropped = Vec::new();
        while self.of(tenant) + weight > self.bounds.tenant
            && let Some(oldest) = self.drop_oldest(tenant)
        {
            dropped.push(oldest);
        }
        while self.total + weight > self.bounds.all
            && let Some(oldest) = self.drop_oldest_of_largest()
        {
            dropped.push(oldest);
        }
        self.push(tenant, key, weight);
        dropped
    }

    /// Removes an entry of `tenant`.
    pub(crate) fn remove(&mut self, tenant: &str, key: &K) {
        let Some(share) = self.by_tenant.get(tenant) else { return };
        if let Some(at) = share.entries.iter().position(|(own, _)| own == key) {
            self.remove_at(tenant, at);
        }
    }

    /// Removes all entries of `tenant`, and returns them.
    pub(crate) fn take(&mut self, tenant: &str) -> impl Iterator<Item = K> + use<K> {
        let taken = self.by_tenant.remove_entry(tenant);
        let share = taken.map(|(tenant, share)| {
            self.total -= share.weight;
            self.by_weight.remove(&(share.weight, tenant));
            share
        });
        share.into_iter().flat_map(|share| share.entries).map(|(key, _)| key)
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.by_tenant.clear();
        self.by_weight.clear();
        self.total = 0;
    }

    /// Returns the weight of the entries of `tenant`.
    pub(crate) fn of(&self, tenant: &str) -> usize {
        self.by_tenant.get(tenant).map_or(0, |share| share.weight)
    }

    fn push(&mut self, tenant: &str, key: K, weight: usize) {
        let known = self.by_tenant.get_key_value(tenant).map(|(known, _)| Arc::clone(known));
        let tenant = known.unwrap_or_else(|| tenant.into());
        let empty = || Share { entries: VecDeque::new(), weight: 0 };
        let share = self.by_tenant.entry(Arc::clone(&tenant)).or_insert_with(empty);
        let before = share.weight;
        share.entries.push_back((key, weight));
        share.weight += weight;
        self.total += weight;
        self.sort(tenant, before);
    }

    fn drop_oldest_of_largest(&mut self) -> Option<K> {
        let tenant = self.by_weight.last().map(|(_, tenant)| Arc::clone(tenant))?;
        self.drop_oldest(&tenant)
    }

    fn drop_oldest(&mut self, tenant: &str) -> Option<K> {
        self.remove_at(tenant, 0)
    }

    /// Removes the entry of `tenant` at this place of its queue.
    fn remove_at(&mut self, tenant: &str, at: usize) -> Option<K> {
        let tenant = self.by_tenant.get_key_value(tenant).map(|(tenant, _)| Arc::clone(tenant))?;
        let share = self.by_tenant.get_mut(&tenant)?;
        let before = share.weight;
        let (key, weight) = share.entries.remove(at)?;
        share.weight -= weight;
        self.total -= weight;
        if share.entries.is_empty() {
            self.by_tenant.remove(&tenant);
        }
        self.sort(tenant, before);
        Some(key)
    }

    /// Notes that the entries of a tenant weighed `before`, and now have another weight.
    fn sort(&mut self, tenant: Arc<str>, before: usize) {
        let entry = (before, tenant);
        self.by_weight.remove(&entry);
        let tenant = entry.1;
        let after = self.of(&tenant);
        if after > 0 {
            self.by_weight.insert((after, tenant));
        }
    }
}

#[cfg(test)]
impl<K> Shares<K> {
    /// Returns the number and the weight of all entries, after a look at all books.
    pub(crate) fn audited(&self) -> (usize, usize) {
        let weight = |share: &Share<K>| share.entries.iter().map(|(_, weight)| weight).sum();
        let weights: Vec<usize> = self.by_tenant.values().map(weight).collect();
        assert!(self.by_tenant.values().zip(&weights).all(|(share, own)| share.weight == *own));
        assert_eq!(weights.iter().sum::<usize>(), self.total);
        assert_eq!(self.by_weight.len(), self.by_tenant.len());
        (self.by_tenant.values().map(|share| share.entries.len()).sum(), self.total)
    }
}
