//! `portcullis import casbin`: turns the policies of a Casbin application into rules and policies (`docs/casbin.md`).
//!
//! The matcher is partially evaluated for each policy line. What is left is a condition over the request, in
//! alternatives. An alternative becomes a rule if a rule can say it, and a policy otherwise.

mod condition;
mod conversion;
mod entries;
mod expand;
mod expression;
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

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use portcullis_config::Variables;
use portcullis_model::clock::Clock;
use serde_json::json;

use crate::destination::Destination;
use crate::files::{self, yaml};
use condition::Attribute;
use model::Model;
use output::Converted;

const RULES_FILE: &str = "rules.yaml";
const POLICIES_FILE: &str = "policies.yaml";

/// The arguments of `portcullis import casbin`.
#[derive(Debug, clap::Args)]
pub struct CasbinArguments {
    /// The Casbin model, such as `model.conf`.
    model: PathBuf,
    /// The Casbin policy, such as `policy.csv`.
    policy: PathBuf,
    #[command(flatten)]
    destination: Destination,
    /// Compare the decisions first: each line of this file has the values of a request, then `true` or `false`.
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Leave out the lines that Portcullis cannot express, and import the others.
    #[arg(long)]
    skip_unsupported: bool,
}

/// Imports as the arguments say. Writes progress and faults to `err`, rules and policies to `out`.
///
/// # Errors
/// A file cannot be read or has a line that cannot be imported, a decision differs, or the service refused a record.
pub async fn run(
    arguments: &CasbinArguments,
    variables: &Variables,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    // A missing key is reported before the files are read.
    let destination = &arguments.destination;
    let target = destination.target("casbin", variables)?;
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
    match (target, &destination.out) {
        (Some(target), _) => {
            let content = json!({"rules": converted.rules, "policies": converted.policies});
            return target.apply(&content, err).await;
        }
        (None, Some(to)) => {
            files::write(&placed(&converted, to)?, destination.force)?;
            writeln!(err, "{summary} written to {}", to.display())?;
        }
        (None, None) => {
            write!(out, "# {RULES_FILE}\n{}", yaml(&converted.rules)?)?;
            if !converted.policies.is_empty() {
                write!(out, "# {POLICIES_FILE}\n{}", yaml(&converted.policies)?)?;
            }
            writeln!(err, "{summary}")?;
        }
    }
    Ok(())
}

/// Returns the files of the folder `to`. A `to` that ends in `.yaml` is the file of the rules.
fn placed(converted: &Converted, to: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let (rules, policies) = (yaml(&converted.rules)?, &converted.policies);
    if !to.extension().is_some_and(|end| end == "yaml" || end == "yml") {
        return Ok(vec![(to.join(RULES_FILE), rules), (to.join(POLICIES_FILE), yaml(policies)?)]);
    }
    if !policies.is_empty() {
        bail!(
            "{}: {} policies need a file of their own; give a folder to --out",
            to.display(),
            policies.len()
        );
    }
    Ok(vec![(to.to_owned(), rules)])
}

/// Reads and converts both files.
fn read(model: &Path, policy: &Path) -> anyhow::Result<(Model, Converted)> {
    let (model_text, policy_text) = (files::read(model)?, files::read(policy)?);
    let known = Model::parse(&model_text).map_err(|faults| {
        let faults: Vec<_> = faults.iter().map(|fault| fault.in_file(model).to_string()).collect();
        anyhow::anyhow!("{}", faults.join("\n"))
    })?;
    let converted = conversion::convert(&known, lines::read(&policy_text));
    Ok((known, converted))
}

/// Decides the requests of `file`. Fails if a decision is not the expected one.
fn compare(
    model: &Model,
    converted: &Converted,
    file: &Path,
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let now = Clock::system().now();
    let (asked, faults) = requests::differences(model, converted, &files::read(file)?, now)?;
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
    arguments: &CasbinArguments,
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
