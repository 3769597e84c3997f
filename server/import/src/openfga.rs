//! `portcullis import openfga`: turns a model, its tuples and its tests into types, rules, relations and cases
//! (`docs/openfga.md`).
//!
//! Each rewrite of the model becomes the line of a relation, and each relation a rule that asks for it, so that a check
//! keeps its question. The answers that the tests expect are compared before anything is written.

mod dsl;
mod json;
mod questions;
mod store;
mod tuples;

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use chrono::{DateTime, Utc};
use portcullis_config::Variables;
use portcullis_model::clock::Clock;

use crate::destination::Destination;
use crate::relations::import::{Imported, Refusal, deliver};
use crate::relations::system::OPENFGA;
use crate::relations::tuples::convert;
use crate::relations::types::ImportedModel;
use store::Store;

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
    let target = destination.target(OPENFGA.name, variables)?;
    let store = match (&arguments.store, &arguments.model) {
        (Some(store), _) => Store::read(store)?,
        (None, Some(model)) => Store::without_tests(model, arguments.tuples.as_deref())?,
        (None, None) => bail!("give a store file, or a model with --model"),
    };
    let tenant = tenant(store.name.as_deref());
    let imported = import(store, Clock::system().now());
    deliver(imported, &tenant, target, destination, out, err).await
}

/// Converts a store, and asks the questions of its tests; `now` is the instant of those that say none.
fn import(store: Store, now: DateTime<Utc>) -> Result<Imported, Refusal> {
    let Store { model, tuples, tests, .. } = store;
    let model = ImportedModel::new(model).map_err(Refusal::unsupported)?;
    let tuples = convert(&tuples, &model).map_err(Refusal::unsupported)?;
    let asked = questions::read(&tests, &tuples, &model).map_err(Refusal::unsupported)?;
    Imported::new(&model, tuples, asked, now)
}

/// Returns the id of the tenant of a folder: the name of the store in lower case.
fn tenant(store: Option<&str>) -> String {
    let system = OPENFGA.name;
    let parts = store.unwrap_or(system).split(|char: char| !char.is_alphanumeric());
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).map(str::to_lowercase).collect();
    if parts.is_empty() { system.to_owned() } else { parts.join("-") }
}

#[cfg(test)]
mod tests;
