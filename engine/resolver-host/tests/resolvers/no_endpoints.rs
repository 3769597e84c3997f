//! The environment of a module without endpoints, for tests and benchmarks.

use portcullis_resolver_host::{Endpoints, HttpRequest, Sending};

/// An environment to which the host sends nothing.
pub(crate) struct NoEndpoints;

impl Endpoints for NoEndpoints {
    fn has(&self, _: &str) -> bool {
        false
    }

    fn send<'a>(&'a self, endpoint: &'a str, _: HttpRequest, _: usize) -> Sending<'a> {
        unreachable!("the host sends nothing to {endpoint}")
    }
}
