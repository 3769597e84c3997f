//! The refusal of a body that is too large.

use http::request::Parts;

use crate::error::ApiError;

/// Marks a request that declares a body that is too large. The outer layer cannot refuse it: an unknown route or method
/// comes first in the order of faults, and only the router knows these.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Oversize {
    /// The largest body of the route, in bytes.
    pub(crate) limit: usize,
}

/// Refuses a request that is marked as too large. Every route checks this first.
pub(crate) fn refuse_oversize(parts: &Parts) -> Result<(), ApiError> {
    match parts.extensions.get() {
        Some(Oversize { limit }) => Err(ApiError::PayloadTooLarge(*limit)),
        None => Ok(()),
    }
}
