//! The status of a resolver in this process.

use std::sync::Arc;

use portcullis_model::resolver::ActivityRecord;

use crate::breaker::BreakerState;

/// The status of a resolver in this process, since it started.
#[derive(Clone, Debug)]
pub(crate) struct ResolverStatus {
    pub(crate) availability: Availability,
    pub(crate) measurements: ActivityRecord,
}

/// Whether a resolver can be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Availability {
    /// It is called as far as its breaker lets calls through.
    Active(BreakerState),
    /// It is not called; the text completes "resolver `geo` …".
    Unavailable(Arc<str>),
}
