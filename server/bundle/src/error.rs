//! The reason why a tenant folder cannot be used.

use std::io;

use portcullis_engine::Invalid;

/// A reason why a tenant folder cannot be used. Each message starts with the file.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("{file}: cannot be read: {error}")]
    Unreadable { file: String, error: io::Error },
    /// The message ends with line and column.
    #[error("{file}: not valid YAML: {message}")]
    Syntax { file: String, message: String },
    #[error("{file}: {invalid}")]
    Invalid { file: String, invalid: Invalid },
}
