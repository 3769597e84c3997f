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
pub(crate) mod namespaces;
mod path;
mod report;
mod runtime;
pub(crate) mod sealing;
pub(crate) mod standing;
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

use crate::clock::Clock;
use crate::egress::Rules;
use crate::metrics::ResolverMetrics;
use crate::model::resolver::{Manifest, Origin};
use bound::Workshop;
use installed::Directory;
use live::{Found, Live};
use tenants::{State, Tenants};

pub(crate) use admission::{Admissions, is_ours};
pub(crate) use bound::{BindError, Bound, ResolverConfig};
pub(crate) use breaker::BreakerState;
pub(crate) use endpoints::Granted;
pub(crate) use installed::Installed;
pub(crate) use live::json;
pub(crate) use loading::{LoadFailure, Loading};
pub(crate) use report::{Asked, Provenance, Report};
pub(crate) use runtime::OwnRuntime;
pub(crate) use statistics::{Figures, OUTCOMES};

/// Why a resolver that a manager has switched off is not asked; completes "resolver `geo` …".
pub(crate) const DISABLED: &str = "is disabled";

/// Every resolver that this process can ask.
#[derive(Debug)]
pub(crate) struct Resolvers {
    workshop: Workshop,
    tenants: Tenants,
    directory: Directory,
}

/// How a resolver is doing in this process, since it started.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Status {
    pub(crate) standing: Standing,
    pub(crate) figures: Figures,
}

/// Whether a resolver is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is, as far as its breaker lets calls through.
    Ready(BreakerState),
    /// It is not; completes "resolver `geo` …".
    Idle(Arc<str>),
}

impl Resolvers {
    /// Starts what resolvers run on. Nothing is loaded yet.
    pub(crate) fn new(
        config: &ResolverConfig,
        egress: &Rules,
        metrics: ResolverMetrics,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            workshop: Workshop::open(config, egress, metrics, clock)?,
            tenants: Tenants::default(),
            directory: Directory::new(config.directory.clone(), egress.clone()),
        })
    }

    /// Compiles a module, admits it, and has it describe itself; none of that on the threads that serve requests.
    pub(crate) async fn admit(&self, tenant: &str, bytes: Bytes) -> Result<Arc<Module>, LoadError> {
        self.workshop.admit(tenant, bytes).await
    }

    /// The module of this digest, if it is in memory.
    pub(crate) fn admitted(&self, digest: &Digest) -> Option<Arc<Module>> {
        self.workshop.admitted(digest)
    }

    /// Gives a module what `manifest` has for it, to be called for `tenant`.
    pub(crate) fn bind(
        &self,
        tenant: &str,
        module: Arc<Module>,
        manifest: &Manifest,
    ) -> Result<Bound, BindError> {
        self.workshop.bind(tenant, module, manifest)
    }

    /// Puts a version of a tenant's resolver into service. Calls in flight finish on the one before it, of which
    /// nothing that was cached is used again. An earlier version than is there changes nothing.
    pub(crate) fn put(&self, tenant: &str, reference: ResolverRef, bound: Bound) {
        let live = |statistics| State::Live(Arc::new(Live::new(bound, statistics)));
        self.tenants.put(tenant, reference, live);
    }

    /// Takes a tenant's resolver out of service; `why` completes "resolver `geo` …", as `is disabled` does.
    pub(crate) fn suspend(&self, tenant: &str, reference: ResolverRef, why: &str) {
        self.tenants.put(tenant, reference, |_| State::Idle(why.into()));
    }

    /// Takes note that a tenant's resolver cannot be loaded, as [`Resolvers::suspend`] does, unless it is in service:
    /// whoever wrote that version has put it there meanwhile.
    pub(crate) fn fail(&self, tenant: &str, reference: ResolverRef, why: &str) {
        self.tenants.fail(tenant, reference, why.into());
    }

    /// Forgets a tenant's resolver. Calls in flight finish.
    pub(crate) fn remove(&self, tenant: &str, id: Uuid) {
        self.tenants.remove(tenant, id);
    }

    /// Drops the compiled code of a module that no tenant has any more, unless the operator has installed it.
    pub(crate) fn forget(&self, digest: &Digest) {
        if !self.directory.runs(digest) {
            self.workshop.forget(digest);
        }
    }

    /// Drops the compiled code that is older than `before` and of modules that are neither `stored` nor in memory, as
    /// those are that the operator has installed, or that somebody is about to store.
    pub(crate) async fn sweep(&self, stored: HashSet<Digest>, before: SystemTime) {
        let used = stored.into_iter().chain(self.workshop.in_use()).collect();
        if let Err(error) = self.workshop.host.sweep(used, before).await {
            tracing::warn!(%error, "cannot remove compiled code that is of no use any more");
        }
    }

    /// Whether what `reference` means is in memory, in service or not, or a later version of it.
    pub(crate) fn knows(&self, tenant: &str, reference: ResolverRef) -> bool {
        self.tenants.find(tenant, reference).is_some()
    }

    /// Every resolver of tenants that is in memory.
    pub(crate) fn present(&self) -> Vec<(String, Uuid)> {
        self.tenants.all()
    }

    /// How a tenant's resolver is doing; none if it is not in memory.
    pub(crate) fn status(&self, tenant: &str, id: Uuid) -> Option<Status> {
        let (state, figures) = self.tenants.get(tenant, id)?;
        Some(Status { standing: self.standing(state), figures })
    }

    /// Every resolver of the operator's.
    pub(crate) fn installed(&self) -> Vec<Installed> {
        self.directory.installed()
    }

    /// How a resolver of the operator's is doing for a tenant; none if there is none.
    pub(crate) fn installed_status(&self, tenant: &str, namespace: &str) -> Option<Status> {
        let (state, figures) = self.directory.get(&self.workshop, tenant, namespace)?;
        Some(Status { standing: self.standing(state), figures })
    }

    /// Reads the operator's resolvers: all of them the first time, and what has changed since.
    pub(crate) async fn look(&self) {
        self.directory.look(&self.workshop).await;
    }

    /// Keeps up with what the operator installs and removes.
    pub(crate) async fn watch(&self) {
        self.directory.watch(&self.workshop).await;
    }

    /// Calls a resolver, whatever is cached and however often it has failed.
    pub(crate) async fn try_out(
        &self,
        bound: &Bound,
        tenant: &str,
        check: &Check<'_>,
        wanted: &[Box<str>],
    ) -> CallOutcome {
        self.workshop.try_out(bound, tenant, check, wanted).await
    }

    /// Answers what `check` asks: each resolver once, all of them at the same time. Dropping the future ends the calls.
    pub(crate) async fn ask(
        &self,
        tenant: &str,
        check: &Check<'_>,
        asks: &[AttributeRequest],
    ) -> Asked {
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
    ) -> (Option<Origin>, Found) {
        let (namespace, wanted) = (&ask.namespace, &ask.attributes);
        let (origin, state) = match ask.resolver {
            Some(reference) => (Origin::Tenant, Some(self.of_tenant(tenant, reference))),
            None => (Origin::Operator, self.directory.find(&self.workshop, tenant, namespace)),
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
