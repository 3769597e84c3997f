//! `portcullis import spicedb`: turns a schema, its relationships and its assertions into types, rules, relations and cases
//! (`docs/spicedb.md`).
//!
//! It shares with the import of OpenFGA all that comes after the text is parsed.

mod questions;
mod relationships;
mod schema;
mod unfilled;
mod validation;

use std::io::Write;
use std::path::PathBuf;

use anyhow::bail;
use chrono::{DateTime, SubsecRound, Utc};
use portcullis_config::Variables;
use portcullis_model::clock::Clock;

use crate::destination::Destination;
use crate::relations::import::{Imported, Refusal, deliver};
use crate::relations::system::SPICEDB;
use crate::relations::tuples::convert;
use crate::relations::types::ImportedModel;
use validation::Validation;

/// The arguments of `portcullis import spicedb`.
#[derive(Debug, clap::Args)]
pub struct SpicedbArguments {
    /// The validation file: a schema, its relationships and its assertions.
    #[arg(required_unless_present = "schema", conflicts_with = "schema")]
    validation: Option<PathBuf>,
    /// Read this schema instead of a validation file.
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// The relationships of the schema, one in a line.
    #[arg(long, value_name = "FILE", requires = "schema")]
    relationships: Option<PathBuf>,
    #[command(flatten)]
    destination: Destination,
}

/// Imports as the arguments say. Writes progress and faults to `err`, the content to `out`.
///
/// # Errors
/// A file cannot be read or has a line that cannot be imported, an answer differs, or the service refused something.
pub async fn run(
    arguments: &SpicedbArguments,
    variables: &Variables,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let (destination, name) = (&arguments.destination, SPICEDB.name);
    // A missing key is reported before the files are read.
    let target = destination.target(name, variables)?;
    let validation = match (&arguments.validation, &arguments.schema) {
        (Some(file), _) => Validation::read(file)?,
        (None, Some(schema)) => {
            Validation::without_assertions(schema, arguments.relationships.as_deref())?
        }
        (None, None) => bail!("give a validation file, or a schema with --schema"),
    };
    let imported = import(validation, Clock::system().now());
    deliver(imported, name, target, destination, out, err).await
}

/// Converts a validation file, and asks its questions; `now` is the instant of those that say none.
fn import(validation: Validation, now: DateTime<Utc>) -> Result<Imported, Refusal> {
    let Validation { model, tuples, expected } = validation;
    let now = now.trunc_subsecs(0);
    let model = ImportedModel::new(model).map_err(Refusal::unsupported)?;
    let tuples = convert(&tuples, &model).map_err(Refusal::unsupported)?;
    let asked = questions::read(&expected, &tuples, &model, now).map_err(Refusal::unsupported)?;
    Imported::new(&model, tuples, asked, now)
}

#[cfg(test)]
mod tests;
