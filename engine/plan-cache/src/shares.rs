//! The shares of tenants: how many bytes the plans of each take, and which plan goes first.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use hashbrown::HashMap;

use crate::key::Key;

/// Bytes of a tenant in the cache without its plans: its share, its change log, and its name in three maps.
pub(crate) const TENANT_BYTES: u64 = 512;

/// The bytes of every tenant that has plans in memory. The tenant that takes the most loses its plans first.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    /// The bytes of all plans.
    plan_bytes: u64,
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
        self.plan_bytes + TENANT_BYTES * self.by_tenant.len() as u64
    }

    /// Returns whether a plan of `added` bytes, in the place of one of `replaced` bytes, leaves all tenants within `max_bytes`,
    /// and its own within an equal part of them.
    pub(crate) fn have_room(
        &self,
        tenant: &str,
        (replaced, added): (usize, usize),
        max_bytes: u64,
    ) -> bool {
        let own = self.by_tenant.get(tenant).map(|share| share.bytes);
        let tenants = self.by_tenant.len() as u64 + u64::from(own.is_none());
        let (replaced, added) = (replaced as u64, added as u64);
        // The replaced plan is counted in `plan_bytes`, so that this does not go below 0.
        let all = self.plan_bytes + added - replaced + TENANT_BYTES * tenants;
        all <= max_bytes && own.unwrap_or_default() + added - replaced <= max_bytes / tenants
    }

    /// Adds a plan of `added` bytes: at the end of the queue, or in the place of one of `replaced` bytes.
    pub(crate) fn add(&mut self, key: &Key, replaced: Option<usize>, added: usize) {
        self.sort(&key.tenant, |share| {
            share.bytes = share.bytes - replaced.unwrap_or_default() as u64 + added as u64;
            if replaced.is_none() {
                share.resources.push_back(Arc::clone(&key.resource));
            }
        });
    }

    /// Subtracts a plan of `removed` bytes.
    pub(crate) fn subtract(&mut self, tenant: &Arc<str>, removed: usize) {
        self.sort(tenant, |share| share.bytes -= removed as u64);
    }

    /// Returns the keys of the plans of a tenant.
    pub(crate) fn keys_of(&self, tenant: &str) -> Vec<Key> {
        let Some((tenant, share)) = self.by_tenant.get_key_value(tenant) else { return Vec::new() };
        let resources = share.resources.iter().cloned();
        resources.map(|resource| Key { tenant: Arc::clone(tenant), resource }).collect()
    }

    /// Takes the plan that goes next out of the queue of the largest tenant.
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

    /// Changes the share of a tenant, and moves the tenant to its new place. A tenant without plans has none.
    fn sort(&mut self, tenant: &Arc<str>, change: impl FnOnce(&mut Share)) {
        let share = self.by_tenant.entry(Arc::clone(tenant)).or_default();
        let before = share.bytes;
        change(share);
        let after = share.bytes;
        if before == after {
            return;
        }
        // The bytes of the tenant are a part of all, so the difference is never below 0.
        self.plan_bytes = self.plan_bytes - before + after;
        self.by_bytes.remove(&(before, Arc::clone(tenant)));
        if after > 0 {
            self.by_bytes.insert((after, Arc::clone(tenant)));
        } else {
            self.by_tenant.remove(tenant);
        }
    }
}
