//! Reasons for which a credential is refused.

use std::error::Error;

use portcullis_storage::StoreError;

/// A credential that proves no caller, or a caller without the right.
#[derive(Debug)]
pub enum AuthError {
    /// The token is bad; the text says why and never holds the token.
    TokenRefused(String),
    /// The key is bad, or serves no purpose on this route; the text never holds the key.
    CredentialRefused(String),
    /// The caller is known and may not do this.
    AccessDenied(String),
    /// The key set of the identity provider cannot be had; the text is for the log.
    NoKeys(String),
    /// The store failed.
    Store(StoreError),
    /// A task failed; the cause is for the log alone.
    Internal(Box<dyn Error + Send + Sync>),
}

impl From<StoreError> for AuthError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
