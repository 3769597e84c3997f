//! The end of an import of types and tuples: it asks the questions, and hands the content over.

use std::io::Write;

use anyhow::bail;
use chrono::{DateTime, Utc};

use super::answers;
use super::content::ImportedContent;
use super::questions::NotedTests;
use super::tuples::ImportedTuple;
use super::types::ImportedModel;
use crate::api::Target;
use crate::destination::Destination;
use crate::files;

/// The content, all of whose questions are answered as expected.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) content: ImportedContent,
    /// Each part that is left out, with its place.
    pub(crate) notes: Vec<String>,
    /// The number of questions.
    pub(crate) asked: usize,
    /// The word for what asks them.
    tests: &'static str,
}

/// The reason why nothing was imported.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// Each with its place.
    pub(crate) faults: Vec<String>,
    pub(crate) reason: String,
}

impl Refusal {
    /// A refusal because of lines that Portcullis cannot express.
    pub(crate) fn unsupported(faults: Vec<String>) -> Self {
        let reason = format!("{} lines cannot be expressed", faults.len());
        Self { faults, reason }
    }
}

impl Imported {
    /// Asks the questions, and makes the content; `now` is the instant of the questions that say none.
    ///
    /// # Errors
    /// A question is answered otherwise, or a relation cannot have a rule.
    pub(crate) fn new(
        model: &ImportedModel,
        tuples: Vec<ImportedTuple>,
        (tests, mut notes): NotedTests,
        now: DateTime<Utc>,
    ) -> Result<Self, Refusal> {
        // The questions come first: content that answers them otherwise must not be written at all.
        let (asked, faults) = answers::differences(model, &tuples, &tests, now)
            .map_err(|full| Refusal { faults: Vec::new(), reason: full.to_string() })?;
        if !faults.is_empty() {
            let reason = format!("{} of {asked} questions are answered otherwise", faults.len());
            return Err(Refusal { faults, reason });
        }
        let content = ImportedContent::new(model, tuples, &tests, &mut notes);
        let tests = model.model.system.tests;
        Ok(Self { content: content.map_err(Refusal::unsupported)?, notes, asked, tests })
    }
}

/// Sends the content to the service, writes it into a folder, or prints it to `out`. Writes progress and faults to `err`.
///
/// # Errors
/// There is a refusal, a file cannot be written, or the service refused something.
pub(crate) async fn deliver(
    imported: Result<Imported, Refusal>,
    tenant: &str,
    target: Option<Target<'_>>,
    destination: &Destination,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let Imported { content, notes, asked, tests } = match imported {
        Ok(imported) => imported,
        Err(Refusal { faults, reason }) => {
            // The faults are lines of their own, and the error only has their number.
            faults.iter().try_for_each(|fault| writeln!(err, "{fault}"))?;
            bail!("nothing was imported: {reason}");
        }
    };
    notes.iter().try_for_each(|note| writeln!(err, "{note}"))?;
    if asked > 0 {
        writeln!(err, "{asked} questions of the {tests} are answered as they expect")?;
    }
    match (target, &destination.out) {
        (Some(target), _) => {
            target.apply_with_tuples(&content.bundle(), &content.tuples, err).await?;
        }
        (None, Some(to)) => {
            files::write(&content.files(tenant, Some(to))?, destination.force)?;
            writeln!(err, "{} written to {}", content.summary(), to.display())?;
        }
        (None, None) => {
            for (path, text) in content.files(tenant, None)? {
                write!(out, "# {}\n{text}", path.display())?;
            }
            writeln!(err, "{}", content.summary())?;
        }
    }
    Ok(())
}
