//! Attribute resolvers in service: those of the tenants, by id, and those that the operator installed for all.
//!
//! The engine says what a check needs to know (`AttributeRequest`) and calls modules; here is which resolver answers, what of it
//! is cached, when one is not called any more, and what is told of it. Nothing in here decides, and nothing fails: a
//! cause takes the place of an answer.

mod admission;
mod attributes;
mod bound;
mod breaker;
mod endpoints;
mod installed;
mod live;
mod loading;
mod metrics;
mod module_record;
pub mod namespaces;
mod path;
mod report;
mod runtime;
pub mod sealing;
mod service;
pub mod standing;
mod statistics;
mod tenants;
mod upkeep;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::future::join_all;
use portcullis_engine::{AttributeRequest, Check, ResolverRef};
use portcullis_resolver_host::{CallOutcome, Digest, LoadError, Module};
use uuid::Uuid;

use bound::Workshop;
use installed::Directory;
use live::{Found, Live};
use portcullis_egress::EgressConfig;
use portcullis_model::clock::Clock;
use portcullis_model::resolver::{Manifest, ResolverOrigin};
use tenants::{State, Tenants};

pub use admission::{Admissions, is_ours};
pub use bound::{BindError, Bound, ResolverConfig};
pub use breaker::BreakerState;
pub use endpoints::Granted;
pub use installed::Installed;
pub use live::json;
pub use loading::{LoadFailure, Loading};
pub use metrics::ResolverMetrics;
pub use module_record::module_record;
pub use report::{Asked, Provenance, Report};
pub use runtime::OwnRuntime;
pub use service::ResolverService;
pub use statistics::{Figures, OUTCOMES};

/// Why a resolver that a manager has switched off is not asked; completes "resolver `geo` …".
pub const DISABLED: &str = "is disabled";

/// Every resolver that this process can ask.
#[derive(Debug)]
pub struct Resolvers {
    workshop: Workshop,
    tenants: Tenants,
    directory: Directory,
}

/// How a resolver is doing in this process, since it started.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    pub standing: Standing,
    pub figures: Figures,
}

/// Whether a resolver is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is, as far as its breaker lets calls through.
    Ready(BreakerState),
    /// It is not; completes "resolver `geo` …".
    Idle(Arc<str>),
}

