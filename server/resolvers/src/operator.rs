//! The operator resolvers: components in `RESOLVERS_DIR`, for every tenant without a resolver of the same namespace.
//!
//! `NAME.wasm` is a component and `NAME.json` its manifest; without one, its namespace is the name, and it is given
//! nothing. A change is picked up without a restart. Each tenant gets its own resolver of a component: what one
//! tenant's checks do to it is not felt by others.

mod change_detector;
mod files;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use parking_lot::RwLock;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::resolver::Manifest;
use portcullis_resolver_host::{Digest, Module};
use tokio::sync::Mutex;

use self::change_detector::ChangeDetector;
use self::files::{Contents, Fingerprint};
use crate::active::{ActiveResolver, RegistryEntry};
use crate::failure::is_transient;
use crate::measurements::Statistics;
use crate::runtime::ResolverRuntime;

/// The pause between two reads of the directory.
const INTERVAL: Duration = Duration::from_secs(2);
/// The owner of the admissions of operator resolvers. No tenant has this name.
const OPERATOR: &str = "";
/// The most tenants whose resolver of one component is in memory. Each takes about 12 KiB, most of it for the latency of
/// its calls.
const MAX_TENANTS: u64 = 4_096;

/// The directory, and the components that were installed from it.
#[derive(Debug)]
pub(crate) struct OperatorResolvers {
    path: Option<PathBuf>,
    egress: EgressRules,
    changes: Mutex<ChangeDetector>,
    /// By the name of the file.
    components: RwLock<BTreeMap<String, Arc<Component>>>,
}

/// An installed component.
#[derive(Debug)]
struct Component {
    module: Arc<Module>,
    manifest: Manifest,
    /// The resolvers of the tenants whose checks needed one. Beyond [`MAX_TENANTS`] the one that was not used for the
    /// longest time goes: its tenant begins anew, with a closed breaker and no cached answers.
    tenants: Cache<String, OfTenant>,
}

/// The resolver of a component for one tenant, and the counters of its calls.
#[derive(Clone, Debug)]
pub(crate) struct OfTenant {
    pub(crate) entry: RegistryEntry,
    pub(crate) statistics: Arc<Statistics>,
}

/// An operator resolver.
#[derive(Clone, Debug)]
pub struct OperatorResolver {
    pub namespace: String,
    pub description: Option<String>,
    pub module: Arc<Module>,
}

impl OperatorResolvers {
    /// Returns an empty set. Without a path it stays empty.
    pub(crate) fn new(path: Option<PathBuf>, egress: EgressRules) -> Self {
        Self { path, egress, changes: Mutex::default(), components: RwLock::default() }
    }

    /// Returns every operator resolver, ordered by namespace.
    pub(crate) fn all(&self) -> Vec<OperatorResolver> {
        let components = self.components.read();
        let all = components.values().map(|component| OperatorResolver {
            namespace: component.manifest.namespace.clone(),
            description: component.manifest.description.clone(),
            module: Arc::clone(&component.module),
        });
        let mut all: Vec<_> = all.collect();
        all.sort_unstable_by(|a, b| a.namespace.cmp(&b.namespace));
        all
    }

    /// Whether any of them runs this module.
    pub(crate) fn has_module(&self, digest: &Digest) -> bool {
        let components = self.components.read();
        components.values().any(|component| component.module.digest == *digest)
    }

    /// Returns the number of tenants that have a resolver of a component, summed over the components.
    pub(crate) fn tenants(&self) -> usize {
        let components = self.components.read();
        let tenants: u64 = components.values().map(|one| one.tenants.entry_count()).sum();
        usize::try_from(tenants).unwrap_or(usize::MAX)
    }

    /// Returns the resolver that answers `namespace` for `tenant`.
    pub(crate) fn for_tenant(
        &self,
        runtime: &ResolverRuntime,
        tenant: &str,
        namespace: &str,
    ) -> Option<OfTenant> {
        let component = {
            let components = self.components.read();
            components.values().find(|component| component.manifest.namespace == namespace).cloned()
        };
        Some(component?.for_tenant(runtime, tenant))
    }

    /// Reads the directory again and again.
    pub(crate) async fn watch(&self, runtime: &ResolverRuntime) {
        if self.path.is_none() {
            return;
        }
        loop {
            tokio::time::sleep(INTERVAL).await;
            self.refresh(runtime).await;
        }
    }

