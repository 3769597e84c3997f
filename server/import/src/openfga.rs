//! `portcullis import openfga`: turns a model, its tuples and its tests into types, rules, relations and cases
//! (`docs/openfga.md`).
//!
//! Each rewrite of the model becomes the line of a relation, and each relation a rule that asks for it, so that a check
//! keeps its question. The answers that the tests expect are compared before anything is written.

mod answers;
mod condition;
mod content;
mod cursor;
mod dsl;
mod json;
mod line;
mod model;
mod place;
mod questions;
mod store;
mod tuples;
mod types;
mod yaml;

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use chrono::{DateTime, Utc};
use portcullis_config::Variables;
use portcullis_model::clock::Clock;

use crate::destination::Destination;
use crate::files;
use content::ImportedContent;
use store::Store;
use types::ImportedModel;

/// The owner of what is imported, and the tenant of a folder whose store has no name.
const OPENFGA: &str = "openfga";

/// The arguments of `portcullis import openfga`.
#[derive(Debug, clap::Args)]
pub struct OpenfgaArguments {
    /// The store file, such as `store.fga.yaml`: a model, its tuples and its tests.
    #[arg(required_unless_present = "model", conflicts_with = "model")]
    store: Option<PathBuf>,
    /// Read this model instead of a store: in the modeling language, or as JSON.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// The tuples of the model: YAML, JSON or CSV.
    #[arg(long, value_name = "FILE", requires = "model")]
    tuples: Option<PathBuf>,
    #[command(flatten)]
    destination: Destination,
}

/// Imports as the arguments say. Writes progress and faults to `err`, the content to `out`.
///
/// # Errors
/// A file cannot be read or has a line that cannot be imported, an answer differs, or the service refused something.
pub async fn run(
    arguments: &OpenfgaArguments,
    variables: &Variables,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let destination = &arguments.destination;
    // A missing key is reported before the files are read.
    let target = destination.target(OPENFGA, variables)?;
    let store = match (&arguments.store, &arguments.model) {
        (Some(store), _) => Store::read(store)?,
        (None, Some(model)) => Store::without_tests(model, arguments.tuples.as_deref())?,
        (None, None) => bail!("give a store file, or a model with --model"),
    };
    let tenant = tenant(store.name.as_deref());
    let Imported { content, notes, asked } = match import(store, Clock::system().now()) {
        Ok(imported) => imported,
        Err(Refusal { faults, reason }) => {
            faults.iter().try_for_each(|fault| writeln!(err, "{fault}"))?;
            bail!("nothing was imported: {reason}");
        }
    };
    notes.iter().try_for_each(|note| writeln!(err, "{note}"))?;
    if asked > 0 {
        writeln!(err, "{asked} questions of the tests are answered as they expect")?;
    }
    match (target, &destination.out) {
        (Some(target), _) => {
            target.apply(&content.bundle(), err).await?;
            target.sync(&content.tuples, err).await?;
        }
        (None, Some(to)) => {
            files::write(&content.files(&tenant, to)?, destination.force)?;
            writeln!(err, "{} written to {}", content.summary(), to.display())?;
        }
        (None, None) => {
            for (path, text) in content.files(&tenant, "".as_ref())? {
                write!(out, "# {}\n{text}", path.display())?;
            }
            writeln!(err, "{}", content.summary())?;
        }
    }
    Ok(())
}

/// An imported store.
#[derive(Debug)]
struct Imported {
    content: ImportedContent,
    /// Each part that is left out, with its place.
    notes: Vec<String>,
    /// The number of questions of the tests.
    asked: usize,
}

/// The reason why nothing was imported.
#[derive(Debug)]
struct Refusal {
    /// Each with its place.
    faults: Vec<String>,
    reason: String,
}

impl Refusal {
    fn unsupported(faults: Vec<String>) -> Self {
        let reason = format!("{} lines cannot be expressed", faults.len());
        Self { faults, reason }
    }
}

/// Converts a store, and asks the questions of its tests; `now` is the instant of those that say none.
fn import(store: Store, now: DateTime<Utc>) -> Result<Imported, Refusal> {
    let Store { model, tuples, tests, .. } = store;
    let model = ImportedModel::new(model).map_err(Refusal::unsupported)?;
    let tuples = tuples::convert(&tuples, &model).map_err(Refusal::unsupported)?;
    let (tests, mut notes) =
        questions::read(&tests, &tuples, &model).map_err(Refusal::unsupported)?;
    let (asked, faults) = answers::differences(&model, &tuples, &tests, now)
        .map_err(|full| Refusal { faults: Vec::new(), reason: full.to_string() })?;
    if !faults.is_empty() {
        let reason = format!("{} of {asked} questions are answered otherwise", faults.len());
        return Err(Refusal { faults, reason });
    }
    let content = ImportedContent::new(&model, tuples, &tests, &mut notes);
    Ok(Imported { content: content.map_err(Refusal::unsupported)?, notes, asked })
}

/// Returns the id of the tenant of a folder: the name of the store in lower case.
fn tenant(store: Option<&str>) -> String {
    let parts = store.unwrap_or(OPENFGA).split(|char: char| !char.is_alphanumeric());
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect();
    if parts.is_empty() { OPENFGA.to_owned() } else { parts.join("-") }
}

#[cfg(test)]
mod tests;
