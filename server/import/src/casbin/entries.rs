//! The entries of a model file: sections in brackets, `key = value`, comments, and lines that `\` continues.

use crate::fault::ImportFault;

/// One `key = value` of a model file.
pub(super) struct ModelEntry {
    pub(super) section: String,
    pub(super) key: String,
    pub(super) value: String,
    /// From 1.
    line: usize,
}

impl ModelEntry {
    /// A fault in this entry.
    pub(super) fn fault(&self, reason: impl Into<String>) -> ImportFault {
        ImportFault::at(self.line, reason)
    }
}

/// Returns the entry `key` of `section`.
pub(super) fn find<'e>(
    entries: &'e [ModelEntry],
    section: &str,
    key: &str,
) -> Option<&'e ModelEntry> {
    entries.iter().find(|entry| entry.section == section && entry.key == key)
}

/// Reads the entries of a file. Notes the lines that are not entries.
pub(super) fn entries(text: &str, faults: &mut Vec<ImportFault>) -> Vec<ModelEntry> {
    let (mut entries, mut section) = (Vec::<ModelEntry>::new(), String::new());
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).zip(1..);
    while let Some((first, line)) = lines.next() {
        if first.is_empty() || first.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = first.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.trim().clone_into(&mut section);
            continue;
        }
        let mut whole = first.to_owned();
        while let Some(continued) = whole.strip_suffix('\\') {
            // Casbin joins the lines with one space.
            let next = lines.next().map_or("", |(next, _)| next);
            whole = format!("{} {next}", continued.trim_end());
        }
        let Some((key, value)) = whole.split_once('=') else {
            faults.push(ImportFault::at(line, "expected `key = value`"));
            continue;
        };
        let (key, value) = (key.trim().to_owned(), without_comment(value).trim().to_owned());
        if find(&entries, &section, &key).is_some() {
            faults.push(ImportFault::at(line, format!("`{key}` occurs twice")));
            continue;
        }
        entries.push(ModelEntry { section: section.clone(), key, value, line });
    }
    entries
}

/// Returns the text before a `#` or `;` that stands outside of quotes.
fn without_comment(value: &str) -> &str {
    let mut quote = None;
    for (at, char) in value.char_indices() {
        match (quote, char) {
            (None, '#' | ';') => return value.get(..at).unwrap_or(value),
            (None, '"' | '\'') => quote = Some(char),
            (Some(open), char) if char == open => quote = None,
            _ => {}
        }
    }
    value
}
