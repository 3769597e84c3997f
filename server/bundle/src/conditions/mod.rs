//! The conditions of `policies.yaml` and of the files beside it, edited in place.

mod document;
mod format;
mod meaning;
mod scalar;
mod when;

use std::io;
use std::path::{Path, PathBuf};

use crate::bundle::POLICIES_FILE;

pub use format::format_conditions;
pub use scalar::FORMAT_WIDTH;
pub use when::{WithWhen, write_as_when};

/// The folder whose files have policies too.
const POLICIES_FOLDER: &str = "policies";

/// Returns the files of a tenant folder that have policies: `policies.yaml`, and those of the folder `policies` in the
/// order of their names.
///
/// # Errors
/// The folder `policies` cannot be read.
pub fn policy_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let further = folder.join(POLICIES_FOLDER);
    if further.is_dir() {
        for entry in further.read_dir()? {
            let file = entry?.path();
            if file.extension().is_some_and(|extension| extension == "yaml") {
                files.push(file);
            }
        }
    }
    files.sort_unstable();
    let first = folder.join(POLICIES_FILE);
    if first.is_file() {
        files.insert(0, first);
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
