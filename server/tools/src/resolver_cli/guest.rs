//! The host of the command line, in which components run as they do in the service.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use portcullis_resolver_host::{Compiler, HostSettings, Module, ResolverHost};
use portcullis_resolvers::ResolverThreads;

use super::project::Project;
use super::steps::Step;

/// More than one instance, so that a share of them is at least one.
const INSTANCES: u32 = 8;

/// Makes the host. It keeps compiled code in the directory `code`, if there is one.
pub(crate) fn host(code: Option<&Path>) -> anyhow::Result<Arc<ResolverHost>> {
    let runtime = ResolverThreads::start().context("cannot start threads for resolvers")?;
    // The file belongs to the person who runs the command, so its compilation has no limits.
    let compiler = Compiler::InProcess;
    let settings =
        HostSettings { instances: INSTANCES, compiled: code.map(Path::to_owned), compiler };
    ResolverHost::new(&settings, Arc::new(runtime)).context("cannot run resolvers")
}

/// Loads the component of a project as the service would.
pub(super) async fn load(
    host: &Arc<ResolverHost>,
    project: &Project,
) -> anyhow::Result<Arc<Module>> {
    let bytes = project.bytes()?;
    let file = project.component.display().to_string();
    let _step = Step::begin(format!("compiling {file}, {} bytes", bytes.len()));
    Ok(Arc::new(host.load(bytes, "").await.with_context(|| file)?))
}
