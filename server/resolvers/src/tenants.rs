//! The resolvers of tenants in memory. One that no check needs for an hour is forgotten; the loader brings it back.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use portcullis_engine::ResolverRef;
use portcullis_model::resolver::ActivityRecord;
use uuid::Uuid;

use crate::active::RegistryEntry;
use crate::measurements::Statistics;

/// The time without a use after which a resolver is forgotten. A breaker that is open for the longest time is not
/// forgotten before its next probe.
const IDLE: Duration = Duration::from_hours(1);
/// The time for which a resolver that was used is spared while others were not used for as long.
const RECENT: Duration = Duration::from_mins(1);

/// Resolvers by tenant and id. Times are those since the start of the process.
#[derive(Debug, Default)]
pub(crate) struct TenantResolvers(RwLock<HashMap<String, HashMap<Uuid, Slot>>>);

#[derive(Debug)]
struct Slot {
    version: u64,
    entry: RegistryEntry,
    /// The calls of all versions.
    statistics: Arc<Statistics>,
    /// Milliseconds.
    last_use: AtomicU64,
}

impl Slot {
    /// Notes a use. Within a millisecond threads share no write.
    fn note_use(&self, now: Duration) {
        let now = milliseconds(now);
        if self.last_use.load(Ordering::Relaxed) != now {
            self.last_use.store(now, Ordering::Relaxed);
        }
    }

