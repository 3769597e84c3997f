//! Compares the resolvers in memory with the store where something changed: loads their new versions before a check needs
//! them, loads again those that failed, and removes those that are deleted. At the start it loads those that changed last;
//! the others are loaded when they are first needed, and forgotten when nobody needs them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt as _, stream};
use portcullis_engine::ResolverRef;
use portcullis_model::clock::Clock;
use portcullis_resolver_host::Digest;
use portcullis_storage::resolver_locations::{self, ResolverLocation};
use portcullis_storage::{Store, StoreError, resolvers};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::changed::{ChangedTenants, Scope};
use crate::loader::Loader;
use crate::registry::Registry;
use crate::status::Availability;

/// The pause between two rounds. A failed load is not tried again before the next round.
const INTERVAL: Duration = Duration::from_secs(5);
/// The number of tenants whose resolvers are loaded at the same time.
const TENANTS: usize = 8;
/// The longest wait for a load. It continues after that, and the round goes on with other tenants.
const PATIENCE: Duration = Duration::from_secs(5);
/// Rounds between two removals of unused compiled code: 5 minutes.
const SWEEP_ROUNDS: u64 = 60;
/// Compiled code that is younger can belong to a module that a request is about to store.
const SWEEP_AGE: Duration = Duration::from_mins(10);
/// Most resolvers that are loaded at the start.
const MAX_AT_START: u32 = 256;
/// After this number of failed loads the pause between them stays the same: 5 minutes.
const MAX_DOUBLINGS: u32 = 6;

/// Compares the registry with the store, and repairs the difference.
#[derive(Debug)]
pub(crate) struct Reconciler {
    registry: Arc<Registry>,
    loader: Arc<Loader>,
    store: Store,
    clock: Clock,
    changed: Arc<ChangedTenants>,
    failed: FailedLoads,
}

/// The tenants and ids of resolvers.
type Located<'r> = HashSet<(&'r str, Uuid)>;

/// The loads that failed.
#[derive(Debug, Default)]
struct FailedLoads(HashMap<(String, ResolverRef), Retry>);

/// The next attempt of a failed load.
#[derive(Debug, Default)]
struct Retry {
    failures: u32,
    /// Rounds until the next attempt.
    wait: u32,
}

impl FailedLoads {
    /// Counts a round for this load, and returns whether it is due.
    fn is_due(&mut self, place: &ResolverLocation) -> bool {
        let Some(retry) = self.0.get_mut(&key(place)) else { return true };
        retry.wait = retry.wait.saturating_sub(1);
        retry.wait == 0
    }

    fn note(&mut self, place: &ResolverLocation) {
        let retry = self.0.entry(key(place)).or_default();
        retry.wait = 1 << retry.failures.min(MAX_DOUBLINGS);
        retry.failures += 1;
    }

    /// Returns the tenants.
    fn tenants(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|(tenant, _)| &**tenant)
    }

    fn retain(&mut self, still: impl Fn(&str, ResolverRef) -> bool) {
        self.0.retain(|(tenant, reference), _| still(tenant, *reference));
    }
}

fn key(place: &ResolverLocation) -> (String, ResolverRef) {
    (place.tenant.clone(), place.reference)
}

impl Reconciler {
    pub(crate) fn new(
        registry: Arc<Registry>,
        loader: Arc<Loader>,
        store: Store,
        clock: Clock,
        changed: Arc<ChangedTenants>,
    ) -> Self {
        Self { registry, loader, store, clock, changed, failed: FailedLoads::default() }
    }

