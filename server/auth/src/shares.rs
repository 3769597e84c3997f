//! The shares of tenants in a cache with a bound.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// The entries of each tenant in a cache. A full cache drops the oldest entries of a tenant that has the most, give or take
/// an eighth, so that a tenant with many entries drops its own.
#[derive(Debug)]
pub(crate) struct Shares<K> {
    bounds: Bounds,
    by_tenant: HashMap<Arc<str>, Share<K>, ahash::RandomState>,
    /// Every tenant, by the rank of its weight.
    by_rank: BTreeSet<(usize, Arc<str>)>,
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
        Self { bounds, by_tenant: HashMap::default(), by_rank: BTreeSet::new(), total: 0 }
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
            self.by_rank.remove(&(rank(share.weight), tenant));
            share
        });
        share.into_iter().flat_map(|share| share.entries).map(|(key, _)| key)
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.by_tenant.clear();
        self.by_rank.clear();
        self.total = 0;
    }

    /// Returns the weight of the entries of `tenant`.
    pub(crate) fn of(&self, tenant: &str) -> usize {
        self.by_tenant.get(tenant).map_or(0, |share| share.weight)
    }

    fn push(&mut self, tenant: &str, key: K, weight: usize) {
        self.total += weight;
        if let Some(share) = self.by_tenant.get_mut(tenant) {
            let before = share.weight;
            share.entries.push_back((key, weight));
            share.weight += weight;
            let after = share.weight;
            self.sort(tenant, before, after);
        } else {
            let share = Share { entries: VecDeque::from([(key, weight)]), weight };
            self.by_tenant.insert(tenant.into(), share);
            self.sort(tenant, 0, weight);
        }
    }

    fn drop_oldest_of_largest(&mut self) -> Option<K> {
        let tenant = self.by_rank.last().map(|(_, tenant)| Arc::clone(tenant))?;
        self.drop_oldest(&tenant)
    }

    fn drop_oldest(&mut self, tenant: &str) -> Option<K> {
        self.remove_at(tenant, 0)
    }

    /// Removes the entry of `tenant` at this place of its queue.
    fn remove_at(&mut self, tenant: &str, at: usize) -> Option<K> {
        let share = self.by_tenant.get_mut(tenant)?;
        let (key, weight) = share.entries.remove(at)?;
        let before = share.weight;
        share.weight -= weight;
        self.total -= weight;
        let (after, is_empty) = (share.weight, share.entries.is_empty());
        self.sort(tenant, before, after);
        if is_empty {
            self.by_tenant.remove(tenant);
        }
        Some(key)
    }

    /// Notes that the entries of a tenant weighed `before`, and weigh `after`.
    fn sort(&mut self, tenant: &str, before: usize, after: usize) {
        let (before, after) = (rank(before), rank(after));
        if before == after {
            return;
        }
        let Some((tenant, _)) = self.by_tenant.get_key_value(tenant) else { return };
        let mut place = (before, Arc::clone(tenant));
        self.by_rank.remove(&place);
        if after > 0 {
            place.0 = after;
            self.by_rank.insert(place);
        }
    }
}

/// Returns the rank of a weight; 0 is that of no entries. Weights up to 15 have ranks of their own, and from there on eight
/// ranks are a doubling: few entries of a large share change its rank.
fn rank(weight: usize) -> usize {
    let Some(log) = weight.checked_ilog2() else { return 0 };
    let eighth = (weight >> log.saturating_sub(3)) & 7;
    ((log as usize) << 3 | eighth) + 1
}

#[cfg(test)]
impl<K> Shares<K> {
    /// Returns the number and the weight of all entries, after a look at all books.
    pub(crate) fn audited(&self) -> (usize, usize) {
        let weight = |share: &Share<K>| share.entries.iter().map(|(_, weight)| weight).sum();
        let weights: Vec<usize> = self.by_tenant.values().map(weight).collect();
        assert!(self.by_tenant.values().zip(&weights).all(|(share, own)| share.weight == *own));
        assert_eq!(weights.iter().sum::<usize>(), self.total);
        assert_eq!(self.by_rank.len(), self.by_tenant.len());
        for (tenant, share) in &self.by_tenant {
            assert!(self.by_rank.contains(&(rank(share.weight), Arc::clone(tenant))), "{tenant}");
        }
        (self.by_tenant.values().map(|share| share.entries.len()).sum(), self.total)
    }
}
