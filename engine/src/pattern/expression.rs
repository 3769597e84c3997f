//! Patterns as written.

use std::fmt;

/// A regular expression of a condition, as written.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Pattern {
    source: Box<str>,
    /// True if a matching part suffices.
    anywhere: bool,
}

impl Pattern {
    /// Makes an expression that must match a whole text.
    pub fn new(source: &str) -> Self {
        Self { source: source.into(), anywhere: false }
    }

    /// Makes an expression that must match any part of a text.
    pub fn search(source: &str) -> Self {
        Self { source: source.into(), anywhere: true }
    }

    /// Returns the expression as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns whether a matching part suffices.
    pub fn is_search(&self) -> bool {
        self.anywhere
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({:?})", self.source)
    }
}
