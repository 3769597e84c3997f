//! Modules and what binds them: what every tenant's resolvers share, and a module with its manifest.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use portcullis_engine::Check;
use portcullis_resolver_host::{
    BoundResolver, CallOutcome, Digest, Grant, HostSettings, InstanceShare, LoadError, Module,
    ResolverHost, limits,
};

use tokio::time::Instant;

use super::attributes::{Attributes, Terms};
use super::endpoints::Granted;
use super::runtime::OwnRuntime;
use crate::metrics::ResolverMetrics;
use portcullis_egress::{Client, EgressConfig};
use portcullis_model::clock::Clock;
use portcullis_model::resolver::Manifest;

/// What an operator sets.
#[derive(Clone, Debug)]
pub struct ResolverConfig {
    /// How many calls run at once.
    pub instances: u32,
    /// Most bytes of answers in memory.
    pub cache_bytes: u64,
    /// Components for every tenant.
    pub directory: Option<PathBuf>,
    /// Where compiled code is kept; without it, every start compiles anew.
    pub code: Option<PathBuf>,
}

impl Default for ResolverConfig {
    /// 64 calls at once take at most 4 GiB of memory, and only while they run.
    fn default() -> Self {
        Self { instances: 64, cache_bytes: 64 << 20, directory: None, code: None }
    }
}

/// What all resolvers share.
pub(super) struct Workshop {
    pub(super) host: Arc<ResolverHost>,
    started: Instant,
    pub(super) answers: Attributes,
    pub(super) metrics: ResolverMetrics,
    pub(super) clock: Clock,
    /// Goes where the egress rules allow. The time limit of a call ends its requests.
    client: Client,
    generations: AtomicU64,
    /// Those that were admitted, so that whoever binds one anew need not compile it anew.
    modules: Mutex<HashMap<Digest, Weak<Module>>>,
    /// What tenants may use of the instances; of those tenants that have a resolver or a call.
    shares: Mutex<HashMap<String, InstanceShare>>,
}

/// A module with what its manifest gives it.
#[derive(Debug)]
pub struct Bound {
    pub(super) resolver: BoundResolver,
    pub(super) terms: Terms,
    pub(super) timeout: Duration,
    /// No other has, or will have, the same.
    pub(super) generation: u64,
}

/// What of a manifest does not fit its module.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The module says otherwise.
    #[error(transparent)]
    Module(#[from] portcullis_resolver_host::GrantError),
    /// A header cannot be made of its template and the secrets.
    #[error("endpoint `{0}` has a header that cannot be made of its template and `secrets`")]
    Header(String),
}

impl Workshop {
    /// Starts the host and the threads that resolvers run on.
    pub(super) fn open(
        config: &ResolverConfig,
        egress: &EgressConfig,
        metrics: ResolverMetrics,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let runtime = Arc::new(OwnRuntime::start().context("cannot start threads for resolvers")?);
        let settings = HostSettings { instances: config.instances, compiled: config.code.clone() };
        let host = ResolverHost::new(&settings, runtime).with_context(|| match &config.code {
            Some(code) => format!("cannot run resolvers with compiled code in {}", code.display()),
            None => "cannot run resolvers".to_owned(),
        })?;
        Ok(Self {
            host,
            started: Instant::now(),
            answers: Attributes::new(config.cache_bytes),
            metrics,
            clock,
            client: Client::guarded(egress, limits::TIMEOUT_MAX)?,
            generations: AtomicU64::new(0),
            modules: Mutex::default(),
            shares: Mutex::default(),
        })
    }

    /// The present moment, for what is cached and for breakers.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Compiles a module and admits it, on behalf of `owner`.
    pub(super) async fn admit(&self, owner: &str, bytes: Bytes) -> Result<Arc<Module>, LoadError> {
        let module = Arc::new(self.host.load(bytes, &self.share(owner)).await?);
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.retain(|_, module| module.strong_count() > 0);
        modules.insert(*module.digest(), Arc::downgrade(&module));
        Ok(module)
    }

    /// The module of this digest, if it was admitted and is still in use.
    pub(super) fn admitted(&self, digest: &Digest) -> Option<Arc<Module>> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        modules.get(digest)?.upgrade()
    }

    /// Every module that was admitted and is still in use.
    pub(super) fn in_use(&self) -> Vec<Digest> {
        let modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let in_use = modules.iter().filter(|(_, module)| module.strong_count() > 0);
        in_use.map(|(digest, _)| *digest).collect()
    }

    /// The share of a tenant, the same for all that it does.
    fn share(&self, tenant: &str) -> InstanceShare {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(tenant) {
            return share.clone();
        }
        shares.retain(|_, share| !share.is_unused());
        shares.entry(tenant.to_owned()).or_insert_with(|| self.host.share()).clone()
    }

    /// Gives a module what `manifest` has for it, to be called for `tenant`.
    pub(super) fn bind(
        &self,
        tenant: &str,
        module: Arc<Module>,
        manifest: &Manifest,
    ) -> Result<Bound, BindError> {
        let endpoints = Granted::new(self.client.clone(), manifest).map_err(BindError::Header)?;
        let grant = Grant { config: manifest.config.clone(), endpoints: Arc::new(endpoints) };
        let millis = |millis: u32| Duration::from_millis(millis.into());
        Ok(Bound {
            resolver: self.host.bind(module, grant, manifest.limits, self.share(tenant))?,
            terms: Terms {
                ttl: manifest.cache_ttl_ms.map(millis),
                stale: millis(manifest.stale_if_error_ms),
            },
            timeout: manifest.limits.timeout,
            generation: self.generations.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// Calls a resolver, whatever is cached and however often it failed.
    pub(super) async fn try_out(
        &self,
        bound: &Bound,
        tenant: &str,
        check: &Check<'_>,
        wanted: &[Box<str>],
    ) -> CallOutcome {
        let request = bound.resolver.module().request(tenant, check, wanted, bound.timeout);
        self.host.resolve(&bound.resolver, request).await
    }

    /// Drops the compiled code of a module.
    pub(super) fn forget(&self, digest: &Digest) {
        if let Err(error) = self.host.forget(digest) {
            tracing::warn!(%error, %digest, "cannot remove the compiled code of a module");
        }
    }
}

impl fmt::Debug for Workshop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workshop").field("host", &self.host).finish_non_exhaustive()
    }
}
