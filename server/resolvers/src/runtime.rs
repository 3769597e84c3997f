//! The runtime: the threads, compiled modules, caches and limits that all resolvers share.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use parking_lot::Mutex;
use portcullis_egress::{Client, EgressConfig};
use portcullis_model::clock::Clock;
use portcullis_model::resolver::Manifest;
use portcullis_resolver_host::{
    CallOutcome, Compiler, Digest, Grant, HostSettings, LoadError, Module, ResolverHost,
    WantedAttributes, limits,
};
use tokio::time::Instant;

use crate::attributes::{Attributes, Terms};
use crate::binding::{Binding, BindingError};
use crate::config::ResolverConfig;
use crate::endpoints::Granted;
use crate::metrics::ResolverMetrics;
use crate::threads::ResolverThreads;

/// The parts that all resolvers share.
pub struct ResolverRuntime {
    pub(crate) host: Arc<ResolverHost>,
    started: Instant,
    pub(crate) answers: Attributes,
    pub(crate) metrics: ResolverMetrics,
    pub(crate) clock: Clock,
    /// Sends requests where the egress rules allow. The time limit of a call ends its requests.
    client: Client,
    generations: AtomicU64,
    /// The admitted modules that are in use, so that a new binding of one does not compile it again.
    modules: Mutex<HashMap<Digest, Weak<Module>>>,
}

impl ResolverRuntime {
    /// Starts the host and its threads.
    pub(crate) fn open(
        config: &ResolverConfig,
        egress: &EgressConfig,
        metrics: ResolverMetrics,
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let threads =
            Arc::new(ResolverThreads::start().context("cannot start threads for resolvers")?);
        if cfg!(not(target_os = "linux")) && matches!(config.compiler, Compiler::Process(_)) {
            tracing::warn!("this system may not limit the memory of compilations");
        }
        let settings = HostSettings {
            instances: config.instances,
            compiled: config.code.clone(),
            compiler: config.compiler.clone(),
        };
        let host = ResolverHost::new(&settings, threads).with_context(|| match &config.code {
            Some(code) => {
                format!("cannot run resolvers with RESOLVER_CODE_DIR `{}`", code.display())
            }
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
        })
    }

    /// Returns the time since the start, by which cached answers expire and breakers close.
    pub(crate) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Compiles a module and admits it, within the share of `owner`.
    pub async fn admit(&self, owner: &str, bytes: Bytes) -> Result<Arc<Module>, LoadError> {
        let loaded = self.host.load(bytes, owner).await;
        self.metrics.admitted(&loaded);
        let module = Arc::new(loaded?);
        let mut modules = self.modules.lock();
        // Otherwise every module that was ever admitted would leave an entry.
        modules.retain(|_, module| module.strong_count() > 0);
        modules.insert(module.digest, Arc::downgrade(&module));
        Ok(module)
    }

    /// Returns the module of this digest, if it was admitted and is still in use.
    pub(crate) fn admitted(&self, digest: &Digest) -> Option<Arc<Module>> {
        let modules = self.modules.lock();
        modules.get(digest)?.upgrade()
    }

    /// Returns the bytes that the admitted modules take that are still in use, each once.
    pub(crate) fn module_bytes(&self) -> usize {
        let modules = self.modules.lock();
        modules.values().filter_map(Weak::upgrade).map(|module| module.memory_bytes()).sum()
    }

    /// Returns the digests of the admitted modules that are still in use.
    pub(crate) fn in_use(&self) -> Vec<Digest> {
        let modules = self.modules.lock();
        let in_use = modules.iter().filter(|(_, module)| module.strong_count() > 0);
        in_use.map(|(digest, _)| *digest).collect()
    }

    /// Returns the number of entries of each map.
    pub(crate) fn entries(&self) -> [(&'static str, usize); 3] {
        [
            ("resolver_answers", self.answers.entries()),
            ("resolver_modules", self.modules.lock().len()),
            ("resolver_shares", self.host.tenants()),
        ]
    }

    /// Grants a module what `manifest` has for it, for calls on behalf of `tenant`.
    pub fn bind(
        &self,
        tenant: &str,
        module: Arc<Module>,
        manifest: &Manifest,
    ) -> Result<Binding, BindingError> {
        let client = self.client.for_tenant(tenant);
        let endpoints = Granted::new(client, manifest).map_err(BindingError::Header)?;
        let grant = Grant { config: manifest.config.clone(), endpoints: Arc::new(endpoints) };
        Ok(Binding {
            resolver: self.host.bind(module, grant, manifest.limits, tenant)?,
            terms: Terms {
                ttl: manifest.cache_ttl_ms.map(milliseconds),
                stale: milliseconds(manifest.stale_if_error_ms),
            },
            timeout: manifest.limits.timeout,
            // A new number for each binding: cached answers of earlier ones are never found again.
            generation: self.generations.fetch_add(1, Ordering::Relaxed),
        })
    }

    /// Calls a resolver, past the cache and the circuit breaker.
    pub(crate) async fn try_out(
        &self,
        binding: &Binding,
        wanted: WantedAttributes<'_>,
    ) -> CallOutcome {
        let request = binding.resolver.module().request(wanted, binding.timeout);
        self.host.resolve(&binding.resolver, request).await
    }

    /// Drops the compiled code of a module.
    pub(crate) fn forget(&self, digest: &Digest) {
        if let Err(error) = self.host.forget(digest) {
            tracing::warn!(%error, %digest, "cannot remove the compiled code of a module");
        }
    }
}

fn milliseconds(millis: u32) -> Duration {
    Duration::from_millis(millis.into())
}

impl fmt::Debug for ResolverRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResolverRuntime").field("host", &self.host).finish_non_exhaustive()
    }
}
