//! The files of another system, which may name each other.

use std::path::Path;

use serde_saphyr::Spanned;

use super::place::Place;
use super::yaml;
use crate::files;

/// Reads a file that the file of `start` names, relative to it.
pub(crate) fn named<T>(
    name: &Spanned<String>,
    start: &Place,
    read: impl FnOnce(&Path) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let path = start.file().with_file_name("").join(&name.value);
    if path.exists() {
        return read(&path);
    }
    anyhow::bail!(yaml::place(name, start).says(format!("there is no file {}", path.display())))
}

/// Reads a file.
pub(crate) fn opened(path: &Path) -> anyhow::Result<(String, Place)> {
    Ok((files::read(path)?, Place::start(path)))
}

/// Returns the place of the first line of a text: a block of lines begins below its `|`.
pub(crate) fn first_line(value: &Spanned<String>, file: &str, start: &Place) -> Place {
    let place = yaml::place(value, start);
    let line = usize::try_from(value.referenced.line()).unwrap_or(1);
    let begins = file.lines().nth(line - 1).is_some_and(|line| {
        let last = line.split_whitespace().find(|word| word.starts_with(['|', '>']));
        last.is_some()
    });
    if begins { place.below(1) } else { place }
}
