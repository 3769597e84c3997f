//! Folders that may be missing.

use std::path::{Path, PathBuf};

/// Returns the folder, or the nearest one above it that exists.
pub(crate) fn nearest_folder(path: &Path) -> PathBuf {
    let found = path.ancestors().find(|path| path.is_dir());
    found.unwrap_or_else(|| Path::new(".")).to_owned()
}