impl Resolvers {
    /// Starts what resolvers run on. Nothing is loaded yet.
    pub fn new(
        config: &ResolverConfig,
        egress: &EgressConfig,
        metrics: ResolverMetrics,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            workshop: Workshop::open(config, egress, metrics, clock)?,
            tenants: Tenants::default(),
            directory: Directory::new(config.directory.clone(), egress.rules.clone()),
        })
    }

    /// Compiles a module, admits it, and has it describe itself; none of that on the threads that serve requests.
    pub async fn admit(&self, tenant: &str, bytes: Bytes) -> Result<Arc<Module>, LoadError> {
        self.workshop.admit(tenant, bytes).await
    }

    /// The module of this digest, if it is in memory.
    pub fn admitted(&self, digest: &Digest) -> Option<Arc<Module>> {
        self.workshop.admitted(digest)
    }

    /// Gives a module what `manifest` has for it, to be called for `tenant`.
    pub fn bind(
        &self,
        tenant: &str,
        module: Arc<Module>,
        manifest: &Manifest,
    ) -> Result<Bound, BindError> {
        self.workshop.bind(tenant, module, manifest)
    }

    /// Puts a version of a tenant's resolver into service. Calls in flight finish on the one before it, of which
    /// nothing that was cached is used again. An earlier version than is there changes nothing.
    pub fn put(&self, tenant: &str, reference: ResolverRef, bound: Bound) {
        let live = |statistics| State::Live(Arc::new(Live::new(bound, statistics)));
        self.tenants.put(tenant, reference, live);
    }

    /// Takes a tenant's resolver out of service; `why` completes "resolver `geo` …", as `is disabled` does.
    pub fn suspend(&self, tenant: &str, reference: ResolverRef, why: &str) {
        self.tenants.put(tenant, reference, |_| State::Idle(why.into()));
    }

    /// Takes note that a tenant's resolver cannot be loaded, as [`Resolvers::suspend`] does, unless it is in service:
    /// whoever wrote that version has put it there meanwhile.
    pub fn fail(&self, tenant: &str, reference: ResolverRef, why: &str) {
        self.tenants.fail(tenant, reference, why.into());
    }

    /// Forgets a tenant's resolver. Calls in flight finish.
    pub fn remove(&self, tenant: &str, id: Uuid) {
        self.tenants.remove(tenant, id);
    }

    /// Drops the compiled code of a module that no tenant has any more, unless the operator has installed it.
    pub fn forget(&self, digest: &Digest) {
        if !self.directory.runs(digest) {
            self.workshop.forget(digest);
        }
    }

    /// Drops the compiled code that is older than `before` and of modules that are neither `stored` nor in memory, as
    /// those are that the operator has installed, or that somebody is about to store.
    pub async fn sweep(&self, stored: HashSet<Digest>, before: SystemTime) {
        let used = stored.into_iter().chain(self.workshop.in_use()).collect();
        if let Err(error) = self.workshop.host.sweep(used, before).await {
            tracing::warn!(%error, "cannot remove compiled code that is of no use any more");
        }
    }

    /// Whether what `reference` means is in memory, in service or not, or a later version of it.
    pub fn knows(&self, tenant: &str, reference: ResolverRef) -> bool {
        self.tenants.find(tenant, reference).is_some()
    }

    /// Every resolver of tenants that is in memory.
    pub fn present(&self) -> Vec<(String, Uuid)> {
        self.tenants.all()
    }

    /// How a tenant's resolver is doing; none if it is not in memory.
    pub fn status(&self, tenant: &str, id: Uuid) -> Option<Status> {
        let (state, figures) = self.tenants.get(tenant, id)?;
        Some(Status { standing: self.standing(state), figures })
    }

    /// Every resolver of the operator's.
    pub fn installed(&self) -> Vec<Installed> {
        self.directory.installed()
    }

    /// How a resolver of the operator's is doing for a tenant; none if there is none.
    pub fn installed_status(&self, tenant: &str, namespace: &str) -> Option<Status> {
        let (state, figures) = self.directory.get(&self.workshop, tenant, namespace)?;
        Some(Status { standing: self.standing(state), figures })
    }

    /// Reads the operator's resolvers: all of them the first time, and what has changed since.
    pub async fn look(&self) {
        self.directory.look(&self.workshop).await;
    }

    /// Keeps up with what the operator installs and removes.
    pub async fn watch(&self) {
        self.directory.watch(&self.workshop).await;
    }

    /// Calls a resolver, whatever is cached and however often it has failed.
    pub async fn try_out(
        &self,
        bound: &Bound,
        tenant: &str,
        check: &Check<'_>,
        wanted: &[Box<str>],
    ) -> CallOutcome {
        self.workshop.try_out(bound, tenant, check, wanted).await
    }

    /// Answers what `check` asks: each resolver once, all of them at the same time. Dropping the future ends the calls.
    pub async fn ask(&self, tenant: &str, check: &Check<'_>, asks: &[AttributeRequest]) -> Asked {
        let all = asks.iter().map(|ask| self.ask_one(tenant, check, ask));
        let mut asked = Asked::default();
        for (ask, (origin, found)) in asks.iter().zip(join_all(all).await) {
            let Found { attributes, cause, call } = found;
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

    async fn ask_one(
        &self,
        tenant: &str,
        check: &Check<'_>,
        ask: &AttributeRequest,
    ) -> (Option<ResolverOrigin>, Found) {
        let (namespace, wanted) = (&ask.namespace, &ask.attributes);
        let (origin, state) = match ask.resolver {
            Some(reference) => (ResolverOrigin::Tenant, Some(self.of_tenant(tenant, reference))),
            None => {
                (ResolverOrigin::Operator, self.directory.find(&self.workshop, tenant, namespace))
            }
        };
        match state {
            Some(State::Live(live)) => {
                let found = live.ask(&self.workshop, tenant, check, wanted).await;
                (Some(origin), found.said_by(namespace))
            }
            Some(State::Idle(why)) => {
                (Some(origin), Found::nothing(wanted, format!("resolver `{namespace}` {why}")))
            }
            None => (None, Found::nothing(wanted, format!("there is no resolver `{namespace}`"))),
        }
    }

    /// The resolver that a plan means. What was not in memory has been loaded before (`loading.rs`), if there was time.
    fn of_tenant(&self, tenant: &str, reference: ResolverRef) -> State {
        let found = self.tenants.find(tenant, reference);
        found.unwrap_or_else(|| State::Idle("is being loaded".into()))
    }

    fn standing(&self, state: State) -> Standing {
        match state {
            State::Live(live) => Standing::Ready(live.breaker(self.workshop.now())),
            State::Idle(why) => Standing::Idle(why),
        }
    }
}

#[cfg(test)]
mod tests;
