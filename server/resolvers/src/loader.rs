//! Loads resolvers that are in the store and not in memory: after a start of the service, because another replica wrote
//! them, or because they were forgotten when nobody used them.
//!
//! A check waits for the load of a resolver no longer than for an answer of it. All checks that wait for the same
//! resolver wait for one load, which continues when no check waits. A resolver whose load failed has the cause in its
//! record and in each explanation until the reconciler loads it again.
//!
//! A load holds the bytes of a module, and may wait for the compiler. So each tenant has one at a time, and a tenant with
//! many modules, or with one that takes long, does not delay the loads of others.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use portcullis_engine::ResolverRef;
use portcullis_fairness::{TurnLimits, TurnQueue};
use portcullis_model::resolver::StoredResolver;
use portcullis_resolver_host::{Digest, Module};
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::{Store, StoreError, resolvers};
use tokio::sync::watch;
use uuid::Uuid;

use crate::binding::Binding;
use crate::changed::ChangedTenants;
use crate::failure::LoadFailure;
use crate::registry::{DISABLED, Registry};
use crate::secrets;
use crate::single_flight::{Flight, SingleFlight};
use crate::status::Availability;

/// Most modules that are being loaded at a time. Each may hold 16 MiB, and the code that is compiled from it.
const LOADS: usize = 8;
/// The number of times that a load starts again because a request replaced the module in between.
const ATTEMPTS: usize = 3;

/// Loads resolvers from the store into the registry.
#[derive(Debug)]
pub(crate) struct Loader {
    registry: Arc<Registry>,
    store: Store,
    /// Decrypts the secrets of resolvers.
    keys: KeyRing,
    loads: SingleFlight<Key, (), Duration>,
    turns: TurnQueue,
    /// Learns of the tenants of failed loads, so that the reconciler repeats them.
    changed: Arc<ChangedTenants>,
}

/// The error for a resolver whose module is not in the store.
const MISSING: StoreError = StoreError::Corrupt { what: "resolvers.sha256" };

/// A tenant and the version of one of its resolvers.
type Key = (String, ResolverRef);

/// A load of a resolver. Its note is the time limit of the resolver's calls.
pub(crate) type Load = Flight<(), Duration>;

impl Loader {
    pub(crate) fn new(
        registry: Arc<Registry>,
        store: Store,
        keys: KeyRing,
        changed: Arc<ChangedTenants>,
    ) -> Self {
        let turns = TurnLimits { at_once: LOADS, per_tenant: 1, ..TurnLimits::NONE };
        let (loads, turns) = (SingleFlight::default(), TurnQueue::new(turns));
        Self { registry, store, keys, loads, turns, changed }
    }

    /// Loads a resolver unless it is in memory. Waits until it is, or for as long as one of its calls may take.
    pub(crate) async fn wait_for(self: &Arc<Self>, tenant: &str, reference: ResolverRef) {
        if self.registry.tenants.has(tenant, reference) {
            return;
        }
        let load = self.load(tenant, reference);
        let mut noted = load.clone();
        let limit = tokio::select! {
            // A load that fails early ends without a note.
            _ = load.finished() => return,
            limit = noted.note() => limit,
        };
        if let Some(limit) = limit {
            // If it takes longer, the registry lacks the version, and the check is told that the resolver is still loading.
            let _ = tokio::time::timeout(limit, load.finished()).await;
        }
    }

    /// Begins to load a resolver, unless a load of it is under way, and returns the load.
    pub(crate) fn load(self: &Arc<Self>, tenant: &str, reference: ResolverRef) -> Load {
        let (loader, owner) = (Arc::clone(self), tenant.to_owned());
        self.loads.begin(
            (tenant.to_owned(), reference),
            |limit| async move { loader.load_now(&owner, reference, &limit).await },
            // What was loaded is in the registry, and what failed is tried again.
            |_, _| false,
        )
    }

    /// Returns the number of loads in memory: those under way, and those that ended since the last one began.
    pub(crate) fn entries(&self) -> usize {
        self.loads.len()
    }

