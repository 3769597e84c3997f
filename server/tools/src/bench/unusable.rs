//! The errors that the user can repair.

use std::fmt;

use portcullis_config::ConfigError;

/// A fault in the call that the user has to repair before anything can be measured.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unusable(String);

impl Unusable {
    /// Returns the error with this message.
    pub(super) fn error(what: impl fmt::Display) -> anyhow::Error {
        Self(what.to_string()).into()
    }
}

/// Returns whether the user can repair the error by another call, so that it is not a failure.
pub fn is_usage(error: &anyhow::Error) -> bool {
    error.is::<Unusable>() || error.is::<ConfigError>()
}
