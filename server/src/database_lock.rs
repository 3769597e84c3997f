//! The lock of a SQLite file: one process serves it.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use portcullis_config::{database_file, without_password};

/// Locks a SQLite file for the process that serves it, until the returned file is dropped. The lock is the kernel's, so that
/// it also ends with a process that is killed. Commands that work beside a service take no lock.
///
/// # Errors
/// Another process holds the lock, or there is no room for it beside the database.
pub(crate) fn lock(database: &Path) -> Result<File, TryLockError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(beside(database))
        .map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

/// Locks the database at `url` for `portcullis serve`. One that is no file has no lock.
///
/// # Errors
/// Another process serves the file, or the lock cannot be made.
pub(crate) fn lock_served(url: &str) -> anyhow::Result<Option<File>> {
    let Some(database) = database_file(url) else { return Ok(None) };
    let shown = without_password(url);
    match lock(database) {
        Ok(file) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => bail!(
            "DATABASE_URL `{shown}`: another process serves `{}`, and SQLite serves one process; stop it, or use PostgreSQL, \
             which serves several",
            database.display()
        ),
        // The opening of the database, which comes next, says that the folder is missing.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| {
            let file = beside(database);
            format!(
                "DATABASE_URL `{shown}`: cannot lock `{}`; the user of this process must be able to write it and its folder",
                file.display()
            )
        }),
    }
}

/// Returns the path of the file that is locked. All links to a database have the same one.
fn beside(database: &Path) -> PathBuf {
    // A database that is not there yet is no link.
    let real = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    let mut name = OsString::from(real);
    name.push("-lock");
    name.into()
}
