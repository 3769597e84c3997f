//! What the host takes from the service: time, tasks and requests.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::contract::{Failure, HttpRequest, HttpResponse};

/// Time and tasks. The tasks belong on a tokio runtime of their own, with a timer: a guest that spins then delays
/// other guests only.
pub trait Runtime: Send + Sync + 'static {
    /// Monotonic time, since any moment.
    fn elapsed(&self) -> Duration;

    /// Ends after a time.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;

    /// Runs a task that nobody waits for. What is dropped when it panics tells those who wait.
    fn spawn(&self, task: BoxFuture<'static, ()>);

    /// Runs a job that occupies its thread for seconds.
    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>);
}

/// The endpoints that were granted to one resolver: the implementation knows their URLs and credentials.
pub trait Endpoints: Send + Sync + 'static {
    /// Whether there is an endpoint of this name.
    fn has(&self, endpoint: &str) -> bool;

    /// Sends a request to an endpoint that there is, and reads at most `body_limit` bytes of the response's body.
    ///
    /// It is dropped when the call's time is over.
    fn send<'a>(
        &'a self,
        endpoint: &'a str,
        request: HttpRequest,
        body_limit: usize,
    ) -> BoxFuture<'a, Result<HttpResponse, SendError>>;
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq)]
pub enum SendError {
    /// The source failed: the guest is told.
    Failed(Failure),
    /// The address, the method or the path is not allowed: the call ends, with this cause.
    Refused(String),
    /// The body is larger than allowed: the call ends.
    TooLarge,
}

/// No endpoints.
#[derive(Debug)]
pub struct NoEndpoints;

impl Endpoints for NoEndpoints {
    fn has(&self, _: &str) -> bool {
        false
    }

    fn send<'a>(
        &'a self,
        endpoint: &'a str,
        _: HttpRequest,
        _: usize,
    ) -> BoxFuture<'a, Result<HttpResponse, SendError>> {
        let refused = SendError::Refused(format!("endpoint `{endpoint}` is not granted"));
        Box::pin(async { Err(refused) })
    }
}
