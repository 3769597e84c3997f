//! `portcullis resolver build`: builds the component from a crate.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use portcullis_bundle::DESCRIPTOR_FILE;
use portcullis_config::Variables;
use portcullis_resolvers::module_record;

use super::project::Project;
use super::{cargo, guest, inspect};

/// The arguments of `portcullis resolver build`.
#[derive(Debug, clap::Args)]
pub struct BuildArguments {
    /// The folder of the crate.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// The file for the component (default: `<name>.wasm` in the folder of the crate).
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Builds the component of the crate in `folder`. Copies it to `out`, or else into the folder, and returns its path.
pub(crate) fn component(
    folder: &Path,
    out: Option<&Path>,
    variables: &Variables,
) -> anyhow::Result<PathBuf> {
    let built = cargo::build(folder, variables)?;
    // Cargo names the component of a crate `business-hours` `business_hours.wasm`.
    let name = built.file_name().unwrap_or_default().to_string_lossy().replace('_', "-");
    let folder = folder.strip_prefix(".").unwrap_or(folder);
    let file = out.map_or_else(|| folder.join(name), Path::to_owned);
    fs::copy(&built, &file).with_context(|| file.display().to_string())?;
    Ok(file)
}

pub(super) async fn run(
    arguments: &BuildArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let file = component(&arguments.folder, arguments.out.as_deref(), variables)?;
    // A component that the service would refuse fails the build already.
    let project = Project { component: file };
    let module = guest::load(&guest::host(None)?, &project).await?;
    let about = module_record(&module);
    // `portcullis test` checks policies against the descriptor, without the component.
    let descriptor = project.component.with_file_name(DESCRIPTOR_FILE);
    let text = serde_json::to_string_pretty(&about)?;
    fs::write(&descriptor, text + "\n").with_context(|| descriptor.display().to_string())?;
    Ok(inspect::show(&about, &project.component, out)?)
}
