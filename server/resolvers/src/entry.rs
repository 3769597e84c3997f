//! The entry of a resolver in the registry.

use std::sync::Arc;

use crate::active::ActiveResolver;

/// The entry of a resolver in the registry.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Active(Arc<ActiveResolver>),
    /// It cannot be called; the text completes "resolver `geo` …".
    Unavailable(Arc<str>),
}
