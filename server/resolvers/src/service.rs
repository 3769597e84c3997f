//! The service of attribute resolvers, which the rest of the server calls.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::join_all;
use portcullis_engine::{AttributeRequest, Check, ResolverRef};
use portcullis_model::clock::Clock;
use portcullis_model::resolver::{Manifest, ResolverRecord, StoredResolver};
use portcullis_resolver_host::{CallOutcome, Digest, Module, WantedAttributes};
use portcullis_storage::encryption::KeyRing;
use portcullis_storage::{Store, StoreError, resolvers};
use uuid::Uuid;

use crate::admissions::{Admissions, Admitted};
use crate::binding::{Binding, BindingError};
use crate::changed::ChangedTenants;
use crate::common_inputs::{CommonAnswers, OpenCheck, ask_all};
use crate::failure::LoadFailure;
use crate::loader::Loader;
use crate::operator::OperatorResolver;
use crate::reconciler::Reconciler;
use crate::registry::{CacheMode, DISABLED, Registry};
use crate::report::Asked;
use crate::status_records;

/// The attribute resolvers of this process. Cheap to clone.
///
/// A check that asks resolvers never fails because of them: a cause takes the place of an answer.
#[derive(Clone, Debug)]
pub struct ResolverService(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    registry: Arc<Registry>,
    loader: Arc<Loader>,
    admissions: Admissions,
    store: Store,
    clock: Clock,
    changed: Arc<ChangedTenants>,
}

impl ResolverService {
    /// Returns a service that loads resolvers from `store` into `registry`, and decrypts their secrets by `keys`.
    pub fn new(registry: Registry, store: Store, keys: KeyRing, clock: Clock) -> Self {
        let registry = Arc::new(registry);
        let (admissions, changed) = (Admissions::default(), Arc::default());
        let loader = Loader::new(Arc::clone(&registry), store.clone(), keys, Arc::clone(&changed));
        let loader = Arc::new(loader);
        Self(Arc::new(Parts { registry, loader, admissions, store, clock, changed }))
    }

