//! Imported schemas answer as SpiceDB does. What cannot be imported is refused by its line.

mod files;
mod refusals;

use std::fs;

use chrono::DateTime;

use super::validation::Validation;
use super::{Imported, Refusal};

/// Imports a validation file with this text.
fn imported(text: &str) -> Result<Imported, Vec<String>> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("validation.yaml");
    fs::write(&path, text).expect("a file");
    let start = format!("{}:", path.display());
    let short = |fault: &String| fault.strip_prefix(&*start).unwrap_or(fault).to_owned();
    let found = match Validation::read(&path) {
        Ok(validation) => super::import(validation, DateTime::UNIX_EPOCH),
        Err(error) => return Err(vec![short(&error.to_string())]),
    };
    match found {
        Ok(mut found) => {
            found.notes = found.notes.iter().map(short).collect();
            Ok(found)
        }
        Err(Refusal { faults, .. }) => Err(faults.iter().map(short).collect()),
    }
}
