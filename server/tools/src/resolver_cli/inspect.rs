//! `portcullis resolver inspect`: what a component is.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::guest;
use super::project::Project;
use crate::humanize;
use portcullis_model::resolver::{AttributeRecord, ConfigKeyRecord, ModuleRecord};
use portcullis_resolvers::module_record;

/// What the command line says.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The component, or the folder that has it.
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(arguments: &Arguments, out: &mut dyn Write) -> anyhow::Result<()> {
    let project = Project::find(&arguments.path)?;
    let module = guest::load(&guest::host(None)?, &project).await?;
    let record = module_record(&module);
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&record)?)?;
        return Ok(());
    }
    Ok(show(&record, &project.component, out)?)
}

/// Shows a module as a table.
pub(super) fn show(module: &ModuleRecord, file: &Path, out: &mut dyn Write) -> io::Result<()> {
    let attribute = |attribute: &AttributeRecord| {
        let (name, kind, ttl) =
            (&attribute.name, attribute.kind.as_str(), attribute.default_ttl_ms);
        let ttl = humanize::time(f64::from(ttl) * 1e6);
        format!("{name}: {kind}, cached for {ttl}")
    };
    let key = |key: &ConfigKeyRecord| {
        format!("{}{}", key.name, if key.required { ", required" } else { "" })
    };
    writeln!(out, "{} {} ({})", module.name, module.version, file.display())?;
    row(out, "size", &[format!("{} bytes", humanize::count(module.size as usize))])?;
    row(out, "sha256", std::slice::from_ref(&module.sha256))?;
    row(out, "imports", &module.imports)?;
    row(out, "attributes", &module.attributes.iter().map(attribute).collect::<Vec<_>>())?;
    row(out, "inputs", &module.inputs)?;
    row(out, "config", &module.config_keys.iter().map(key).collect::<Vec<_>>())?;
    row(out, "endpoints", &module.endpoints)
}

/// A name, and beside it one line for each value.
fn row(out: &mut dyn Write, name: &str, values: &[String]) -> io::Result<()> {
    if values.is_empty() {
        return writeln!(out, "  {name:10}  none");
    }
    for (index, value) in values.iter().enumerate() {
        let name = if index == 0 { name } else { "" };
        writeln!(out, "  {name:10}  {value}")?;
    }
    Ok(())
}
