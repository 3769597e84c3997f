//! `portcullis import casbin`: turns the policies of a Casbin application into rules and policies (`docs/casbin.md`).
//!
//! The matcher is partially evaluated for each policy line. What is left is a condition over the request, in
//! alternatives. An alternative becomes a rule if a rule can say it, and a policy otherwise.

mod api;
mod condition;
mod conversion;
mod entries;
mod expand;
mod expression;
mod fault;
mod files;
mod functions;
mod known;
mod lines;
mod membership;
mod model;
mod objects;
mod output;
mod parser;
mod regex;
mod requests;
mod roles;
mod rules;
mod trees;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use portcullis_config::Variables;
use portcullis_model::clock::Clock;
use portcullis_tools::as_code::owner;
use url::Url;

use condition::Attribute;
use files::yaml;
use model::Model;
use output::Converted;

/// The arguments of `portcullis import casbin`.
#[derive(Debug, clap::Args)]
pub struct ImportArguments {
    /// The Casbin model, such as `model.conf`.
    model: PathBuf,
    /// The Casbin policy, such as `policy.csv`.
    policy: PathBuf,
    /// Write `rules.yaml` and `policies.yaml` into this folder instead of printing them. A name that ends in `.yaml` is
    /// the file of the rules.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Replace files that are there already.
    #[arg(long, requires = "out")]
    force: bool,
    /// Compare the decisions first: each line of this file has the values of a request, then `true` or `false`.
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Apply the rules and policies to the Portcullis service at this URL, with the service key in SERVICE_API_KEY or the
    /// manager's token in TOKEN: all of them or none.
    #[arg(long, value_name = "URL", conflicts_with = "out")]
    url: Option<Url>,
    /// Read the service key from this file instead of SERVICE_API_KEY.
    #[arg(long, value_name = "FILE", requires = "url")]
    key_file: Option<PathBuf>,
    /// The owner of the rules and policies in the service. What an earlier import of this owner made, and this one does not,
    /// is deleted.
    #[arg(long, default_value = "casbin", requires = "url", value_parser = owner)]
    owner: String,
    /// Leave out the lines that Portcullis cannot express, and import the others.
    #[arg(long)]
    skip_unsupported: bool,
}

/// Imports as the arguments say. Writes progress and faults to `err`, rules and policies to `out`.
///
/// # Errors
/// A file cannot be read or has a line that cannot be imported, a decision differs, or the service refused a record.
pub async fn run(
    arguments: &ImportArguments,
    variables: &Variables,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    // A missing key is reported before the files are read.
    let target = match &arguments.url {
        Some(base) => {
            let key_file = arguments.key_file.as_deref();
            Some(api::Target::new(base, key_file, &arguments.owner, variables)?)
        }
        None => None,
    };
    let (model, converted) = read(&arguments.model, &arguments.policy)?;
    for (column, attribute) in &model.request {
        if let Attribute::Path(path) = attribute {
            writeln!(err, "the column `{column}` of requests becomes the attribute `{path}`")?;
        }
    }
    report(arguments, &converted, err)?;
    if let Some(file) = &arguments.check {
        compare(&model, &converted, file, err)?;
    }
    let summary = format!("{} rules, {} policies", converted.rules.len(), converted.policies.len());
    match (target, &arguments.out) {
        (Some(target), _) => return target.apply(&converted, err).await,
        (None, Some(to)) => {
            files::write(&converted, to, arguments.force)?;
            writeln!(err, "{summary} written to {}", to.display())?;
        }
        (None, None) => {
            write!(out, "# rules.yaml\n{}", yaml(&converted.rules)?)?;
            if !converted.policies.is_empty() {
                write!(out, "# policies.yaml\n{}", yaml(&converted.policies)?)?;
            }
            writeln!(err, "{summary}")?;
        }
    }
    Ok(())
}

/// Reads and converts both files.
fn read(model: &Path, policy: &Path) -> anyhow::Result<(Model, Converted)> {
    let (model_text, policy_text) = (text(model)?, text(policy)?);
    let known = Model::parse(&model_text).map_err(|faults| {
        let faults: Vec<_> = faults.iter().map(|fault| fault.in_file(model).to_string()).collect();
        anyhow::anyhow!("{}", faults.join("\n"))
    })?;
    let converted = conversion::convert(&known, lines::read(&policy_text));
    Ok((known, converted))
}

fn text(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| file.display().to_string())
}

/// Decides the requests of `file`. Fails if a decision is not the expected one.
fn compare(
    model: &Model,
    converted: &Converted,
    file: &Path,
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let now = Clock::system().now();
    let (asked, faults) = requests::differences(model, converted, &text(file)?, now)?;
    for fault in &faults {
        writeln!(err, "{}", fault.in_file(file))?;
    }
    if !faults.is_empty() {
        bail!("nothing was imported: {} of {asked} requests are decided otherwise", faults.len());
    }
    writeln!(err, "{asked} requests are decided as Casbin decides them")?;
    Ok(())
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
    for note in &converted.notes {
        writeln!(err, "{}", note.in_file(&arguments.policy))?;
    }
    if converted.without_effect > 0 {
        let count = converted.without_effect;
        writeln!(err, "lines left out, because they have no effect in Casbin: {count}")?;
    }
    match converted.faults.len() {
        0 => {}
        faults if arguments.skip_unsupported => {
            writeln!(err, "lines skipped; Portcullis does not enforce them: {faults}")?;
        }
        faults => bail!(
            "nothing was imported: {faults} lines cannot be expressed; use --skip-unsupported to import the other lines"
        ),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
