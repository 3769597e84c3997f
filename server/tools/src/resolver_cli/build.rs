//! `portcullis resolver build`: builds the component from a crate.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

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

pub(super) async fn run(
    arguments: &BuildArguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let built = cargo::build(&arguments.folder, variables)?;
    // Cargo names the component of a crate `business-hours` `business_hours.wasm`.
    let name = built.file_name().unwrap_or_default().to_string_lossy().replace('_', "-");
    let folder = arguments.folder.strip_prefix(".").unwrap_or(&arguments.folder);
    let file = arguments.out.clone().unwrap_or_else(|| folder.join(name));
    fs::copy(&built, &file).with_context(|| file.display().to_string())?;
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
