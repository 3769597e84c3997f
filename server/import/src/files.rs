//! Writes the files of an import.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

/// Reads a file that the arguments, or another file, name.
pub(crate) fn read(file: &Path) -> anyhow::Result<String> {
    fs::read_to_string(file).with_context(|| file.display().to_string())
}

/// Writes the files, and the folder that the first one is in. Replaces existing files only if `force` is true; otherwise
/// nothing is written if one is there.
pub(crate) fn write(files: &[(PathBuf, String)], force: bool) -> anyhow::Result<()> {
    let paths = files.iter().map(|(path, _)| &**path);
    let there: Vec<&Path> = paths.filter(|path| path.exists()).collect();
    if !force && !there.is_empty() {
        return Err(exists(&there));
    }
    if let Some(folder) = files.first().and_then(|(path, _)| path.parent()) {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    files.iter().try_for_each(|(path, text)| replace(path, text, force))
}

/// Returns the records as a YAML list.
pub(crate) fn yaml<T: Serialize>(records: &[T]) -> anyhow::Result<String> {
    Ok(serde_saphyr::to_string(&records)?)
}

fn replace(file: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).truncate(true);
    if force {
        options.create(true)
    } else {
        // A file that another process made since it was looked for is not replaced either.
        options.create_new(true)
    };
    let mut opened = options.open(file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => exists(&[file]),
        _ => anyhow::Error::new(error).context(file.display().to_string()),
    })?;
    opened.write_all(text.as_bytes()).with_context(|| file.display().to_string())
}

fn exists(files: &[&Path]) -> anyhow::Error {
    let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    let (are, them) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
    anyhow::anyhow!("{} {are} there already; use --force to replace {them}", names.join(" and "))
}
