//! The operator's resolvers: components in `RESOLVERS_DIR`, for every tenant that has none of that namespace.
//!
//! `NAME.wasm` is a component and `NAME.json` its manifest; without one, its namespace is the name, and it is given
//! nothing. A change is picked up without a restart. Each tenant gets a resolver of its own of a component: what one
//! tenant's checks do to it is not felt by others.

mod files;
mod looks;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::ensure;
use portcullis_resolver_host::{Digest, Module};
use tokio::sync::Mutex;

use super::bound::Workshop;
use super::live::Live;
use super::loading;
use super::statistics::{Figures, Statistics};
use super::tenants::State;
use files::{Contents, Print};
use looks::Looks;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::resolver::Manifest;

/// How often the directory is looked at.
const INTERVAL: Duration = Duration::from_secs(2);
/// On whose behalf the directory's modules are loaded: nobody's that can be a tenant.
const OPERATOR: &str = "";

/// The directory, and what was installed from it.
#[derive(Debug)]
pub(super) struct Directory {
    path: Option<PathBuf>,
    egress: EgressRules,
    looks: Mutex<Looks>,
    /// By the name of the file.
    components: RwLock<BTreeMap<String, Arc<Component>>>,
}

/// A component that is installed.
#[derive(Debug)]
struct Component {
    module: Arc<Module>,
    manifest: Manifest,
    /// Those of the tenants that have asked it.
    tenants: RwLock<HashMap<String, OfTenant>>,
}

#[derive(Clone, Debug)]
struct OfTenant {
    state: State,
    statistics: Arc<Statistics>,
}

/// A resolver of the operator's.
#[derive(Clone, Debug)]
pub struct Installed {
    pub namespace: String,
    pub description: Option<String>,
    pub module: Arc<Module>,
}

impl Directory {
    /// Nothing is installed without a path.
    pub(super) fn new(path: Option<PathBuf>, egress: EgressRules) -> Self {
        Self { path, egress, looks: Mutex::default(), components: RwLock::default() }
    }

    /// Every component, by namespace.
    pub(super) fn installed(&self) -> Vec<Installed> {
        let components = self.components.read().unwrap_or_else(PoisonError::into_inner);
        let of = |component: &Arc<Component>| Installed {
            namespace: component.manifest.namespace.clone(),
            description: component.manifest.description.clone(),
            module: Arc::clone(&component.module),
        };
        let mut installed: Vec<_> = components.values().map(of).collect();
        installed.sort_unstable_by(|a, b| a.namespace.cmp(&b.namespace));
        installed
    }

    /// Whether any of them runs this module.
    pub(super) fn runs(&self, digest: &Digest) -> bool {
        let components = self.components.read().unwrap_or_else(PoisonError::into_inner);
        components.values().any(|component| component.module.digest() == digest)
    }

    /// The resolver that answers `namespace` for `tenant`.
    pub(super) fn find(&self, workshop: &Workshop, tenant: &str, namespace: &str) -> Option<State> {
        self.of_tenant(workshop, tenant, namespace).map(|found| found.state)
    }

    /// The same, and its figures.
    pub(super) fn get(
        &self,
        workshop: &Workshop,
        tenant: &str,
        namespace: &str,
    ) -> Option<(State, Figures)> {
        let OfTenant { state, statistics } = self.of_tenant(workshop, tenant, namespace)?;
        Some((state, statistics.figures()))
    }

    fn of_tenant(&self, workshop: &Workshop, tenant: &str, namespace: &str) -> Option<OfTenant> {
        let component = {
            let components = self.components.read().unwrap_or_else(PoisonError::into_inner);
            components.values().find(|component| component.manifest.namespace == namespace).cloned()
        };
        Some(component?.of_tenant(workshop, tenant))
    }

    /// Looks at the directory again and again.
    pub(super) async fn watch(&self, workshop: &Workshop) {
        if self.path.is_none() {
            return;
        }
        loop {
            tokio::time::sleep(INTERVAL).await;
            self.look(workshop).await;
        }
    }

    /// Looks at the directory once, and installs and removes what has changed.
    pub(super) async fn look(&self, workshop: &Workshop) {
        let Some(path) = &self.path else { return };
        let mut looks = self.looks.lock().await;
        let due = match files::list(path).await {
            Ok(found) => looks.look(found),
            Err(error) => {
                if looks.fail() {
                    tracing::error!(%error, path = %path.display(), "cannot read RESOLVERS_DIR");
                }
                return;
            }
        };
        for (name, print) in due {
            let Some(print) = print else {
                self.remove(&name);
                // What another file's namespace stood in the way of has its turn.
                looks.forget(|name| !self.has(name));
                continue;
            };
            match self.install(workshop, &name, print).await {
                Ok(true) => {}
                Ok(false) => looks.forget(|other| other == name),
                Err(error) => {
                    if is_passing(&error) {
                        looks.retry(&name);
                    }
                    tracing::error!(error = format!("{error:#}"), file = %path.join(name).display(),
                        "cannot install a resolver; what was installed before stays");
                }
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.components.read().unwrap_or_else(PoisonError::into_inner).contains_key(name)
    }

    fn remove(&self, name: &str) {
        let mut components = self.components.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(component) = components.remove(name) {
            tracing::info!(namespace = component.manifest.namespace, "removed a resolver");
        }
    }

    /// Installs the files of `name`; false if they are changing meanwhile.
    async fn install(&self, workshop: &Workshop, name: &str, print: Print) -> anyhow::Result<bool> {
        let Some(path) = &self.path else { return Ok(true) };
        let Some(contents) = files::read(path, name, print).await? else { return Ok(false) };
        let Contents { module, manifest } = contents;
        let manifest = files::manifest(name, manifest.as_deref(), &self.egress)?;
        self.check_namespace(name, &manifest.namespace)?;
        let module = workshop.admit(OPERATOR, module.into()).await?;
        // What fits once fits every tenant.
        workshop.bind(OPERATOR, Arc::clone(&module), &manifest)?;
        let namespace = &manifest.namespace;
        tracing::info!(file = name, namespace, sha256 = %module.digest(), "installed a resolver");
        let component = Arc::new(Component { module, manifest, tenants: RwLock::default() });
        let mut components = self.components.write().unwrap_or_else(PoisonError::into_inner);
        components.insert(name.to_owned(), component);
        Ok(true)
    }

    fn check_namespace(&self, name: &str, namespace: &str) -> anyhow::Result<()> {
        let components = self.components.read().unwrap_or_else(PoisonError::into_inner);
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
    fn of_tenant(&self, workshop: &Workshop, tenant: &str) -> OfTenant {
        let known = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(tenant) {
            return known.clone();
        }
        drop(known);
        let mut tenants = self.tenants.write().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let statistics = Arc::<Statistics>::default();
            let state = match workshop.bind(tenant, Arc::clone(&self.module), &self.manifest) {
                Ok(bound) => State::Live(Arc::new(Live::new(bound, Arc::clone(&statistics)))),
                Err(error) => State::Idle(format!("cannot be used: {error}").into()),
            };
            OfTenant { state, statistics }
        };
        tenants.entry(tenant.to_owned()).or_insert_with(make).clone()
    }
}

/// Whether another attempt with the same files may do better.
fn is_passing(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(loading::is_passing) || error.is::<io::Error>()
}
