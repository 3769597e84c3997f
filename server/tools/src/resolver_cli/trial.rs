//! A component with its manifest, bound as in the service.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use chrono::{DateTime, Utc};
use portcullis_config::Variables;
use portcullis_egress::Client;
use portcullis_engine::Check;
use portcullis_model::clock::Clock;
use portcullis_model::resolver::Manifest;
use portcullis_resolver_host::{
    BoundResolver, CallOutcome, Endpoints, Grant, Module, ResolverHost, WantedAttributes, limits,
};
use portcullis_resolvers::Granted;

use super::checks::{self, Sample};
use super::project::{self, CHECKS_FILE, MANIFEST_FILE, Project};
use super::responses::scripted;

/// The files of a command that calls a component.
#[derive(Debug, clap::Args)]
pub(super) struct TrialFiles {
    /// The component, or a folder that contains exactly one.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The manifest (default: `manifest.json` in the folder of the component).
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// The checks (default: `checks.json` in the folder of the component).
    #[arg(long, value_name = "FILE")]
    checks: Option<PathBuf>,
}

impl TrialFiles {
    /// Finds the project of the component.
    pub(super) fn project(&self) -> anyhow::Result<Project> {
        Project::find(&self.path)
    }

    /// Reads the file of checks. Returns its path and its bytes.
    pub(super) fn checks(&self, project: &Project) -> anyhow::Result<(PathBuf, Vec<u8>)> {
        let file = project.beside(self.checks.as_deref(), CHECKS_FILE);
        let bytes = project::read(&file, project::CHECKS)?;
        Ok((file, bytes))
    }
}

/// A component that can be called.
pub(super) struct Trial {
    host: Arc<ResolverHost>,
    module: Arc<Module>,
    manifest: Manifest,
    granted: Arc<dyn Endpoints>,
    attributes: Vec<Box<str>>,
    /// The instant of checks that have none.
    now: DateTime<Utc>,
}

impl Trial {
    /// Binds a module to its manifest.
    ///
    /// # Errors
    /// The manifest cannot be read, or it does not fit the module.
    pub(super) fn open(
        host: Arc<ResolverHost>,
        module: Arc<Module>,
        project: &Project,
        files: &TrialFiles,
        variables: &Variables,
    ) -> anyhow::Result<Self> {
        let egress = variables.egress()?;
        let file = project.beside(files.manifest.as_deref(), MANIFEST_FILE);
        let manifest = project::manifest(&file, &egress.rules)?;
        let client = Client::guarded(&egress, limits::TIMEOUT_MAX)?;
        let granted = Granted::new(client, &manifest).map_err(|name| {
            anyhow::anyhow!("{}: the headers of endpoint `{name}` cannot be made", file.display())
        })?;
        let attributes = module.descriptor.attributes.iter();
        let trial = Self {
            // The names are copied before the module moves into the value.
            attributes: attributes.map(|spec| spec.name.as_str().into()).collect(),
            host,
            module,
            manifest,
            granted: Arc::new(granted),
            now: Clock::system().now(),
        };
        // A manifest that does not fit is reported before the first check.
        trial.bind(trial.granted.clone()).with_context(|| file.display().to_string())?;
        Ok(trial)
    }

    pub(super) fn module(&self) -> &Module {
        &self.module
    }

    /// Returns the attributes of the component.
    pub(super) fn attributes(&self) -> &[Box<str>] {
        &self.attributes
    }

    /// Returns the attributes to request for a check.
    pub(super) fn wanted(&self, sample: &Sample<'_>) -> Vec<Box<str>> {
        sample.wanted(&self.attributes)
    }

    /// Returns the check of a sample.
    pub(super) fn check<'s>(&self, sample: &'s Sample<'_>) -> Check<'s> {
        sample.check(self.now)
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Calls the component on a check.
    ///
    /// # Errors
    /// The module cannot be bound; [`Trial::open`] makes sure that it can.
    pub(super) async fn call(&self, sample: &Sample<'_>) -> anyhow::Result<CallOutcome> {
        // Each check has responses of its own, so each one binds the module anew.
        let resolver = self.bind(scripted(sample.responses.clone(), self.granted.clone()))?;
        let (check, budget) = (self.check(sample), self.manifest.limits.timeout);
        let names = self.wanted(sample);
        let wanted = WantedAttributes { tenant: checks::TENANT, check: &check, names: &names };
        let request = self.module.request(wanted, budget);
        Ok(self.host.resolve(&resolver, request).await)
    }

    fn bind(&self, endpoints: Arc<dyn Endpoints>) -> anyhow::Result<BoundResolver> {
        let grant = Grant { config: self.manifest.config.clone(), endpoints };
        Ok(self.host.bind(self.module.clone(), grant, self.manifest.limits, "")?)
    }
}
