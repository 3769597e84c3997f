//! Places in the files of a store.

use std::path::Path;
use std::sync::Arc;

use crate::fault::ImportFault;

/// A line of a file.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    file: Arc<Path>,
    /// From 1.
    line: usize,
}

impl Place {
    /// The first line of `file`.
    pub(crate) fn start(file: &Path) -> Self {
        Self { file: file.into(), line: 1 }
    }

    /// Returns another line of the same file, from 1.
    pub(crate) fn at(&self, line: usize) -> Self {
        Self { file: Arc::clone(&self.file), line }
    }

    /// Returns the line that is `lines` below.
    pub(crate) fn below(&self, lines: usize) -> Self {
        self.at(self.line + lines)
    }

    /// Returns the file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns `file:line: reason`.
    pub(crate) fn says(&self, reason: impl Into<String>) -> String {
        ImportFault::at(self.line, reason).in_file(&self.file).to_string()
    }
}
