//! What a resolver can ask of its host.

use crate::bindings::portcullis::resolver::{config, http, log};
use crate::{Failure, FailureKind, HttpRequest, HttpResponse, Level, Method};

/// What a resolver can ask of its host: Portcullis, or [`MockHost`](crate::testing::MockHost) in tests.
pub trait Host {
    /// The value of a key of the manifest's `config`, if it has the key and `describe` declares it.
    fn config(&self, key: &str) -> Option<String>;

    /// Sends a request to an endpoint that `describe` declares and the manifest grants.
    ///
    /// # Errors
    /// The source has failed; `?` makes that [`Error::Unavailable`](crate::Error::Unavailable). What the host
    /// refuses ends the call instead.
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
    /// A GET of a path, without headers and body.
    pub fn get(path: impl Into<String>) -> Self {
        Self { method: Method::Get, path: path.into(), headers: vec![], body: None }
    }
}

impl HttpResponse {
    /// The response, if its status says that the request succeeded (200 to 299).
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
