//! Files of a tenant folder that look like its own, but have other names.

use std::fs;
use std::path::Path;

use portcullis_engine::nearest::nearest;

use crate::kinds::list_folders;

/// The most files that are named.
const MAX_STRAYS: usize = 20;
/// The endings of YAML files.
const ENDINGS: [&str; 2] = [".yaml", ".yml"];

/// A file that is not read.
#[derive(Clone, Debug)]
pub struct StrayFile {
    /// The path inside the tenant's folder.
    pub name: String,
    /// The file that it may be meant to be.
    pub meant: Option<&'static str>,
}

impl StrayFile {
    /// Returns the warning about the file of the tenant folder `folder`, as one line.
    pub(super) fn warning(&self, folder: &str) -> String {
        let hint = self.meant.map(|meant| format!("; did you mean `{meant}`?"));
        format!("{folder}/{}: this file is not read{}", self.name, hint.unwrap_or_default())
    }
}

/// Adds those in the folders of lists to the files of a tenant folder that are not read.
pub(super) fn with_lists(
    folder: &Path,
    own: Vec<String>,
    known: &[&'static str],
) -> Vec<StrayFile> {
    let mut strays: Vec<StrayFile> =
        own.into_iter().map(|name| StrayFile { meant: meant(&name, known), name }).collect();
    for list in list_folders() {
        let names = strays_in_list(&folder.join(list)).into_iter();
        strays.extend(
            names.map(|name| StrayFile {
                meant: meant(&name, known),
                name: format!("{list}/{name}"),
            }),
        );
    }
    strays
}

/// Returns the names of the YAML files in `folder` that are not among `known`, sorted.
pub(super) fn strays_in(folder: &Path, known: &[&str]) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut strays: Vec<String> = names.filter(|name| is_stray(name, known)).collect();
    strays.sort_unstable();
    strays.truncate(MAX_STRAYS);
    strays
}

fn is_stray(name: &str, known: &[&str]) -> bool {
    let is_yaml = ENDINGS.iter().any(|ending| name.ends_with(ending));
    is_yaml && !name.starts_with('.') && !known.contains(&name)
}

/// Returns the names of the YAML files in the folder of a list that are not read, and of the folders in it, sorted.
fn strays_in_list(folder: &Path) -> Vec<String> {
    let mut strays = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        // Files that end in `.yaml` are read there; folders in it are not.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !name.starts_with('.') && (is_folder || name.ends_with(".yml")) {
            strays.push(name);
        }
    }
    strays.sort_unstable();
    strays.truncate(MAX_STRAYS);
    strays
}

/// Returns the file of `known` whose name the name of a file resembles, apart from the ending.
pub(super) fn meant<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let stem = nearest(stem(name), known.iter().map(|known| self::stem(known)))?;
    known.iter().copied().find(|known| self::stem(known) == stem)
}

fn stem(name: &str) -> &str {
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}
