//! The files of the development mode, which only their owner can read.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use anyhow::Context;

/// Creates a directory that only its owner can read, unless it exists.
pub(super) fn create_dir(path: &Path) -> anyhow::Result<()> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .with_context(|| format!("cannot create the data directory `{}`", path.display()))
}

/// Returns the content of the file `path`. If the file does not exist, stores the result of `make` in it.
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

fn create(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}
