//! `portcullis import casbin`: the policies of a Casbin application as rules (`docs/casbin.md`).

mod api;
mod lines;
mod matcher;
mod model;
mod objects;
mod roles;
mod rules;

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use url::Url;

use model::Model;
use portcullis_config::Variables;
use rules::{Converted, Rule};

/// What the command line says.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The Casbin model, such as `model.conf`.
    model: PathBuf,
    /// The Casbin policy, such as `policy.csv`.
    policy: PathBuf,
    /// Write the rules to this file, in the format of `rules.yaml`, instead of printing them.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Create the rules in the Portcullis at this address, with the service key in SERVICE_API_KEY.
    #[arg(long, value_name = "URL", conflicts_with = "out")]
    url: Option<Url>,
    /// A file that holds the service key, instead of SERVICE_API_KEY.
    #[arg(long, value_name = "FILE", requires = "url")]
    key_file: Option<PathBuf>,
    /// Import what can be expressed, although other lines cannot.
    #[arg(long)]
    skip_unsupported: bool,
}

/// Something in a Casbin file that rules do not express.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    /// Counted from 1; `None` when it is about the whole file.
    line: Option<usize>,
    reason: String,
}

impl Fault {
    fn at(line: usize, reason: String) -> Self {
        Self { line: Some(line), reason }
    }

    fn of_file(reason: String) -> Self {
        Self { line: None, reason }
    }

    /// `file:line: reason`
    fn in_file(&self, file: &Path) -> impl fmt::Display {
        let line = self.line.map(|line| format!("{line}:")).unwrap_or_default();
        format!("{}:{line} {}", file.display(), self.reason)
    }
}

/// Imports as the arguments say; what happens is told on `err`, and rules are printed on `out`.
///
/// # Errors
/// A file cannot be read or holds what cannot be imported, or the service refused a rule.
pub async fn run(
    arguments: &Arguments,
    variables: &Variables,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    // Before anything else: a key that is not there is no reason to read on.
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

fn read(model: &Path, policy: &Path) -> anyhow::Result<Converted> {
    let text =
        |file: &Path| fs::read_to_string(file).with_context(|| format!("{}", file.display()));
    let (model_text, policy_text) = (text(model)?, text(policy)?);
    let known = Model::parse(&model_text);
    let known = known.map_err(|fault| anyhow::anyhow!("{}", fault.in_file(model)))?;
    Ok(rules::convert(&known, lines::read(&policy_text)))
}

/// Says what is left out, and stops there unless that is wanted.
fn report(
    arguments: &Arguments,
    converted: &Converted,
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    for fault in &converted.faults {
        writeln!(err, "{}", fault.in_file(&arguments.policy))?;
    }
    if converted.without_effect > 0 {
        let count = converted.without_effect;
        writeln!(err, "deny lines left out, as this policy effect gives them none: {count}")?;
    }
    match converted.faults.len() {
        0 => {}
        faults if arguments.skip_unsupported => {
            writeln!(err, "lines skipped, and what they decide in Casbin with them: {faults}")?;
        }
        faults => bail!(
            "nothing was imported; lines that cannot be expressed: {faults}; --skip-unsupported imports the others"
        ),
    }
    Ok(())
}

/// The rules in the format of `rules.yaml`.
fn yaml(rules: &[Rule]) -> anyhow::Result<String> {
    Ok(serde_saphyr::to_string(&rules)?)
}

#[cfg(test)]
mod tests;
