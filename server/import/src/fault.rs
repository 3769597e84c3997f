//! The parts of a file that an import refuses.

use std::fmt;
use std::path::Path;

/// A part of a file that Portcullis cannot express.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ImportFault {
    /// The number of the line, from 1; `None` if the fault is about the whole file.
    pub(crate) line: Option<usize>,
    pub(crate) reason: String,
}

impl ImportFault {
    /// A fault in one line.
    pub(crate) fn at(line: usize, reason: impl Into<String>) -> Self {
        Self { line: Some(line), reason: reason.into() }
    }

    /// A fault of the whole file.
    pub(crate) fn without_line(reason: String) -> Self {
        Self { line: None, reason }
    }

    /// Returns `file:line: reason`.
    pub(crate) fn in_file(&self, file: &Path) -> impl fmt::Display {
        let line = self.line.map(|line| format!("{line}:")).unwrap_or_default();
        format!("{}:{line} {}", file.display(), self.reason)
    }
}
