//! The causes for which a stored resolver cannot be loaded.

use portcullis_resolver_host::{CallError, LoadError};
use portcullis_storage::StoreError;
use portcullis_storage::encryption::CryptoError;

use crate::binding::BindingError;

/// The cause for which a resolver cannot be loaded; completes "resolver `geo` could not be loaded: …".
#[derive(Debug, thiserror::Error)]
pub enum LoadFailure {
    /// The store failed. The log has the cause.
    #[error("the database is unavailable")]
    Store(#[from] StoreError),
    /// The secrets cannot be decrypted, because their key was removed from `ENCRYPTION_KEY`.
    #[error("cannot decrypt the secrets of the resolver: {0}")]
    Secrets(#[from] CryptoError),
    /// The host refuses the module, or cannot load it at the moment.
    #[error("{0}")]
    Module(#[from] LoadError),
    /// The manifest does not fit the module.
    #[error("{0}")]
    Manifest(#[from] BindingError),
}

impl LoadFailure {
    /// Whether the resolver itself is sound, so that another attempt can succeed.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Store(_) => true,
            Self::Module(error) => is_transient(error),
            Self::Secrets(_) | Self::Manifest(_) => false,
        }
    }
}

/// Whether the state of the host prevented the admission of a module. Such an error says nothing about the module.
pub fn is_transient(error: &LoadError) -> bool {
    use CallError::{Busy, Host};
    matches!(
        error,
        LoadError::Host
            | LoadError::Slow(_)
            | LoadError::Queue
            | LoadError::Compiler(_)
            | LoadError::Describe(Busy(_) | Host)
    )
}