    /// Returns the number of entries of each map in memory, for metrics.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let Parts { registry, loader, admissions, .. } = &*self.0;
        let own =
            [("resolver_loads", loader.entries()), ("resolver_admissions", admissions.entries())];
        registry.entries().chain(own)
    }

    /// Answers the attribute requests of `check`. Resolvers that are not in memory are loaded first.
    pub async fn ask(
        &self,
        tenant: &str,
        check: &Check<'_>,
        asks: &[AttributeRequest],
        mode: CacheMode,
    ) -> Asked {
        self.load_all(tenant, asks.iter().filter_map(|ask| ask.resolver)).await;
        self.0.registry.ask(tenant, check, asks, mode).await
    }

    /// Answers the attribute requests of many checks of one tenant. Each resolver is asked once for all
    /// requests with the same inputs.
    pub async fn ask_all(&self, tenant: &str, checks: &[OpenCheck<'_>]) -> CommonAnswers {
        let asks = checks.iter().flat_map(|open| &open.requests);
        let references: HashSet<_> = asks.filter_map(|ask| ask.resolver).collect();
        self.load_all(tenant, references).await;
        ask_all(&self.0.registry, tenant, checks).await
    }

    /// Returns the inputs that the resolver of a request declares; none if it cannot be called. It is loaded first if it is
    /// not in memory.
    pub async fn declared_inputs(&self, tenant: &str, ask: &AttributeRequest) -> Vec<String> {
        self.load_all(tenant, ask.resolver).await;
        self.0.registry.declared_inputs(tenant, ask)
    }

    /// Loads the resolvers of `references` that are not in memory, or waits for as long as one of their calls may take.
    async fn load_all(&self, tenant: &str, references: impl IntoIterator<Item = ResolverRef>) {
        let loads = references.into_iter().map(|one| self.0.loader.wait_for(tenant, one));
        join_all(loads).await;
    }

    /// Admits a module for `tenant`. The admission continues when the future is dropped.
    pub async fn admit(&self, tenant: &str, bytes: Bytes) -> Admitted {
        self.0.admissions.admit(&self.0.registry, tenant, bytes).await
    }

    /// Grants a module what `manifest` has for it, for calls on behalf of `tenant`.
    pub fn bind(
        &self,
        tenant: &str,
        module: Arc<Module>,
        manifest: &Manifest,
    ) -> Result<Binding, BindingError> {
        self.0.registry.runtime.bind(tenant, module, manifest)
    }

    /// Makes a stored version of a tenant's resolver the active one.
    pub fn activate(&self, tenant: &str, reference: ResolverRef, binding: Binding) {
        self.0.registry.activate(tenant, reference, binding);
    }

    /// Disables a tenant's resolver. Calls in flight finish.
    pub fn disable(&self, tenant: &str, reference: ResolverRef) {
        self.0.registry.suspend(tenant, reference, DISABLED);
    }

    /// Removes a deleted resolver from memory. Calls in flight finish.
    pub fn remove(&self, tenant: &str, id: Uuid) {
        self.0.registry.tenants.remove(tenant, id);
    }

    /// Deletes the compiled code of a module that was taken from a resolver, unless another resolver has it.
    pub async fn forget_module(&self, sha256: &str) {
        // If the store fails, the code stays and takes space until the reconciler removes it.
        if let (Ok(false), Some(digest)) =
            (self.is_module_stored(sha256).await, Digest::parse(sha256))
        {
            self.0.registry.forget_code(&digest);
        }
    }

    async fn is_module_stored(&self, sha256: &str) -> Result<bool, StoreError> {
        self.0.store.read_all(async |tx| resolvers::is_module_used(tx, sha256).await).await
    }

    /// Returns the stored resolver of this id with its own binding, or `None` if the tenant has no such resolver.
    pub async fn load(
        &self,
        tenant: &str,
        id: Uuid,
    ) -> Result<Option<(StoredResolver, Binding)>, LoadFailure> {
        self.0.loader.bind(tenant, id, None).await
    }

    /// Returns the module of the stored resolver of this id, or `None` if the tenant has no such resolver.
    pub async fn module(&self, tenant: &str, id: Uuid) -> Result<Option<Arc<Module>>, LoadFailure> {
        self.0.loader.module(tenant, id).await
    }

    /// Calls a resolver, past the cache and the circuit breaker.
    pub async fn try_out(&self, binding: &Binding, wanted: WantedAttributes<'_>) -> CallOutcome {
        self.0.registry.runtime.try_out(binding, wanted).await
    }

    /// Returns the record of a tenant's resolver, with its status in this process. If the resolver is not in memory, its
    /// load begins, so that a later record says whether it can be loaded.
    pub fn record(&self, stored: StoredResolver) -> ResolverRecord {
        let (tenant, reference) = (&stored.tenant_id, stored.reference());
        if stored.enabled && !self.0.registry.tenants.has(tenant, reference) {
            // It runs in its own task. Nobody waits for it here.
            drop(self.0.loader.load(tenant, reference));
        }
        let status = status_records::for_tenant(&self.0.registry, &stored);
        ResolverRecord::for_tenant(stored, status)
    }

    /// Returns the records of the operator resolvers as `tenant` sees them, ordered by id.
    pub fn operator_records(&self, tenant: &str) -> Vec<ResolverRecord> {
        status_records::operator_records(&self.0.registry, tenant)
    }

    /// Returns every operator resolver, ordered by namespace.
    pub fn operator_resolvers(&self) -> Vec<OperatorResolver> {
        self.0.registry.operator.all()
    }

    /// Reads the directory of the operator resolvers once, and applies the changes.
    pub async fn refresh_operator_resolvers(&self) {
        let registry = &self.0.registry;
        registry.operator.refresh(&registry.runtime).await;
    }

    /// Applies changes of the directory of the operator resolvers for as long as the process runs.
    pub async fn watch_operator_resolvers(&self) {
        let registry = &self.0.registry;
        registry.operator.watch(&registry.runtime).await;
    }

    /// Notes that something of `tenants` changed in the store. The next round of [`ResolverService::reconcile`] looks.
    pub fn note_changes<'t>(&self, tenants: impl IntoIterator<Item = &'t str>) {
        self.0.changed.note(tenants);
    }

    /// Notes that everything in the store may have changed.
    pub fn note_everything(&self) {
        self.0.changed.note_everything();
    }

    /// Compares memory with the store where something changed, and repairs the difference, for as long as the process
    /// runs.
    pub async fn reconcile(&self) {
        let Parts { registry, loader, store, clock, changed, .. } = &*self.0;
        let (registry, loader) = (Arc::clone(registry), Arc::clone(loader));
        let changed = Arc::clone(changed);
        Reconciler::new(registry, loader, store.clone(), clock.clone(), changed).run().await;
    }
}
