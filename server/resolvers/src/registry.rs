//! The registry: all resolvers in memory, the tenants' and the operator's, found by one type.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use portcullis_egress::EgressConfig;
use portcullis_engine::{AttributeRequest, Check, ResolverRef};
use portcullis_model::clock::Clock;
use portcullis_model::resolver::{ActivityRecord, ResolverOrigin};
use portcullis_resolver_host::{Digest, WantedAttributes};
use portcullis_traces::resolver_step;
use uuid::Uuid;

use crate::active::{ActiveResolver, RegistryEntry, ResolverAnswers};
use crate::binding::Binding;
use crate::config::ResolverConfig;
use crate::limits::{MAX_FORGOTTEN, RegistryLimits};
use crate::metrics::ResolverMetrics;
use crate::operator::OperatorResolvers;
use crate::report::{Asked, Provenance, Report};
use crate::runtime::ResolverRuntime;
use crate::status::{Availability, ResolverStatus};
use crate::tenants::TenantResolvers;

/// The state of a resolver that a manager disabled; completes "resolver `geo` …".
pub(crate) const DISABLED: &str = "is disabled";

/// Whether a call uses the cache and the circuit breaker.
#[derive(Clone, Copy, Debug)]
pub enum CacheMode {
    /// Uses both.
    Use,
    /// Uses no cache, does not move the breaker, and counts nothing. For checks at an instant other than the present.
    Bypass,
}

/// The resolvers in memory. It knows no store: the loader and the reconciler fill it.
#[derive(Debug)]
pub struct Registry {
    pub runtime: ResolverRuntime,
    pub(crate) tenants: TenantResolvers,
    pub(crate) operator: OperatorResolvers,
    pub(crate) limits: RegistryLimits,
}