    /// Reconciles for as long as the process runs.
    pub(crate) async fn run(mut self) {
        if let Err(error) = self.warm_up().await {
            tracing::warn!(%error, "cannot read the resolvers that changed last");
        }
        for round in 0_u64.. {
            self.registry.tenants.tidy(self.registry.runtime.now());
            if let Err(error) = self.reconcile().await {
                tracing::warn!(%error, "cannot read the resolvers");
                // The round has taken the tenants that changed, and they must not be lost.
                self.changed.note_everything();
            }
            if round % SWEEP_ROUNDS == 0
                && let Err(error) = self.sweep_code().await
            {
                tracing::warn!(%error, "cannot read the modules of resolvers");
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Loads the resolvers that changed last. The others are loaded when they are needed.
    async fn warm_up(&mut self) -> Result<(), StoreError> {
        let latest =
            self.store.read_all(async |tx| resolver_locations::latest(tx, MAX_AT_START).await);
        let latest = latest.await?;
        self.load(latest.iter().collect()).await;
        Ok(())
    }

    async fn reconcile(&mut self) -> Result<(), StoreError> {
        // Memory is read before the store: a resolver that is created in between is in neither, and stays.
        let in_memory = self.registry.tenants.all();
        let mut in_memory: Located<'_> =
            in_memory.iter().map(|(tenant, id)| (&**tenant, *id)).collect();
        // Loads that failed are tried again, until nobody needs the resolver any more.
        self.failed.retain(|tenant, reference| in_memory.contains(&(tenant, reference.id)));
        // Before `take`, so that this round looks at them.
        self.changed.note(self.failed.tenants());
        let scope = self.changed.take();
        in_memory.retain(|(tenant, _)| scope.covers(tenant));
        if in_memory.is_empty() {
            return Ok(());
        }
        let tenants: HashSet<&str> = in_memory.iter().map(|(tenant, _)| *tenant).collect();
        let stored =
            self.store.read_all(async |tx| resolver_locations::for_tenants(tx, tenants).await);
        let stored = stored.await?;
        self.remove_deleted(&in_memory, &stored);
        self.load_missing(&scope, &in_memory, &stored).await;
        Ok(())
    }

    fn remove_deleted(&self, in_memory: &Located<'_>, stored: &[ResolverLocation]) {
        let stored: Located<'_> =
            stored.iter().map(|place| (&*place.tenant, place.reference.id)).collect();
        for (tenant, id) in in_memory.difference(&stored) {
            self.registry.tenants.remove(tenant, *id);
        }
    }

    async fn load_missing(
        &mut self,
        scope: &Scope,
        in_memory: &Located<'_>,
        stored: &[ResolverLocation],
    ) {
        let registry = &self.registry;
        self.failed.retain(|tenant, reference| {
            // Nothing was read about the others.
            !scope.covers(tenant)
                || (stored.iter().any(|own| own.tenant == tenant && own.reference == reference)
                    && !is_active(registry, tenant, reference))
        });
        let needed = stored.iter().filter(|place| {
            place.enabled && in_memory.contains(&(&*place.tenant, place.reference.id))
        });
        let missing = needed.filter(|place| !is_active(registry, &place.tenant, place.reference));
        let due = missing.filter(|place| self.failed.is_due(place)).collect();
        self.load(due).await;
    }

    /// Loads resolvers, and notes which of them cannot be loaded.
    async fn load(&mut self, due: Vec<&ResolverLocation>) {
        let (registry, loader) = (&self.registry, &self.loader);
        let mut by_tenant: BTreeMap<&str, Vec<&ResolverLocation>> = BTreeMap::new();
        for place in &due {
            by_tenant.entry(&place.tenant).or_default().push(place);
        }
        // Several tenants at once, and each waits only a while: a slow module does not delay the others.
        let loads: Vec<_> =
            by_tenant.into_values().map(|places| load_in_time(loader, places)).collect();
        for place in stream::iter(loads).buffer_unordered(TENANTS).concat().await {
            if !is_active(registry, &place.tenant, place.reference) {
                self.failed.note(place);
            }
        }
        // A load that still runs may fail after the round.
        let inactive =
            due.iter().filter(|place| !is_active(registry, &place.tenant, place.reference));
        self.changed.note(inactive.map(|place| &*place.tenant));
    }

    /// Removes compiled code that no module needs: failed requests, other replicas and crashes leave it behind.
    async fn sweep_code(&self) -> Result<(), StoreError> {
        let before = SystemTime::from(self.clock.now()) - SWEEP_AGE;
        let stored = self.store.read_all(async |tx| resolvers::modules(tx).await).await?;
        let stored = stored.iter().filter_map(|sha256| Digest::parse(sha256)).collect();
        self.registry.sweep_code(stored, before).await;
        Ok(())
    }
}

/// Loads resolvers of one tenant, one after the other, for as long as a round waits for a tenant. Returns those whose load
/// ended. A load that still runs did not fail.
async fn load_in_time<'p>(
    loader: &Arc<Loader>,
    places: Vec<&'p ResolverLocation>,
) -> Vec<&'p ResolverLocation> {
    let (deadline, mut ended) = (Instant::now() + PATIENCE, Vec::new());
    for place in places {
        let load = loader.load(&place.tenant, place.reference);
        if timeout_at(deadline, load.finished()).await.is_err() {
            break;
        }
        ended.push(place);
    }
    ended
}

fn is_active(registry: &Registry, tenant: &str, reference: ResolverRef) -> bool {
    let status = registry.status(tenant, reference.id);
    registry.tenants.has(tenant, reference)
        && status.is_some_and(|status| matches!(status.availability, Availability::Active(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_goes_on_failing_is_tried_less_and_less_often() {
        let reference = ResolverRef { id: Uuid::nil(), version: 1 };
        let place = ResolverLocation { tenant: "acme".to_owned(), reference, enabled: true };
        let mut failed = FailedLoads::default();
        let mut tried = Vec::new();
        for round in 0..400 {
            if failed.is_due(&place) {
                tried.push(round);
                failed.note(&place);
            }
        }
        assert_eq!(tried, [0, 1, 3, 7, 15, 31, 63, 127, 191, 255, 319, 383]);
        let changed = ResolverLocation {
            reference: ResolverRef { version: 2, ..reference },
            tenant: place.tenant.clone(),
            enabled: true,
        };
        assert!(failed.is_due(&changed), "another version may do better");
        failed.retain(|_, _| false);
        assert!(failed.is_due(&place));
    }
}