    async fn load_now(
        &self,
        tenant: &str,
        reference: ResolverRef,
        limit: &watch::Sender<Option<Duration>>,
    ) {
        let registry = &self.registry;
        match self.bind(tenant, reference.id, Some(limit)).await {
            Ok(Some((stored, binding))) if stored.enabled => {
                // The stored version may be a later one than was asked for.
                registry.activate(tenant, stored.reference(), binding);
            }
            Ok(Some((stored, _))) => registry.suspend(tenant, stored.reference(), DISABLED),
            Ok(None) => registry.suspend(tenant, reference, "is deleted"),
            Err(failure) => {
                let why = format!("could not be loaded: {failure}");
                // While the process stops, the database is closed, which is not worth a line in the log.
                let is_stopping =
                    matches!(&failure, LoadFailure::Store(error) if error.is_closed());
                if !is_stopping && !self.is_known_to_fail(tenant, reference, &why) {
                    let cause = failure.source().map(tracing::field::display);
                    tracing::error!(error = %failure, cause, id = %reference.id, "cannot load a resolver");
                }
                registry.fail(tenant, reference, &why);
                self.changed.note([tenant]);
            }
        }
    }

    /// Whether the last load failed in the same way, so that the log has the cause.
    fn is_known_to_fail(&self, tenant: &str, reference: ResolverRef, why: &str) -> bool {
        let status = self.registry.status(tenant, reference.id);
        self.registry.tenants.has(tenant, reference)
            && status
                .is_some_and(|status| status.availability == Availability::Unavailable(why.into()))
    }

    /// Binds the stored resolver of this id, and notes in `limit` how long its calls may take. Returns `None` if the tenant
    /// has no such resolver.
    pub(crate) async fn bind(
        &self,
        tenant: &str,
        id: Uuid,
        limit: Option<&watch::Sender<Option<Duration>>>,
    ) -> Result<Option<(StoredResolver, Binding)>, LoadFailure> {
        for _ in 0..ATTEMPTS {
            let mut tx = self.store.begin_read(tenant).await?;
            let Some(stored) = resolvers::find(&mut tx, id).await? else { return Ok(None) };
            if let Some(limit) = limit {
                // Nobody may be waiting, so a send could fail.
                limit.send_replace(Some(stored.manifest.limits.timeout));
            }
            let encrypted = resolvers::secrets(&mut tx, id).await?.unwrap_or_default();
            tx.end().await?;
            let Some(module) = self.module_of_stored(tenant, &stored).await? else { continue };
            let secrets = secrets::decrypt(&self.keys, &stored, &encrypted)?;
            let manifest = stored.manifest.clone().with_secrets(secrets);
            let binding = self.registry.runtime.bind(tenant, module, &manifest)?;
            return Ok(Some((stored, binding)));
        }
        Err(MISSING.into())
    }

    /// Returns the module of the stored resolver of this id, or `None` if the tenant has no such resolver.
    pub(crate) async fn module(
        &self,
        tenant: &str,
        id: Uuid,
    ) -> Result<Option<Arc<Module>>, LoadFailure> {
        for _ in 0..ATTEMPTS {
            let mut tx = self.store.begin_read(tenant).await?;
            let Some(stored) = resolvers::find(&mut tx, id).await? else { return Ok(None) };
            tx.end().await?;
            if let Some(module) = self.module_of_stored(tenant, &stored).await? {
                return Ok(Some(module));
            }
        }
        Err(MISSING.into())
    }

    /// Returns the module of `stored`: from memory if it is there, otherwise from the store. Returns `None` if the store
    /// no longer has it, because a request replaced it.
    async fn module_of_stored(
        &self,
        tenant: &str,
        stored: &StoredResolver,
    ) -> Result<Option<Arc<Module>>, LoadFailure> {
        let sha256 = &stored.module.sha256;
        if let Some(module) = self.module_in_memory(sha256) {
            return Ok(Some(module));
        }
        // No transaction stays open while this waits for its turn or for the compilation.
        let _turn = self.turns.begin_patiently(tenant).await;
        // Another load may have brought it meanwhile.
        if let Some(module) = self.module_in_memory(sha256) {
            return Ok(Some(module));
        }
        let bytes = self.store.read(tenant, async |tx| resolvers::module(tx, sha256).await).await?;
        let Some(bytes) = bytes else { return Ok(None) };
        Ok(Some(self.registry.runtime.admit(tenant, bytes.into()).await?))
    }

    fn module_in_memory(&self, sha256: &str) -> Option<Arc<Module>> {
        self.registry.runtime.admitted(&Digest::parse(sha256)?)
    }
}
