//! The reason why a tenant folder cannot be used.

use std::io;

/// A reason why a tenant folder cannot be used. Each message starts with the file.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("{file}: cannot be read: {error}")]
    Unreadable { file: String, error: io::Error },
    /// Another file may be the missing one.
    #[error("{file}: there is no such file, but there is `{stray}`; rename it")]
    Misnamed { file: String, stray: String },
    /// The place is the file, its line and its column.
    #[error("{place}: not valid YAML: {message}")]
    Syntax { place: String, message: String },
    /// A line for each fault, with the file, line, column and JSON pointer.
    #[error("{0}")]
    Invalid(String),
}