    /// Returns the time since the last use.
    fn idle(&self, now: Duration) -> Duration {
        let last_use = Duration::from_millis(self.last_use.load(Ordering::Relaxed));
        now.saturating_sub(last_use)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl TenantResolvers {
    /// Returns the version that `reference` names, or a later one: a later write is acknowledged, or is about to be. Notes
    /// the use.
    pub(crate) fn find(
        &self,
        tenant: &str,
        reference: ResolverRef,
        now: Duration,
    ) -> Option<RegistryEntry> {
        let tenants = self.0.read();
        let slot = tenants.get(tenant)?.get(&reference.id)?;
        (slot.version >= reference.version).then(|| {
            slot.note_use(now);
            slot.entry.clone()
        })
    }

    /// Returns whether [`TenantResolvers::find`] would find this version. Does not count as a use.
    pub(crate) fn has(&self, tenant: &str, reference: ResolverRef) -> bool {
        let tenants = self.0.read();
        let slot = tenants.get(tenant).and_then(|slots| slots.get(&reference.id));
        slot.is_some_and(|slot| slot.version >= reference.version)
    }

    /// Returns the resolver of this id in any version, and its measurements.
    pub(crate) fn get(&self, tenant: &str, id: Uuid) -> Option<(RegistryEntry, ActivityRecord)> {
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
        let all =
            tenants.iter().flat_map(|(tenant, slots)| slots.keys().map(|id| (tenant.clone(), *id)));
        all.collect()
    }

    /// Replaces the version before this one, unless a later one is known. The measurements continue.
    pub(crate) fn put(
        &self,
        tenant: &str,
        reference: ResolverRef,
        now: Duration,
        entry: impl FnOnce(Arc<Statistics>) -> RegistryEntry,
    ) {
        self.replace(
            tenant,
            reference,
            entry,
            // The same version counts, too: a load that failed may succeed later.
            |before| before.version <= reference.version,
            |_| milliseconds(now),
        );
    }

    /// Puts a version that cannot be loaded, as [`TenantResolvers::put`] does, unless this version is active. Another
    /// attempt is no use.
    pub(crate) fn fail(&self, tenant: &str, reference: ResolverRef, now: Duration, why: Arc<str>) {
        self.replace(
            tenant,
            reference,
            |_| RegistryEntry::Unavailable(why),
            |before| {
                let is_unavailable = matches!(before.entry, RegistryEntry::Unavailable(_));
                before.version < reference.version
                    || (before.version == reference.version && is_unavailable)
            },
            // A load that fails again and again is no use, so that the resolver is forgotten at last.
            |last_use| last_use.unwrap_or_else(|| milliseconds(now)),
        );
    }

    fn replace(
        &self,
        tenant: &str,
        reference: ResolverRef,
        entry: impl FnOnce(Arc<Statistics>) -> RegistryEntry,
        gives_way: impl FnOnce(&Slot) -> bool,
        last_use: impl FnOnce(Option<u64>) -> u64,
    ) {
        let mut tenants = self.0.write();
        let slots = tenants.entry(tenant.to_owned()).or_default();
        let before = slots.get(&reference.id);
        if !before.is_none_or(gives_way) {
            return;
        }
        let statistics = before.map(|before| Arc::clone(&before.statistics)).unwrap_or_default();
        let last_use = last_use(before.map(|before| before.last_use.load(Ordering::Relaxed)));
        let last_use = AtomicU64::new(last_use);
        let entry = entry(Arc::clone(&statistics));
        let slot = Slot { version: reference.version, entry, statistics, last_use };
        slots.insert(reference.id, slot);
    }

    /// Forgets the resolvers that nobody used for [`IDLE`].
    pub(crate) fn tidy(&self, now: Duration) {
        self.0.write().retain(|_, slots| {
            slots.retain(|_, slot| slot.idle(now) < IDLE);
            !slots.is_empty()
        });
    }

    /// Forgets the resolver that was not used for the longest time. If all were used of late, it is one of the tenant that
    /// has the most, so that no tenant pushes out the resolvers of others. Never forgets the resolver `kept` of
    /// `tenant`. Returns whether there was another one.
    pub(crate) fn forget_one(&self, tenant: &str, kept: Uuid, now: Duration) -> bool {
        let tenants = self.0.read();
        let all = tenants.iter().flat_map(|(owner, slots)| {
            slots.iter().map(move |(id, slot)| (owner, slots.len(), *id, slot.idle(now)))
        });
        let others = all.filter(|(owner, _, id, _)| (owner.as_str(), *id) != (tenant, kept));
        let first = others.min_by_key(|(_, count, _, idle)| {
            // `false` comes first: a recent use spares a resolver while there are others, and then the largest tenant gives way.
            let is_recent = *idle < RECENT;
            (is_recent, Reverse(if is_recent { *count } else { 0 }), Reverse(*idle))
        });
        let Some((owner, id)) = first.map(|(owner, _, id, _)| (owner.clone(), id)) else {
            return false;
        };
        // The lock for writing waits for the one for reading.
        drop(tenants);
        self.remove(&owner, id);
        true
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

    const START: Duration = Duration::ZERO;

    fn reference(id: u128, version: u64) -> ResolverRef {
        ResolverRef { id: Uuid::from_u128(id), version }
    }

    fn unavailable(_: Arc<Statistics>) -> RegistryEntry {
        RegistryEntry::Unavailable("is disabled".into())
    }

    #[test]
    fn removed_resolvers_leave_nothing_behind() {
        let resolvers = TenantResolvers::default();
        for number in 0..10_000 {
            let tenant = format!("tenant-{number}");
            for version in 1..4 {
                resolvers.fail(&tenant, reference(0, version), START, "cannot be loaded".into());
            }
            assert_eq!(resolvers.len(), 1, "one entry for all versions");
            resolvers.remove(&tenant, Uuid::nil());
        }
        assert!(resolvers.0.read().is_empty());
    }

    #[test]
    fn a_resolver_is_forgotten_when_nobody_used_it_for_an_hour() {
        let resolvers = TenantResolvers::default();
        for id in [1, 2, 3] {
            resolvers.put("acme", reference(id, 1), START, unavailable);
        }
        resolvers.fail("bolt", reference(4, 1), START, "cannot be loaded".into());
        let almost = IDLE - Duration::from_millis(1);
        resolvers.tidy(almost);
        assert_eq!(resolvers.len(), 4);
        assert!(resolvers.find("acme", reference(1, 1), almost).is_some(), "a use");
        resolvers.put("acme", reference(2, 2), almost, unavailable);
        assert!(resolvers.has("acme", reference(3, 1)), "no use");
        assert!(resolvers.get("acme", reference(3, 1).id).is_some(), "no use");
        resolvers.fail("bolt", reference(4, 1), almost, "cannot be loaded".into());
        resolvers.tidy(IDLE);
        let mut left: Vec<_> = resolvers.all().into_iter().map(|(_, id)| id.as_u128()).collect();
        left.sort_unstable();
        assert_eq!(left, [1, 2]);
        resolvers.tidy(almost + IDLE);
        assert!(resolvers.0.read().is_empty());
    }

    #[test]
    fn the_resolver_goes_that_was_not_used_for_the_longest_time() {
        let resolvers = TenantResolvers::default();
        let minutes = |count| Duration::from_mins(count);
        for (tenant, id, at) in
            [("acme", 1, 0), ("bolt", 2, 1), ("bolt", 3, 5), ("bolt", 4, 5), ("coil", 5, 5)]
        {
            resolvers.put(tenant, reference(id, 1), minutes(at), unavailable);
        }
        let now = minutes(5) + Duration::from_secs(30);
        resolvers.find("bolt", reference(3, 1), now);
        let goes = |kept: u128| {
            let before = resolvers.all();
            let is_gone = resolvers.forget_one("coil", Uuid::from_u128(kept), now);
            let after = resolvers.all();
            let gone = before.into_iter().find(|one| !after.contains(one));
            assert_eq!(is_gone, gone.is_some());
            gone.map(|(_, id)| id.as_u128())
        };
        assert_eq!([goes(5), goes(5)], [Some(1), Some(2)], "idle for more than a minute");
        assert_eq!(goes(5), Some(4), "of the tenant with the most, the one used least of late");
        assert_eq!([goes(5), goes(5)], [Some(3), None], "the kept one stays");
    }
}
