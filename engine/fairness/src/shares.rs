//! The shares of tenants in a cache with a bound.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

/// The entries of each tenant in a cache. A full cache drops the oldest entries of a tenant that has the most, give or take
/// an eighth, so that a tenant with many entries drops its own.
#[derive(Debug)]
pub struct TenantShares<K> {
    bounds: ShareBounds,
    by_tenant: HashMap<Arc<str>, Share<K>, ahash::RandomState>,
    /// Every tenant, by the rank of its weight.
    by_rank: BTreeSet<(usize, Arc<str>)>,
    /// The weight of all entries.
    total: usize,
}

/// The bounds of a cache, in the unit of the weights.
#[derive(Clone, Copy, Debug)]
pub struct ShareBounds {
    /// Most of all tenants together.
    pub all: usize,
    /// Most of one tenant.
    pub tenant: usize,
}

#[derive(Debug)]
struct Share<K> {
    /// The entries with their weights, the oldest first.
    entries: VecDeque<(K, usize)>,
    weight: usize,
}

impl<K: PartialEq> TenantShares<K> {
    /// Returns shares without entries.
    pub fn new(bounds: ShareBounds) -> Self {
        Self { bounds, by_tenant: HashMap::default(), by_rank: BTreeSet::new(), total: 0 }
    }

    /// Adds an entry of `tenant`. Returns the entries that the cache must drop for it.
    #[must_use]
    pub fn add(&mut self, tenant: &str, key: K, weight: usize) -> Vec<K> {
        let mut dropped = Vec::new();
        // Its own bound first: what the tenant drops for it may be room enough for all.
        while self.weight(tenant) + weight > self.bounds.tenant
            && let Some(oldest) = self.drop_oldest(tenant)
        {
            dropped.push(oldest);
        }
        while self.total + weight > self.bounds.all
            && let Some(oldest) = self.drop_oldest_of_largest()
        {
            dropped.push(oldest);
        }
        // An entry that is larger than a bound is kept all the same: nothing is left to drop for it.
        self.push(tenant, key, weight);
        dropped
    }

    /// Removes an entry of `tenant`.
    pub fn remove(&mut self, tenant: &str, key: &K) {
        let Some(share) = self.by_tenant.get(tenant) else { return };
        if let Some(at) = share.entries.iter().position(|(own, _)| own == key) {
            self.remove_at(tenant, at);
        }
    }

    /// Removes all entries of `tenant`, and returns them.
    pub fn take(&mut self, tenant: &str) -> impl Iterator<Item = K> + use<K> {
        let taken = self.by_tenant.remove_entry(tenant);
        // The share is subtracted here, because the caller may drop the iterator unread.
        let share = taken.map(|(tenant, share)| {
            self.total -= share.weight;
            self.by_rank.remove(&(rank(share.weight), tenant));
            share
        });
        share.into_iter().flat_map(|share| share.entries).map(|(key, _)| key)
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.by_tenant.clear();
        self.by_rank.clear();
        self.total = 0;
    }

    /// Returns the weight of the entries of `tenant`.
    pub fn weight(&self, tenant: &str) -> usize {
        self.by_tenant.get(tenant).map_or(0, |share| share.weight)
    }

    /// Returns the weight of all entries.
    pub fn total(&self) -> usize {
        self.total
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
        // Only now, because `sort` looks the tenant up.
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

/// Returns the rank of a weight; 0 is the rank of no entries. Weights up to 15 have their own ranks, and from there on
/// eight ranks are a doubling: few entries of a large share change its rank.
fn rank(weight: usize) -> usize {
    let Some(log) = weight.checked_ilog2() else { return 0 };
    // The three bits below the highest one tell the eighths of a doubling apart.
    let eighth = (weight >> log.saturating_sub(3)) & 7;
    ((log as usize) << 3 | eighth) + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl<K> TenantShares<K> {
        /// Checks that all books say the same.
        fn audit(&self) {
            let mut total = 0;
            for (tenant, share) in &self.by_tenant {
                let weight = share.entries.iter().map(|(_, weight)| weight).sum();
                assert_eq!(share.weight, weight, "{tenant}");
                assert!(self.by_rank.contains(&(rank(weight), Arc::clone(tenant))), "{tenant}");
                total += weight;
            }
            assert_eq!((self.by_rank.len(), self.total), (self.by_tenant.len(), total));
        }
    }

    const BOUNDS: ShareBounds = ShareBounds { all: 300, tenant: 200 };

    proptest! {
        #[test]
        fn only_the_tenant_itself_or_one_with_the_most_loses_entries(
            entries in proptest::collection::vec((0..6_usize, 1..60_usize, any::<bool>()), 1..200),
        ) {
            let mut shares = TenantShares::new(BOUNDS);
            for (number, (tenant, weight, is_removed)) in entries.into_iter().enumerate() {
                let (name, key) = (tenant.to_string(), (tenant, number));
                let weights = |shares: &TenantShares<_>| {
                    [0, 1, 2, 3, 4, 5].map(|one| shares.weight(&one.to_string()))
                };
                let before = weights(&shares);
                let dropped = shares.add(&name, key, weight);
                let mut after = weights(&shares);
                after[tenant] -= weight;
                let largest = after.into_iter().map(rank).max().unwrap_or_default();
                for (loser, _) in dropped {
                    prop_assert!(loser == tenant || rank(before[loser]) >= largest, "{loser}");
                }
                if is_removed {
                    shares.remove(&name, &key);
                }
                shares.audit();
                prop_assert!(shares.total() <= BOUNDS.all && shares.weight(&name) <= BOUNDS.tenant);
            }
            for tenant in 0..6 {
                shares.take(&tenant.to_string()).for_each(drop);
            }
            shares.audit();
            prop_assert_eq!(shares.total(), 0);
        }
    }

    /// Returns whether a flood of the tenant `flood` drops the one entry of `quiet`.
    fn flood_drops_another(flood: &str, quiet: &str) -> bool {
        let mut shares = TenantShares::new(ShareBounds { all: 100, tenant: 100 });
        let mut dropped = shares.add(quiet, 0, 1);
        (1..1_000).for_each(|key| dropped.extend(shares.add(flood, key, 1)));
        dropped.contains(&0)
    }

    #[test]
    fn a_flood_of_one_tenant_drops_nothing_of_another() {
        assert!(!flood_drops_another("flood", "quiet"));
        assert!(flood_drops_another("all", "all"), "the control must lose it");
    }
}
