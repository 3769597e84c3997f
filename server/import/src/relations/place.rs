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
    /// The lines of a text that begins here, where they do not stand one below the other.
    lines: Option<Arc<[usize]>>,
}

impl Place {
    /// The first line of `file`.
    pub(crate) fn start(file: &Path) -> Self {
        Self { file: file.into(), line: 1, lines: None }
    }

    /// Returns another line of the same file, from 1.
    pub(crate) fn at(&self, line: usize) -> Self {
        Self { file: Arc::clone(&self.file), line, lines: None }
    }

    /// Returns the place with the lines of the text that begins here.
    pub(crate) fn with_lines(self, lines: Vec<usize>) -> Self {
        Self { lines: Some(lines.into()), ..self }
    }

    /// Returns the line that is `lines` below.
    pub(crate) fn below(&self, lines: usize) -> Self {
        let own = self.lines.as_ref().and_then(|own| own.get(lines).copied());
        self.at(own.unwrap_or(self.line + lines))
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
