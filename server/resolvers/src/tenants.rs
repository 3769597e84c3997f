//! The resolvers of tenants in memory.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use portcullis_engine::ResolverRef;
use uuid::Uuid;

use crate::entry::Entry;
use crate::measurements::{Measurements, Statistics};

/// Resolvers by tenant and id.
#[derive(Debug, Default)]
pub(crate) struct TenantResolvers(RwLock<HashMap<String, HashMap<Uuid, Slot>>>);

#[derive(Debug)]
struct Slot {
    version: u64,
    entry: Entry,
    /// The calls of all versions.
    statistics: Arc<Statistics>,
}

impl TenantResolvers {
    /// Returns the version that `reference` names, or a later one: a later write is acknowledged, or is about to be.
    pub(crate) fn find(&self, tenant: &str, reference: ResolverRef) -> Option<Entry> {
        let tenants = self.0.read();
        let slot = tenants.get(tenant)?.get(&reference.id)?;
        (slot.version >= reference.version).then(|| slot.entry.clone())
    }

    /// Returns the resolver of this id in any version, and its measurements.
    pub(crate) fn get(&self, tenant: &str, id: Uuid) -> Option<(Entry, Measurements)> {
        let tenants = self.0.read();
        let slot = tenants.get(tenant)?.get(&id)?;
        Some((slot.entry.clone(), slot.statistics.measurements()))
    }

    /// Returns the number of resolvers.
    pub(crate) fn len(&self) -> usize {
        self.0.read().values().map(HashMap::len).sum()
    }

    /// Returns the tenant and the id of every resolver.
    pub(crate) fn all(&self) -> Vec<(String, Uuid)> {
        let tenants = self.0.read();
        let of = |(tenant, slots): (&String, &HashMap<Uuid, Slot>)| {
            slots.keys().map(|id| (tenant.clone(), *id)).collect::<Vec<_>>()
        };
        tenants.iter().flat_map(of).collect()
    }

    /// Replaces the version before this one, unless a later one is known. The measurements continue.
    pub(crate) fn put(
        &self,
        tenant: &str,
        reference: ResolverRef,
        entry: impl FnOnce(Arc<Statistics>) -> Entry,
    ) {
        self.replace(tenant, reference, entry, |before| before.version <= reference.version);
    }

    /// Puts a version that cannot be loaded, as [`TenantResolvers::put`] does, unless this version is active.
    pub(crate) fn fail(&self, tenant: &str, reference: ResolverRef, why: Arc<str>) {
        self.replace(
            tenant,
            reference,
            |_| Entry::Unavailable(why),
            |before| {
                let is_unavailable = matches!(before.entry, Entry::Unavailable(_));
                before.version < reference.version
                    || (before.version == reference.version && is_unavailable)
            },
        );
    }

    fn replace(
        &self,
        tenant: &str,
        reference: ResolverRef,
        entry: impl FnOnce(Arc<Statistics>) -> Entry,
        gives_way: impl FnOnce(&Slot) -> bool,
    ) {
        let mut tenants = self.0.write();
        let slots = tenants.entry(tenant.to_owned()).or_default();
        let before = slots.get(&reference.id);
        if !before.is_none_or(gives_way) {
            return;
        }
        let statistics = before.map(|before| Arc::clone(&before.statistics)).unwrap_or_default();
        let entry = entry(Arc::clone(&statistics));
        let slot = Slot { version: reference.version, entry, statistics };
        slots.insert(reference.id, slot);
    }

    /// Removes a resolver. Calls in flight finish.
    pub(crate) fn remove(&self, tenant: &str, id: Uuid) {
        let mut tenants = self.0.write();
        if let Some(slots) = tenants.get_mut(tenant) {
            slots.remove(&id);
            if slots.is_empty() {
                tenants.remove(tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_resolvers_leave_nothing_behind() {
        let resolvers = TenantResolvers::default();
        let reference = |version| ResolverRef { id: Uuid::nil(), version };
        for number in 0..10_000 {
            let tenant = format!("tenant-{number}");
            for version in 1..4 {
                resolvers.fail(&tenant, reference(version), "cannot be loaded".into());
            }
            assert_eq!(resolvers.len(), 1, "one entry for all versions");
            resolvers.remove(&tenant, Uuid::nil());
        }
        assert!(resolvers.0.read().is_empty());
    }
}
