//! `portcullis import casbin`: turns the policies of a Casbin application into rules (`docs/casbin.md`).

mod api;
mod columns;
mod fault;
mod lines;
mod matcher;
mod model;
mod objects;
mod roles;
mod rules;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use portcullis_config::Variables;
use url::Url;

use model::Model;
use rules::{Converted, Rule};

/// The arguments of `portcullis import casbin`.
#[derive(Debug, clap::Args)]
pub struct ImportArguments {
    /// The Casbin model, such as `model.conf`.
    model: PathBuf,
    /// The Casbin policy, such as `policy.csv`.
    policy: PathBuf,
    /// Write the rules to this file, in the format of `rules.yaml`, instead of printing them.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Create the rules in the Portcullis service at this URL, with the service key in SERVICE_API_KEY.
    #[arg(long, value_name = "URL", conflicts_with = "out")]
    url: Option<Url>,
    /// Read the service key from this file instead of SERVICE_API_KEY.
    #[arg(long, value_name = "FILE", requires = "url")]
    key_file: Option<PathBuf>,
    /// Leave out the lines that Portcullis cannot express, and import the others.
    #[arg(long)]
    skip_unsupported: bool,
}

/// Imports as the arguments say. Writes progress and faults to `err`, and rules to `out`.
///
/// # Errors
/// A file cannot be read or has a line that cannot be imported, or the service refused a rule.
pub async fn run(
    arguments: &ImportArguments,
    variables: &Variables,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    // A missing key is reported before the files are read.
    let target = match &arguments.url {
        Some(base) => Some(api::Target::new(base, arguments.key_file.as_deref(), variables)?),
        None => None,
    };
    let converted = read(&arguments.model, &arguments.policy)?;
    report(arguments, &converted, err)?;
    let rules = &converted.rules;
    match (target, &arguments.out) {
        (Some(target), _) => target.create(rules, err).await,
        (None, Some(file)) => {
            fs::write(file, yaml(rules)?).with_context(|| format!("{}", file.display()))?;
            writeln!(err, "{} rules written to {}", rules.len(), file.display())?;
            Ok(())
        }
        (None, None) => {
            out.write_all(yaml(rules)?.as_bytes())?;
            writeln!(err, "{} rules", rules.len())?;
            Ok(())
        }
    }
}

/// Reads and converts both files.
fn read(model: &Path, policy: &Path) -> anyhow::Result<Converted> {
    let (model_text, policy_text) = (text(model)?, text(policy)?);
    let known = Model::parse(&model_text);
    let known = known.map_err(|fault| anyhow::anyhow!("{}", fault.in_file(model)))?;
    Ok(rules::convert(&known, lines::read(&policy_text)))
}

fn text(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| file.display().to_string())
}

/// Reports the lines that are left out. Fails if there are any, unless `--skip-unsupported` is given.
fn report(
    arguments: &ImportArguments,
    converted: &Converted,
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    for fault in &converted.faults {
        writeln!(err, "{}", fault.in_file(&arguments.policy))?;
    }
    if converted.without_effect > 0 {
        let count = converted.without_effect;
        writeln!(
            err,
            "deny lines left out, because they have no effect under this policy effect: {count}"
        )?;
    }
    match converted.faults.len() {
        0 => {}
        faults if arguments.skip_unsupported => {
            writeln!(err, "lines skipped; Portcullis does not enforce them: {faults}")?;
        }
        faults => bail!(
            "nothing was imported: {faults} lines cannot be expressed as rules; use --skip-unsupported to import the other lines"
        ),
    }
    Ok(())
}

/// Returns the rules in the format of `rules.yaml`.
fn yaml(rules: &[Rule]) -> anyhow::Result<String> {
    Ok(serde_saphyr::to_string(&rules)?)
}

#[cfg(test)]
mod tests;
