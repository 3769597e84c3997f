//! Files of a tenant folder that look like its own, but have other names.

use std::fs;
use std::path::Path;

use portcullis_engine::nearest::nearest;

/// The most files that are named.
const MAX_STRAYS: usize = 20;
/// The endings of YAML files.
const ENDINGS: [&str; 2] = [".yaml", ".yml"];

/// Returns the names of the YAML files in `folder` that are not among `known`, sorted.
pub(super) fn strays_in(folder: &Path, known: &[&str]) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_stray = |name: &String| {
        let is_yaml = ENDINGS.iter().any(|ending| name.ends_with(ending));
        is_yaml && !name.starts_with('.') && !known.contains(&&**name)
    };
    let mut strays: Vec<String> = names.filter(is_stray).collect();
    strays.sort_unstable();
    strays.truncate(MAX_STRAYS);
    strays
}

/// Returns the names of the YAML files in the folder of a list that are not read, and of the folders in it, sorted.
pub(super) fn strays_in_list(folder: &Path) -> Vec<String> {
    let mut strays = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
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
