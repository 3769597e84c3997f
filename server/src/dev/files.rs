//! The files of the development mode. Only their owner can read them.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::Context;

use crate::database_lock;

/// Creates a directory that only its owner can read, unless it exists.
pub(super) fn create_dir(path: &Path) -> anyhow::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("cannot create the data directory `{}`", path.display()))
}

/// Locks the database in the data directory for this process until the returned file is dropped.
///
/// # Errors
/// Another process holds the lock.
pub(super) fn lock_dir(path: &Path, database: &Path) -> anyhow::Result<File> {
    database_lock::lock(database).map_err(|error| match error {
        TryLockError::WouldBlock => anyhow::anyhow!(
            "another `portcullis` uses the data directory `{}`; stop it, or give this one another directory and port: \
             --data-dir DIR --port N",
            path.display()
        ),
        TryLockError::Error(error) => anyhow::Error::new(error)
            .context(format!("cannot lock the data directory `{}`", path.display())),
    })
}

/// Returns the content of the file `path`. The first start creates it with the content that `make` returns.
pub(super) fn read_or_make(
    path: &Path,
    make: impl FnOnce() -> anyhow::Result<Vec<u8>>,
) -> anyhow::Result<Vec<u8>> {
    let content = match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => make().and_then(|content| {
            create(path, &content)?;
            Ok(content)
        }),
        read => read.map_err(anyhow::Error::from),
    };
    content.with_context(|| format!("cannot use `{}`", path.display()))
}

/// Creates a file. Fails if it exists, so that another process does not overwrite it.
fn create(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    // A crash must not leave secrets behind whose key is lost.
    file.sync_all()
}
