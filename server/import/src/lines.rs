//! Casbin policy files: comma-separated lines, each with its number.

use super::fault::ImportFault;

/// A line that is neither empty nor a comment.
#[derive(Debug)]
pub(super) struct Line {
    /// From 1.
    pub(super) number: usize,
    /// The first value, such as `p` or `g`.
    pub(super) kind: String,
    pub(super) values: Vec<String>,
}

/// Reads each line on its own, so that a line with a fault does not affect the others.
pub(super) fn read(text: &str) -> impl Iterator<Item = Result<Line, ImportFault>> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).zip(1..);
    let lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(line, number)| {
        let mut values = values(line).map_err(|reason| ImportFault::at(number, reason))?;
        // There is at least one value.
        let kind = values.remove(0);
        Ok(Line { number, kind, values })
    })
}

impl Line {
    /// A fault in this line.
    pub(super) fn fault(&self, reason: impl Into<String>) -> ImportFault {
        ImportFault::at(self.number, reason)
    }

    /// Drops empty values behind the first `count`: a table fills its shorter rows with empty cells.
    pub(super) fn without_padding(mut self, count: usize) -> Self {
        while self.values.len() > count && self.values.last().is_some_and(String::is_empty) {
            self.values.pop();
        }
        self
    }

    /// Makes sure that the line has `count` values after its kind.
    pub(super) fn has_values(&self, count: usize) -> Result<(), ImportFault> {
        let (found, kind) = (self.values.len(), &self.kind);
        if found == count {
            return Ok(());
        }
        Err(self.fault(format!("expected {count} values after `{kind}`, not {found}")))
    }
}

/// Returns the values of a line, at least one, without the white space before them. A value in double quotes may contain
/// commas, and quotes that are doubled.
fn values(line: &str) -> Result<Vec<String>, String> {
    let (mut values, mut rest) = (Vec::new(), line);
    loop {
        rest = rest.trim_start();
        let after = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (value, after) = unquoted(quoted)?;
                values.push(value);
                after.trim_start()
            }
            None => {
                let (value, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                // Casbin for Go keeps it, and then the value is another one; others remove it.
                if value.ends_with(char::is_whitespace) {
                    let value = value.trim_end();
                    return Err(format!(
                        "Casbin's implementations differ in the white space after `{value}`; remove it"
                    ));
                }
                values.push(value.to_owned());
                after
            }
        };
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(values),
            None => return Err(format!("expected `,` after a quoted value, not `{after}`")),
        }
    }
}

/// Returns a quoted value and the text after it. The opening quote is already removed from `text`.
fn unquoted(text: &str) -> Result<(String, &str), String> {
    let (mut value, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('"') {
        value.push_str(before);
        let Some(doubled) = after.strip_prefix('"') else { return Ok((value, after)) };
        value.push('"');
        rest = doubled;
    }
    Err("expected a `\"` that closes the value".to_owned())
}
