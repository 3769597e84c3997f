//! The tenant folders of a run.

use std::path::{Path, PathBuf};
use std::{fs, io};

use portcullis_bundle::{Bundle, TENANT_FILE};

use super::error::TestError;

/// A tenant folder with its content.
pub struct TenantFolder {
    pub folder: PathBuf,
    pub bundle: Bundle,
}

/// Reads all tenants before any case runs. So the faults of all files are reported together, and not after screens of
/// results.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<TenantFolder>, Vec<TestError>> {
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match tenant_folders(path) {
            Ok(folders) => {
                for folder in folders {
                    match Bundle::read_folder(&folder) {
                        Ok(bundle) => found.push(TenantFolder { folder, bundle }),
                        Err(error) => errors.push(error.into()),
                    }
                }
            }
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

/// Returns the tenant folder that `path` is, or those directly inside it, sorted.
///
/// # Errors
/// The folder cannot be read, or there is no tenant folder.
pub fn tenant_folders(path: &Path) -> Result<Vec<PathBuf>, TestError> {
    if is_tenant(path) {
        return Ok(vec![path.to_owned()]);
    }
    if path.is_file() {
        return Err(TestError::File(path.display().to_string(), folder_of(path)));
    }
    let mut folders = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| unreadable(path, error))? {
        let folder = entry.map_err(|error| unreadable(path, error))?.path();
        if is_tenant(&folder) {
            folders.push(folder);
        }
    }
    if folders.is_empty() {
        return Err(TestError::NoTenant(path.display().to_string()));
    }
    folders.sort_unstable();
    Ok(folders)
}

fn unreadable(path: &Path, error: io::Error) -> TestError {
    TestError::Path(path.display().to_string(), error)
}

/// Returns the folder that a file is in, as text.
fn folder_of(file: &Path) -> String {
    match file.parent() {
        Some(folder) if folder.as_os_str().is_empty() => ".".to_owned(),
        Some(folder) => folder.display().to_string(),
        None => file.display().to_string(),
    }
}

/// Returns whether a folder is a tenant folder.
fn is_tenant(folder: &Path) -> bool {
    folder.join(TENANT_FILE).is_file()
}
