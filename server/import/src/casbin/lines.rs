//! Casbin policy files: comma-separated lines, each with its number.

use crate::csv::values;
use crate::fault::ImportFault;

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
