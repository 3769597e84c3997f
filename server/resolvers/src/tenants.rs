//! The resolvers that tenants have in this process.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use portcullis_engine::ResolverRef;
use uuid::Uuid;

use super::live::Live;
use super::statistics::{Figures, Statistics};

/// Resolvers by tenant and id.
#[derive(Debug, Default)]
pub(super) struct Tenants(RwLock<HashMap<String, HashMap<Uuid, Slot>>>);

#[derive(Debug)]
struct Slot {
    version: u64,
    state: State,
    /// Of all versions.
    statistics: Arc<Statistics>,
}

/// Whether a resolver can be asked.
#[derive(Clone, Debug)]
pub(super) enum State {
    Live(Arc<Live>),
    /// It cannot; completes "resolver `geo` …".
    Idle(Arc<str>),
}

impl Tenants {
    /// The resolver that `reference` means, or a later version of it: what was written since is acknowledged, or is
    /// about to be.
    pub(super) fn find(&self, tenant: &str, reference: ResolverRef) -> Option<State> {
        let tenants = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let slot = tenants.get(tenant)?.get(&reference.id)?;
        (slot.version >= reference.version).then(|| slot.state.clone())
    }

    /// The resolver of this id, in whatever version, and its figures.
    pub(super) fn get(&self, tenant: &str, id: Uuid) -> Option<(State, Figures)> {
        let tenants = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let slot = tenants.get(tenant)?.get(&id)?;
        Some((slot.state.clone(), slot.statistics.figures()))
    }

    /// Every one, by tenant and id.
    pub(super) fn all(&self) -> Vec<(String, Uuid)> {
        let tenants = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let of = |(tenant, slots): (&String, &HashMap<Uuid, Slot>)| {
            slots.keys().map(|id| (tenant.clone(), *id)).collect::<Vec<_>>()
        };
        tenants.iter().flat_map(of).collect()
    }

    /// Puts a version in the place of the one before it, whose figures it goes on with, unless a later one is there.
    pub(super) fn put(
        &self,
        tenant: &str,
        reference: ResolverRef,
        state: impl FnOnce(Arc<Statistics>) -> State,
    ) {
        self.replace(tenant, reference, state, |before| before.version <= reference.version);
    }

    /// Puts a version that cannot be loaded, as [`Tenants::put`] does, unless the same one is live.
    pub(super) fn fail(&self, tenant: &str, reference: ResolverRef, why: Arc<str>) {
        self.replace(
            tenant,
            reference,
            |_| State::Idle(why),
            |before| {
                let is_idle = matches!(before.state, State::Idle(_));
                before.version < reference.version
                    || (before.version == reference.version && is_idle)
            },
        );
    }

    fn replace(
        &self,
        tenant: &str,
        reference: ResolverRef,
        state: impl FnOnce(Arc<Statistics>) -> State,
        gives_way: impl FnOnce(&Slot) -> bool,
    ) {
        let mut tenants = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let slots = tenants.entry(tenant.to_owned()).or_default();
        let before = slots.get(&reference.id);
        if !before.is_none_or(gives_way) {
            return;
        }
        let statistics = before.map(|before| Arc::clone(&before.statistics)).unwrap_or_default();
        let state = state(Arc::clone(&statistics));
        let slot = Slot { version: reference.version, state, statistics };
        slots.insert(reference.id, slot);
    }

    /// Forgets a resolver. Calls in flight finish.
    pub(super) fn remove(&self, tenant: &str, id: Uuid) {
        let mut tenants = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(slots) = tenants.get_mut(tenant) {
            slots.remove(&id);
            if slots.is_empty() {
                tenants.remove(tenant);
            }
        }
    }
}
