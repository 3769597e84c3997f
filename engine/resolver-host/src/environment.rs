//! The host environment: time, tasks and requests, which the service provides.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::contract::{Failure, HttpRequest, HttpResponse};

/// Time and tasks. Tasks need their own tokio runtime, with a timer and I/O. So a guest that spins delays only other
/// guests.
pub trait Runtime: Send + Sync + 'static {
    /// Returns the monotonic time since a fixed moment.
    fn elapsed(&self) -> Duration;

    /// Returns a future that ends after `time`.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;

    /// Runs a task without waiting for it. A panic drops the task, which notifies the receiver of its result.
    fn spawn(&self, task: BoxFuture<'static, ()>);

    /// Runs a job that occupies its thread for seconds.
    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>);
}

/// The response to a request, while it is sent.
pub type Sending<'a> = BoxFuture<'a, Result<HttpResponse, SendError>>;

/// The endpoints that are granted to one resolver. The implementation knows their URLs and credentials.
pub trait Endpoints: Send + Sync + 'static {
    /// Returns whether an endpoint of this name is granted.
    fn has(&self, endpoint: &str) -> bool;

    /// Sends a request to a granted endpoint, and reads at most `limit` bytes of the response's body. The host
    /// drops the future when the time of the call is over.
    fn send<'a>(&'a self, endpoint: &'a str, request: HttpRequest, limit: usize) -> Sending<'a>;
}

/// The reason why there is no response.
#[derive(Clone, Debug, PartialEq)]
pub enum SendError {
    /// The source failed: the guest gets the failure.
    Failed(Failure),
    /// The address, the method or the path is not allowed: the call ends with this cause.
    Refused(String),
    /// The body is too large: the call ends.
    TooLarge,
}

/// The configuration and the endpoints that a manifest grants to a module.
#[derive(Clone)]
pub struct Grant {
    /// The configuration. It holds no secrets: those belong to the endpoints.
    pub config: BTreeMap<String, String>,
    /// The endpoints to which the module may send requests.
    pub endpoints: Arc<dyn Endpoints>,
}
