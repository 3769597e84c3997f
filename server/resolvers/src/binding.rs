//! A resolver module together with what its manifest grants it.

use std::time::Duration;

use portcullis_resolver_host::BoundResolver;

use crate::attributes::Terms;

/// A module with what its manifest grants it.
#[derive(Debug)]
pub struct Binding {
    pub(crate) resolver: BoundResolver,
    pub(crate) terms: Terms,
    pub(crate) timeout: Duration,
    /// Unique to this binding, so that no answer of another one is found in the cache.
    pub(crate) generation: u64,
}

/// The part of a manifest that does not fit its module.
#[derive(Debug, thiserror::Error)]
pub enum BindingError {
    /// The host refuses to bind the module.
    #[error(transparent)]
    Module(#[from] portcullis_resolver_host::GrantError),
    /// No header can be made of its template and the secrets.
    #[error("endpoint `{0}`: a header is not valid after its secrets are filled in")]
    Header(String),
}
