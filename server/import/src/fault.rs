//! The parts of Casbin files that the importer refuses.

use std::fmt;
use std::path::Path;

/// A part of a Casbin file that rules cannot express.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ImportFault {
    /// The number of the line, from 1; `None` if the fault is about the whole file.
    pub(super) line: Option<usize>,
    pub(super) reason: String,
}

impl ImportFault {
    /// A fault in one line.
    pub(super) fn at(line: usize, reason: impl Into<String>) -> Self {
        Self { line: Some(line), reason: reason.into() }
    }

    /// A fault of the whole file.
    pub(super) fn of_file(reason: String) -> Self {
        Self { line: None, reason }
    }

    /// Returns `file:line: reason`.
    pub(super) fn in_file(&self, file: &Path) -> impl fmt::Display {
        let line = self.line.map(|line| format!("{line}:")).unwrap_or_default();
        format!("{}:{line} {}", file.display(), self.reason)
    }
}
