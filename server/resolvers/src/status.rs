//! The status of a resolver in this process.

use std::sync::Arc;

use crate::breaker::BreakerState;
use crate::measurements::Measurements;

/// The status of a resolver in this process, since it started.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResolverStatus {
    pub(crate) availability: Availability,
    pub(crate) measurements: Measurements,
}

/// Whether a resolver can be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Availability {
    /// It is called as far as its breaker lets calls through.
    Active(BreakerState),
    /// It is not called; the text completes "resolver `geo` …".
    Unavailable(Arc<str>),
}