impl Registry {
    /// Starts the runtime of resolvers. The registry is empty.
    ///
    /// # Errors
    /// The threads or the host cannot start.
    pub fn new(
        config: &ResolverConfig,
        egress: &EgressConfig,
        metrics: ResolverMetrics,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            runtime: ResolverRuntime::open(config, egress, metrics, clock)?,
            tenants: TenantResolvers::default(),
            operator: OperatorResolvers::new(config.directory.clone(), egress.rules.clone()),
            limits: RegistryLimits::default(),
        })
    }

    /// Makes a version of a tenant's resolver the active one, unless a later version is known.
    ///
    /// Calls in flight finish on the version before it. No answer that was cached for that version is used again.
    /// Others are forgotten if there is no place for it.
    pub fn activate(&self, tenant: &str, reference: ResolverRef, binding: Binding) {
        let now = self.runtime.now();
        self.tenants.put(tenant, reference, now, |statistics| {
            RegistryEntry::Active(Arc::new(ActiveResolver::new(binding, statistics)))
        });
        self.make_room(tenant, reference.id, now);
    }

    /// Forgets resolvers until the rest keeps to the limits. The resolver `kept` of `tenant` stays.
    fn make_room(&self, tenant: &str, kept: Uuid, now: Duration) {
        for _ in 0..MAX_FORGOTTEN {
            let is_full = self.tenants.len() > self.limits.resolvers
                || self.runtime.module_bytes() > self.limits.module_bytes;
            if !is_full || !self.tenants.forget_one(tenant, kept, now) {
                return;
            }
        }
    }

    /// Makes a tenant's resolver unavailable, unless a later version is known. `why` completes "resolver `geo` …".
    pub(crate) fn suspend(&self, tenant: &str, reference: ResolverRef, why: &str) {
        let now = self.runtime.now();
        self.tenants.put(tenant, reference, now, |_| RegistryEntry::Unavailable(why.into()));
    }

    /// Records that a tenant's resolver cannot be loaded, unless this version is active: the request that wrote the
    /// version has activated it meanwhile.
    pub(crate) fn fail(&self, tenant: &str, reference: ResolverRef, why: &str) {
        self.tenants.fail(tenant, reference, self.runtime.now(), why.into());
    }

    /// Deletes the compiled code of a module that no tenant has, unless an operator resolver has it.
    pub(crate) fn forget_code(&self, digest: &Digest) {
        if !self.operator.has_module(digest) {
            self.runtime.forget(digest);
        }
    }

    /// Deletes the compiled code that is older than `before` and belongs to no module that is `stored` or in memory.
    pub(crate) async fn sweep_code(&self, stored: HashSet<Digest>, before: SystemTime) {
        let used = stored.into_iter().chain(self.runtime.in_use()).collect();
        if let Err(error) = self.runtime.host.sweep(used, before).await {
            tracing::warn!(%error, "cannot remove outdated compiled code");
        }
    }

    /// Returns the number of entries of each map.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let own = [
            ("resolvers", self.tenants.len()),
            ("operator_resolver_tenants", self.operator.tenants()),
        ];
        self.runtime.entries().into_iter().chain(own)
    }

    /// Returns the status of a tenant's resolver, or `None` if it is not in memory.
    pub(crate) fn status(&self, tenant: &str, id: Uuid) -> Option<ResolverStatus> {
        self.tenants.get(tenant, id).map(|found| self.status_of(found))
    }

    /// Returns the status that an operator resolver has for a tenant, or `None` if no operator resolver has this namespace.
    pub(crate) fn operator_status(&self, tenant: &str, namespace: &str) -> Option<ResolverStatus> {
        let found = self.operator.for_tenant(&self.runtime, tenant, namespace)?;
        Some(self.status_of((found.entry, found.statistics.measurements())))
    }

    /// Answers the attribute requests of `check`: one call of each resolver, all at the same time. To drop the future
    /// ends the calls.
    pub async fn ask(
        &self,
        tenant: &str,
        check: &Check<'_>,
        asks: &[AttributeRequest],
        mode: CacheMode,
    ) -> Asked {
        let all = asks.iter().map(|ask| async move {
            let found = self.find(tenant, ask);
            self.ask_entry(found.as_ref(), tenant, check, ask, mode).await
        });
        asked(asks, join_all(all).await)
    }

    /// Returns the inputs that the resolver of a request declares; none if it is not active.
    pub(crate) fn declared_inputs(&self, tenant: &str, ask: &AttributeRequest) -> Vec<String> {
        match self.find(tenant, ask) {
            Some((_, RegistryEntry::Active(resolver))) => resolver.declared_inputs().to_vec(),
            _ => Vec::new(),
        }
    }

    /// Answers one attribute request by the resolver that was found for it.
    pub(crate) async fn ask_entry(
        &self,
        found: Option<&(ResolverOrigin, RegistryEntry)>,
        tenant: &str,
        check: &Check<'_>,
        ask: &AttributeRequest,
        mode: CacheMode,
    ) -> (Option<ResolverOrigin>, ResolverAnswers) {
        let (namespace, wanted) = (&ask.namespace, &ask.attributes);
        match found {
            Some((origin, RegistryEntry::Active(resolver))) => {
                let wanted = WantedAttributes { tenant, check, names: wanted };
                let asked = async {
                    match mode {
                        CacheMode::Use => resolver.ask(&self.runtime, wanted).await,
                        CacheMode::Bypass => resolver.ask_uncached(&self.runtime, wanted).await,
                    }
                };
                let found = resolver_step(namespace, asked).await;
                (Some(*origin), found.with_namespace(namespace))
            }
            Some((origin, RegistryEntry::Unavailable(why))) => (
                Some(*origin),
                ResolverAnswers::nothing(wanted, format!("resolver `{namespace}` {why}")),
            ),
            None => (
                None,
                ResolverAnswers::nothing(wanted, format!("there is no resolver `{namespace}`")),
            ),
        }
    }

    /// Returns the resolver that a plan names, and who owns it. `None` means that no operator resolver has the
    /// namespace.
    pub(crate) fn find(
        &self,
        tenant: &str,
        ask: &AttributeRequest,
    ) -> Option<(ResolverOrigin, RegistryEntry)> {
        let Some(reference) = ask.resolver else {
            let found = self.operator.for_tenant(&self.runtime, tenant, &ask.namespace)?;
            return Some((ResolverOrigin::Operator, found.entry));
        };
        let found = self.tenants.find(tenant, reference, self.runtime.now());
        // The loader was called before. The resolver is missing only if the time was too short.
        let entry = found.unwrap_or_else(|| RegistryEntry::Unavailable("is still loading".into()));
        Some((ResolverOrigin::Tenant, entry))
    }

    fn status_of(&self, (entry, measurements): (RegistryEntry, ActivityRecord)) -> ResolverStatus {
        let availability = match entry {
            RegistryEntry::Active(resolver) => {
                Availability::Active(resolver.breaker(self.runtime.now()))
            }
            RegistryEntry::Unavailable(why) => Availability::Unavailable(why),
        };
        ResolverStatus { availability, measurements }
    }
}

/// Puts the answers of all resolvers together, in the order of `asks`.
fn asked(
    asks: &[AttributeRequest],
    found: Vec<(Option<ResolverOrigin>, ResolverAnswers)>,
) -> Asked {
    let mut asked = Asked::default();
    for (ask, (origin, found)) in asks.iter().zip(found) {
        let ResolverAnswers { attributes, cause, call } = found;
        let mut sources = Vec::with_capacity(attributes.len());
        for (name, resolved, source) in attributes {
            asked.answers.insert(&ask.namespace, &name, resolved);
            sources.push(Provenance { name, source });
        }
        let namespace = ask.namespace.clone();
        asked.reports.push(Report { namespace, origin, attributes: sources, cause, call });
    }
    asked
}
