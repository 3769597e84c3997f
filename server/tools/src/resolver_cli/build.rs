//! `portcullis resolver build`: the component of a crate.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use super::project::Project;
use super::{cargo, guest, inspect};
use portcullis_bundle::DESCRIPTOR_FILE;
use portcullis_config::Variables;
use portcullis_resolvers::module_record;

/// What the command line says.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The crate's folder.
    #[arg(default_value = ".")]
    folder: PathBuf,
    /// Where to put the component; `<name>.wasm` in the crate's folder without this.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) async fn run(
    arguments: &Arguments,
    variables: &Variables,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let built = cargo::build(&arguments.folder, variables)?;
    // A crate `business-hours` is `business_hours.wasm` for cargo.
    let name = built.file_name().unwrap_or_default().to_string_lossy().replace('_', "-");
    let folder = arguments.folder.strip_prefix(".").unwrap_or(&arguments.folder);
    let file = arguments.out.clone().unwrap_or_else(|| folder.join(name));
    fs::copy(&built, &file).with_context(|| file.display().to_string())?;
    // What the service would refuse is better known now.
    let project = Project { component: file };
    let module = guest::load(&guest::host(None)?, &project).await?;
    let about = module_record(&module);
    // Policies kept as files are tested by it, without the component.
    let descriptor = project.component.with_file_name(DESCRIPTOR_FILE);
    let text = serde_json::to_string_pretty(&about)?;
    fs::write(&descriptor, text + "\n").with_context(|| descriptor.display().to_string())?;
    Ok(inspect::show(&about, &project.component, out)?)
}
