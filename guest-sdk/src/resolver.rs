//! The trait of a resolver.

use crate::bindings::portcullis::resolver::types::{Descriptor, Error, Request, Resolution};
use crate::host::Host;

/// Answers the attributes of one namespace.
pub trait Resolver {
    /// Returns the description of the resolver: the attributes that it answers, and its needs in the manifest.
    fn describe() -> Descriptor;

    /// Answers the attributes in `request.wanted`. The type of `host` is known at compile time, so that the component
    /// imports only the functions that it calls.
    ///
    /// # Errors
    /// The reason why there is no answer. Tests of the attributes are then undetermined: a deny applies, an allow does
    /// not.
    fn resolve(request: &Request, host: &impl Host) -> Result<Resolution, Error>;
}
