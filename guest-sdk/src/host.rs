//! The functions that a host offers to a resolver.

use crate::bindings::portcullis::resolver::{config, http, log};
use crate::{Failure, FailureKind, HttpRequest, HttpResponse, Level, Method};

/// The host of a resolver: Portcullis, or [`MockHost`](crate::testing::MockHost) in tests.
pub trait Host {
    /// Returns the value of a key in the manifest's `config`. `None` if the manifest does not have the key, or if
    /// `describe` does not declare it.
    fn config(&self, key: &str) -> Option<String>;

    /// Sends a request to an endpoint that `describe` declares and the manifest grants.
    ///
    /// # Errors
    /// The source failed; `?` converts the failure to [`Error::Unavailable`](crate::Error::Unavailable). A request that
    /// the host refuses is no error: it ends the call.
    fn send(&self, endpoint: &str, request: &HttpRequest) -> Result<HttpResponse, Failure>;

    /// Writes a line for the people who operate the resolver.
    fn log(&self, level: Level, message: &str);
}

/// The imports of the component.
pub(crate) struct Imports;

impl Host for Imports {
    fn config(&self, key: &str) -> Option<String> {
        config::get(key)
    }

    fn send(&self, endpoint: &str, request: &HttpRequest) -> Result<HttpResponse, Failure> {
        http::send(endpoint, request)
    }

    fn log(&self, level: Level, message: &str) {
        log::emit(level, message);
    }
}

impl HttpRequest {
    /// Makes a GET request for a path, without headers and body.
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::Get, path: path.into(), headers: vec![], body: None }
    }
}

impl HttpResponse {
    /// Returns the response, if its status is a success (200 to 299).
    ///
    /// # Errors
    /// A failure that names the status.
    pub fn success(self) -> Result<Self, Failure> {
        match self.status {
            200..=299 => Ok(self),
            status => {
                Err(Failure { kind: FailureKind::Status, message: format!("status {status}") })
            }
        }
    }
}
