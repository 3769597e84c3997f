//! Tools for native tests of a resolver: a request, and a host that answers from memory.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::{Failure, Host, HttpRequest, HttpResponse, Level, Request};

/// Makes a request for these attributes with empty inputs. Set inputs by `Request { subject, ..request(&[…]) }`.
pub fn request(wanted: &[&str]) -> Request {
    Request {
        tenant: String::new(),
        subject: String::new(),
        domain: String::new(),
        resource: String::new(),
        action: String::new(),
        roles: vec![],
        user: vec![],
        resource_attributes: vec![],
        wanted: wanted.iter().map(|&name| name.to_owned()).collect(),
        now_ms: 0,
        budget_ms: 1_000,
        ext: vec![],
    }
}

/// The function that answers the requests to an endpoint.
type Endpoint = Box<dyn Fn(&HttpRequest) -> Result<HttpResponse, Failure>>;

/// A host that answers from memory and keeps the log.
///
/// ```
/// use portcullis_guest_sdk::testing::MockHost;
/// use portcullis_guest_sdk::{Error, FailureKind, Host, HttpRequest, HttpResponse, Level};
///
/// /// Fetches Ann's record from `source`.
/// fn fetch(host: &impl Host) -> Result<Vec<u8>, Error> {
///     host.log(Level::Debug, "asking the source");
///     Ok(host.send("source", &HttpRequest::get("/people/ann"))?.success()?.body)
/// }
///
/// let host = MockHost::new().endpoint("source", |request| {
///     assert_eq!(request.path, "/people/ann");
///     Ok(HttpResponse { status: 503, headers: vec![], body: vec![] })
/// });
/// let Err(Error::Unavailable(failure)) = fetch(&host) else { panic!("503 is a failure") };
/// assert_eq!((failure.kind, &failure.message[..]), (FailureKind::Status, "status 503"));
/// assert_eq!(host.lines(), [(Level::Debug, "asking the source".to_owned())]);
///
/// let host = MockHost::new()
///     .endpoint("source", |_| Ok(HttpResponse { status: 204, headers: vec![], body: vec![] }));
/// assert_eq!(fetch(&host), Ok(vec![]));
/// ```
#[derive(Default)]
pub struct MockHost {
    config: HashMap<String, String>,
    endpoints: HashMap<String, Endpoint>,
    lines: RefCell<Vec<(Level, String)>>,
}

impl MockHost {
    /// Makes a host without configuration and endpoints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a configuration key.
    #[must_use]
    pub fn config(mut self, key: &str, value: &str) -> Self {
        self.config.insert(key.to_owned(), value.to_owned());
        self
    }

    /// Grants an endpoint, whose requests `answer` answers.
    #[must_use]
    pub fn endpoint(
        mut self,
        name: &str,
        answer: impl Fn(&HttpRequest) -> Result<HttpResponse, Failure> + 'static,
    ) -> Self {
        self.endpoints.insert(name.to_owned(), Box::new(answer));
        self
    }

    /// Returns the lines that were logged so far.
    pub fn lines(&self) -> Vec<(Level, String)> {
        self.lines.borrow().clone()
    }
}

impl Host for MockHost {
    fn config(&self, key: &str) -> Option<String> {
        self.config.get(key).cloned()
    }

    /// # Panics
    /// If the endpoint is not granted. Portcullis would end the call.
    #[expect(
        clippy::panic,
        reason = "for tests only: a resolver could handle a failure, but it must not get here"
    )]
    fn send(&self, endpoint: &str, request: &HttpRequest) -> Result<HttpResponse, Failure> {
        match self.endpoints.get(endpoint) {
            Some(answer) => answer(request),
            None => panic!("endpoint `{endpoint}` is not granted"),
        }
    }

    fn log(&self, level: Level, message: &str) {
        self.lines.borrow_mut().push((level, message.to_owned()));
    }
}
