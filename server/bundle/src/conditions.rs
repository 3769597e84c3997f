//! The conditions of `conditions.yaml`, of `policies.yaml` and of the files beside it, edited in place.

mod format;
mod meaning;
mod scalar;
mod when;

use std::io;
use std::path::{Path, PathBuf};

use crate::kinds::{CONDITIONS, POLICIES};

pub use format::format_conditions;
pub use scalar::FORMAT_WIDTH;
pub use when::{WithWhen, write_as_when};

/// Returns the files of a tenant folder that have conditions: `conditions.yaml`, `policies.yaml`, and the files of the folder
/// `policies` in the order of their names.
///
/// # Errors
/// The folder `policies` cannot be read.
pub fn condition_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let further = folder.join(POLICIES.name());
    if further.is_dir() {
        for entry in further.read_dir()? {
            let name = entry?.file_name();
            files.extend(name.to_str().and_then(|name| POLICIES.file_in_folder(name)));
        }
    }
    files.sort_unstable();
    let first = [CONDITIONS, POLICIES].into_iter().map(|kind| folder.join(kind.file()));
    let first = first.filter(|file| file.is_file());
    Ok(first.chain(files.iter().map(|file| folder.join(file))).collect())
}

#[cfg(test)]
mod tests;