    /// Reads the directory once, and installs and removes components that changed.
    pub(crate) async fn refresh(&self, runtime: &ResolverRuntime) {
        let Some(path) = &self.path else { return };
        let mut changes = self.changes.lock().await;
        let due = match files::list(path).await {
            Ok(found) => changes.observe(found),
            Err(error) => {
                if changes.fail() {
                    tracing::error!(%error, path = %path.display(), "cannot read RESOLVERS_DIR");
                }
                return;
            }
        };
        for (name, fingerprint) in due {
            let Some(fingerprint) = fingerprint else {
                self.remove(&name);
                // A file that was refused because of this namespace gets another attempt.
                changes.forget(|name| !self.has(name));
                continue;
            };
            match self.install(runtime, &name, fingerprint).await {
                Ok(true) => {}
                // The files are read again as soon as two rounds find them alike.
                Ok(false) => changes.forget(|other| other == name),
                Err(error) => {
                    if is_transient_failure(&error) {
                        // The files do not change by themselves, so that nothing else would report them again.
                        changes.retry(&name);
                    }
                    tracing::error!(error = format!("{error:#}"), file = %path.join(name).display(),
                        "cannot install a resolver; the previous version stays active");
                }
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.components.read().contains_key(name)
    }

    fn remove(&self, name: &str) {
        let mut components = self.components.write();
        if let Some(component) = components.remove(name) {
            tracing::info!(namespace = component.manifest.namespace, "removed a resolver");
        }
    }

    /// Installs the files of `name`; false if they are changing meanwhile.
    async fn install(
        &self,
        runtime: &ResolverRuntime,
        name: &str,
        fingerprint: Fingerprint,
    ) -> anyhow::Result<bool> {
        let Some(path) = &self.path else { return Ok(true) };
        let Some(contents) = files::read(path, name, fingerprint).await? else { return Ok(false) };
        let Contents { module, manifest } = contents;
        let manifest = files::manifest(name, manifest.as_deref(), &self.egress)?;
        // `refresh` holds `changes`, so that no other file takes the namespace before this one is inserted.
        self.check_namespace(name, &manifest.namespace)?;
        let module = runtime.admit(OPERATOR, module.into()).await?;
        // A manifest that fits for one tenant fits for all.
        runtime.bind(OPERATOR, Arc::clone(&module), &manifest)?;
        let namespace = &manifest.namespace;
        tracing::info!(file = name, namespace, sha256 = %module.digest, "installed a resolver");
        let component = Arc::new(Component { module, manifest, tenants: resolvers_of_tenants() });
        let mut components = self.components.write();
        components.insert(name.to_owned(), component);
        Ok(true)
    }

    fn check_namespace(&self, name: &str, namespace: &str) -> anyhow::Result<()> {
        let components = self.components.read();
        let other = components
            .iter()
            .find(|(other, component)| *other != name && component.manifest.namespace == namespace);
        ensure!(
            other.is_none(),
            "`{}` has the namespace `{namespace}` already",
            other.map_or("", |(name, _)| name)
        );
        Ok(())
    }
}

impl Component {
    fn for_tenant(&self, runtime: &ResolverRuntime, tenant: &str) -> OfTenant {
        // `get_with` would copy the name of the tenant for each check.
        if let Some(known) = self.tenants.get(tenant) {
            return known;
        }
        // Only one of the checks that miss it makes it, so that a tenant has one breaker for each component.
        self.tenants.get_with(tenant.to_owned(), || {
            let statistics = Arc::<Statistics>::default();
            let entry = match runtime.bind(tenant, Arc::clone(&self.module), &self.manifest) {
                Ok(binding) => RegistryEntry::Active(Arc::new(ActiveResolver::new(
                    binding,
                    Arc::clone(&statistics),
                ))),
                Err(error) => RegistryEntry::Unavailable(format!("cannot be used: {error}").into()),
            };
            OfTenant { entry, statistics }
        })
    }
}

fn resolvers_of_tenants<V: Clone + Send + Sync + 'static>() -> Cache<String, V> {
    Cache::builder().max_capacity(MAX_TENANTS).eviction_policy(EvictionPolicy::lru()).build()
}

/// Whether another attempt with the same files may do better.
fn is_transient_failure(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(is_transient) || error.is::<io::Error>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invented_tenants_fill_no_memory_and_a_tenant_in_use_stays() {
        let tenants = resolvers_of_tenants();
        for number in 0..3 * MAX_TENANTS {
            tenants.insert(format!("invented-{number}"), number);
            tenants.get_with("used".to_owned(), || number);
            tenants.run_pending_tasks();
            assert!(tenants.entry_count() <= MAX_TENANTS);
        }
        assert_eq!(tenants.get("used"), Some(0), "made once");
    }
}
