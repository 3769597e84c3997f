//! The shares of tenants: how many bytes the plans of each take, and which plan goes first.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use hashbrown::HashMap;

use crate::key::Key;

/// Bytes of a tenant in the cache without its plans: its share, its change log, and its name in three maps.
pub(crate) const TENANT_BYTES: u64 = 512;

/// The bytes of every tenant that has plans in memory.
///
/// The tenant that takes the most bytes loses its plans first. So a tenant that floods the cache pushes out plans of its
/// own, and those of another tenant only while that tenant takes even more.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    bytes: u64,
    by_tenant: HashMap<Arc<str>, Share>,
    /// Every tenant, by its bytes.
    by_bytes: BTreeSet<(u64, Arc<str>)>,
}

#[derive(Debug, Default)]
struct Share {
    bytes: u64,
    /// The resources of the plans, each once. The first one is the next to go.
    resources: VecDeque<Arc<str>>,
}

impl Shares {
    /// Returns the bytes of all tenants.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Records that a plan of `added` bytes is kept, in place of one of `replaced` bytes.
    pub(crate) fn keep(&mut self, key: &Key, replaced: Option<u64>, added: u64) {
        let before = self.by_tenant.get(&key.tenant).map(|share| share.bytes);
        let share = self.by_tenant.entry(Arc::clone(&key.tenant)).or_default();
        if replaced.is_none() {
            share.resources.push_back(Arc::clone(&key.resource));
        }
        let kept = before.unwrap_or(TENANT_BYTES).saturating_sub(replaced.unwrap_or_default());
        share.bytes = kept + added;
        let after = share.bytes;
        self.sort(&key.tenant, before, Some(after));
    }

    /// Takes the plan that goes next out of the queue of the largest tenant. [`Shares::forget`] or
    /// [`Shares::postpone`] must follow.
    pub(crate) fn next(&mut self) -> Option<Key> {
        let (_, tenant) = self.by_bytes.last()?;
        let resource = self.by_tenant.get_mut(tenant)?.resources.pop_front()?;
        Some(Key { tenant: Arc::clone(tenant), resource })
    }

    /// Puts a plan that [`Shares::next`] gave at the end of the queue.
    pub(crate) fn postpone(&mut self, key: Key) {
        if let Some(share) = self.by_tenant.get_mut(&key.tenant) {
            share.resources.push_back(key.resource);
        }
    }

    /// Records that a plan that [`Shares::next`] gave, of `removed` bytes, is dropped.
    pub(crate) fn forget(&mut self, tenant: &Arc<str>, removed: u64) {
        let Some(share) = self.by_tenant.get_mut(tenant) else { return };
        let before = share.bytes;
        share.bytes = before.saturating_sub(removed);
        let after = (!share.resources.is_empty()).then_some(share.bytes);
        if after.is_none() {
            self.by_tenant.remove(tenant);
        }
        self.sort(tenant, Some(before), after);
    }

    /// Records that the bytes of a tenant changed.
    fn sort(&mut self, tenant: &Arc<str>, before: Option<u64>, after: Option<u64>) {
        if let Some(before) = before {
            self.by_bytes.remove(&(before, Arc::clone(tenant)));
        }
        if let Some(after) = after {
            self.by_bytes.insert((after, Arc::clone(tenant)));
        }
        self.bytes =
            self.bytes.saturating_sub(before.unwrap_or_default()) + after.unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(tenant: &str, resource: &str) -> Key {
        Key { tenant: tenant.into(), resource: resource.into() }
    }

    #[test]
    fn the_largest_tenant_loses_its_oldest_plan() {
        let mut shares = Shares::default();
        shares.keep(&key("small", "a"), None, 90);
        shares.keep(&key("large", "a"), None, 60);
        shares.keep(&key("large", "b"), None, 60);
        assert_eq!(shares.bytes(), 210 + 2 * TENANT_BYTES);
        assert_eq!(shares.next(), Some(key("large", "a")));
        shares.postpone(key("large", "a"));
        assert_eq!(shares.next(), Some(key("large", "b")));
        shares.forget(&"large".into(), 60);
        assert_eq!(shares.next(), Some(key("small", "a")), "it is the largest now");
        shares.forget(&"small".into(), 90);
        assert_eq!(shares.next(), Some(key("large", "a")));
        shares.forget(&"large".into(), 60);
        assert_eq!((shares.next(), shares.bytes()), (None, 0));
        assert!(shares.by_tenant.is_empty() && shares.by_bytes.is_empty());
    }

    #[test]
    fn a_plan_that_is_replaced_keeps_its_place_and_counts_once() {
        let mut shares = Shares::default();
        for (resource, replaced, added) in [("a", None, 10), ("b", None, 10), ("a", Some(10), 30)] {
            shares.keep(&key("acme", resource), replaced, added);
        }
        assert_eq!(shares.bytes(), 40 + TENANT_BYTES);
        assert_eq!(shares.next(), Some(key("acme", "a")));
        shares.forget(&"acme".into(), 30);
        assert_eq!(shares.bytes(), 10 + TENANT_BYTES);
    }
}
