//! Writes the imported rules and policies as files of a tenant folder.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, bail};
use serde::Serialize;

use super::output::Converted;

const RULES_FILE: &str = "rules.yaml";
const POLICIES_FILE: &str = "policies.yaml";

/// Writes `rules.yaml` and `policies.yaml` into the folder `to`. A `to` that ends in `.yaml` is the file of the rules.
/// Replaces an existing file only if `force` is true.
///
/// # Errors
/// A file is there already or cannot be written, or there are policies and no file for them.
pub(super) fn write(converted: &Converted, to: &Path, force: bool) -> anyhow::Result<()> {
    let rules = yaml(&converted.rules)?;
    if to.extension().is_some_and(|end| end == "yaml" || end == "yml") {
        if !converted.policies.is_empty() {
            bail!(
                "{}: {} policies need a file of their own; give a folder to --out",
                to.display(),
                converted.policies.len()
            );
        }
        return replace(to, &rules, force);
    }
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    let (rules_file, policies_file) = (to.join(RULES_FILE), to.join(POLICIES_FILE));
    // Nothing is written if one of the files is there.
    let there: Vec<&Path> =
        [&*rules_file, &*policies_file].into_iter().filter(|file| file.exists()).collect();
    if !force && !there.is_empty() {
        return Err(exists(&there));
    }
    replace(&rules_file, &rules, force)?;
    replace(&policies_file, &yaml(&converted.policies)?, force)
}

/// Returns the records as a YAML list.
pub(super) fn yaml<T: Serialize>(records: &[T]) -> anyhow::Result<String> {
    Ok(serde_saphyr::to_string(&records)?)
}

fn replace(file: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).truncate(true);
    if force {
        options.create(true)
    } else {
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
