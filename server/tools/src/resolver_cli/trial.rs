//! A component with its manifest, ready to be called on checks.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use chrono::{DateTime, Utc};
use portcullis_engine::Check;
use portcullis_resolver_host::{
    BoundResolver, CallOutcome, Endpoints, Grant, InstanceShare, Module, ResolverHost, limits,
};

use super::checks::{self, Sample};
use super::project::{self, CHECKS_FILE, MANIFEST_FILE, Project};
use portcullis_config::Variables;
use portcullis_egress::Client;
use portcullis_model::clock::Clock;
use portcullis_model::resolver::Manifest;
use portcullis_resolvers::Granted;

/// The files of a command that calls a component.
#[derive(Debug, clap::Args)]
pub struct Files {
    /// The component, or the folder that has it.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The manifest; `manifest.json` beside the component without this.
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// The checks; `checks.json` beside the component without this.
    #[arg(long, value_name = "FILE")]
    checks: Option<PathBuf>,
}

impl Files {
    pub(super) fn project(&self) -> anyhow::Result<Project> {
        Project::find(&self.path)
    }

    /// The text of the checks, and the name of their file.
    pub(super) fn checks(&self, project: &Project) -> anyhow::Result<(PathBuf, Vec<u8>)> {
        let file = project.beside(self.checks.as_deref(), CHECKS_FILE);
        let bytes = project::read(&file)?;
        Ok((file, bytes))
    }
}

/// A component that can be called.
pub(super) struct Trial {
    host: Arc<ResolverHost>,
    share: InstanceShare,
    module: Arc<Module>,
    manifest: Manifest,
    granted: Arc<dyn Endpoints>,
    attributes: Vec<Box<str>>,
    /// The instant of checks that name none.
    now: DateTime<Utc>,
}

impl Trial {
    /// Gives a module its manifest, and makes sure that it fits.
    pub(super) fn open(
        host: Arc<ResolverHost>,
        module: Arc<Module>,
        project: &Project,
        files: &Files,
        variables: &Variables,
    ) -> anyhow::Result<Self> {
        let egress = variables.egress()?;
        let file = project.beside(files.manifest.as_deref(), MANIFEST_FILE);
        let manifest = project::manifest(&file, &egress.rules)?;
        let client = Client::guarded(&egress, limits::TIMEOUT_MAX)?;
        let granted = Granted::new(client, &manifest).map_err(|name| {
            anyhow::anyhow!("{}: the headers of endpoint `{name}` cannot be made", file.display())
        })?;
        let attributes = module.descriptor().attributes.iter();
        let trial = Self {
            attributes: attributes.map(|spec| spec.name.as_str().into()).collect(),
            share: host.share(),
            host,
            module,
            manifest,
            granted: Arc::new(granted),
            now: Clock::system().now(),
        };
        trial.bind(trial.granted.clone()).with_context(|| file.display().to_string())?;
        Ok(trial)
    }

    pub(super) fn module(&self) -> &Module {
        &self.module
    }

    /// The attributes that a check asks for.
    pub(super) fn wanted(&self, sample: &Sample<'_>) -> Vec<Box<str>> {
        sample.wanted(&self.attributes)
    }

    /// The check of a sample.
    pub(super) fn check<'s>(&self, sample: &'s Sample<'_>) -> Check<'s> {
        sample.check(self.now)
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Calls the component on a check.
    ///
    /// # Errors
    /// None that [`Trial::open`] would not have found.
    pub(super) async fn call(&self, sample: &Sample<'_>) -> anyhow::Result<CallOutcome> {
        let resolver = self.bind(sample.responses.over(self.granted.clone()))?;
        let (check, budget) = (self.check(sample), self.manifest.limits.timeout);
        let request = self.module.request(checks::TENANT, &check, &self.wanted(sample), budget);
        Ok(self.host.resolve(&resolver, request).await)
    }

    fn bind(&self, endpoints: Arc<dyn Endpoints>) -> anyhow::Result<BoundResolver> {
        let grant = Grant { config: self.manifest.config.clone(), endpoints };
        Ok(self.host.bind(self.module.clone(), grant, self.manifest.limits, self.share.clone())?)
    }
}
