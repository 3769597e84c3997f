//! A host of the command line's own, in which components run as they do in the service.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use portcullis_resolver_host::{Host, Module, Settings};

use super::project::Project;
use super::steps::Step;
use portcullis_resolvers::ResolverThreads;

/// More than one, so that a share of them is.
const INSTANCES: u32 = 8;

/// Makes the host; it keeps compiled code in `code`, if there is such a directory.
pub(super) fn host(code: Option<&Path>) -> anyhow::Result<Arc<Host>> {
    let runtime = ResolverThreads::start().context("cannot start threads for resolvers")?;
    let settings = Settings { instances: INSTANCES, compiled: code.map(Path::to_owned) };
    Host::new(&settings, Arc::new(runtime)).context("cannot run resolvers")
}

/// Loads a project's component as the service would.
pub(super) async fn load(host: &Arc<Host>, project: &Project) -> anyhow::Result<Arc<Module>> {
    let bytes = project.bytes()?;
    let file = project.component.display().to_string();
    let _step = Step::begin(format!("compiling {file}, {} bytes", bytes.len()));
    Ok(Arc::new(host.load(bytes, &host.share()).await.with_context(|| file)?))
}
