//! A thin HTTP client: what was sent, and what came back.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

use reqwest::Method;
use reqwest::blocking::{Body, Client};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::names;

/// No answer takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

fn client() -> &'static Client {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    CLIENT.get_or_init(|| {
        Client::builder()
            .no_proxy()
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            // The server closes an idle connection after ten seconds: no request may meet that moment.
            .pool_idle_timeout(Duration::from_secs(3))
            .timeout(PATIENCE)
            .build()
            .expect("a client")
    })
}

/// A request under construction.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    route: String,
    headers: HeaderMap,
    body: Vec<u8>,
    chunked: bool,
}

impl Request {
    /// `route` is a method and a path: `POST /api/v1/check`.
    pub(crate) fn new(route: impl Into<String>) -> Self {
        Self { route: route.into(), headers: HeaderMap::new(), body: Vec::new(), chunked: false }
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// Adds a header, also beside one of the same name.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        let name: HeaderName = name.parse().expect("a header name");
        self.headers.append(name, HeaderValue::from_str(value).expect("a header value"));
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    pub(crate) fn body(self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.header(CONTENT_TYPE.as_str(), content_type).untyped_body(body)
    }

    pub(crate) fn untyped_body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends the body in chunks, without saying how long it is.
    pub(crate) fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    /// Sends it; `None` when the connection ends without an answer.
    pub(crate) fn try_send(&self, to: SocketAddr) -> Option<Reply> {
        let (method, path) = self.route.split_once(' ').expect("a method and a path");
        let method: Method = method.parse().expect("a method");
        let request = client().request(method, format!("http://{to}{path}"));
        let request = request.headers(self.headers.clone());
        let request = match (self.chunked, self.body.is_empty()) {
            (true, _) => request.body(Body::new(std::io::Cursor::new(self.body.clone()))),
            (false, true) => request,
            (false, false) => request.body(self.body.clone()),
        };
        let response = request.send().ok()?;
        Some(Reply {
            route: self.route.clone(),
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.text().ok()?,
        })
    }

    /// Sends a header that announces a body of `length` bytes, and no body.
    #[track_caller]
    pub(crate) fn announce(&self, to: SocketAddr, length: usize) -> Reply {
        Reply::read(&self.route, &raw(to, self.head(to, length).as_bytes()))
    }

    /// Sends it, and goes away without waiting for the answer.
    pub(crate) fn abandon(&self, to: SocketAddr) {
        drop(self.open(to));
    }

    /// Sends its header alone, and returns the connection.
    pub(crate) fn open_without_body(&self, to: SocketAddr) -> TcpStream {
        let mut connection = connect(to);
        connection.write_all(self.head(to, self.body.len()).as_bytes()).expect("it is sent");
        connection
    }

    /// Sends it, and returns the connection on which the answer will come.
    pub(crate) fn open(&self, to: SocketAddr) -> TcpStream {
        let mut bytes = self.head(to, self.body.len()).into_bytes();
        bytes.extend(&self.body);
        let mut connection = connect(to);
        connection.write_all(&bytes).expect("the request is sent");
        connection
    }

    fn head(&self, to: SocketAddr, length: usize) -> String {
        let (method, path) = self.route.split_once(' ').expect("a method and a path");
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\n");
        for (name, value) in &self.headers {
            head += &format!("{name}: {}\r\n", value.to_str().expect("text"));
        }
        head + &format!("content-length: {length}\r\n\r\n")
    }

    #[track_caller]
    pub(crate) fn send(&self, to: SocketAddr) -> Reply {
        self.try_send(to).unwrap_or_else(|| panic!("{}: no answer", self.route))
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    route: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    /// Reads an answer whose body is not chunked.
    #[track_caller]
    pub(crate) fn read(route: &str, answer: &str) -> Self {
        let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            Some((name.parse::<HeaderName>().ok()?, HeaderValue::from_str(value).ok()?))
        };
        Self {
            route: route.to_owned(),
            status: status.unwrap_or_else(|| panic!("{route}: no answer: `{answer}`")),
            headers: lines.filter_map(header).collect(),
            text: text.to_owned(),
        }
    }

    /// Asserts the status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.route, self.text);
        self
    }

    /// Asserts that the request was refused, in the one form that errors have (`docs/semantics.md`, section 8.4).
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Self {
        let reply = self.is(status);
        let body = reply.json();
        assert_eq!(names(&body), ["details", "error", "message"], "{}", reply.text);
        assert_eq!(body["error"], code, "{}: {}", reply.route, reply.text);
        assert!(body["message"].as_str().is_some_and(|text| !text.is_empty()), "{}", reply.text);
        assert!(body["details"].is_object(), "{}", reply.text);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert!(reply.header("x-request-id").is_some(), "every answer has a request id");
        assert_eq!(reply.header("x-policy-revision"), None, "a refusal changes nothing");
        reply
    }

    /// Asserts a 400 about the content of the body.
    #[track_caller]
    pub(crate) fn invalid(self) -> Self {
        self.refused(400, "VALIDATION_ERROR")
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("{}: {error}: `{}`", self.route, self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The path of the next page of a list; `None` after the last one.
    pub(crate) fn next_page(&self) -> Option<&str> {
        self.header("link")?.strip_prefix('<')?.split('>').next()
    }

    /// The tenant's policy revision.
    #[track_caller]
    pub(crate) fn revision(&self) -> u64 {
        let revision = self.header("x-policy-revision").and_then(|text| text.parse().ok());
        revision.unwrap_or_else(|| panic!("{}: no policy revision: {:?}", self.route, self.headers))
    }

    pub(crate) fn details(&self) -> Value {
        self.json()["details"].clone()
    }

    pub(crate) fn message(&self) -> String {
        self.json()["message"].as_str().unwrap_or_default().to_owned()
    }

    /// A member of the body that is a string.
    #[track_caller]
    pub(crate) fn text_of(&self, name: &str) -> String {
        let json = self.json();
        let text = json[name].as_str();
        text.unwrap_or_else(|| panic!("no `{name}` in {}", self.text)).to_owned()
    }

    /// A member of `details` that is a string.
    #[track_caller]
    pub(crate) fn text_of_details(&self, name: &str) -> String {
        let details = self.details();
        let text = details[name].as_str();
        text.unwrap_or_else(|| panic!("no `{name}` in the details of {}", self.text)).to_owned()
    }

    #[track_caller]
    pub(crate) fn id(&self) -> String {
        self.text_of("id")
    }

    /// Asserts the body.
    #[track_caller]
    pub(crate) fn has(self, expected: &Value) -> Self {
        assert_eq!(self.json(), *expected, "{}", self.route);
        self
    }

    /// The paths that `details.errors` names.
    pub(crate) fn paths(&self) -> Vec<String> {
        let details = self.details();
        let errors = details["errors"].as_array().cloned().unwrap_or_default();
        errors.iter().filter_map(|error| error["path"].as_str().map(str::to_owned)).collect()
    }

    /// Status and body, to compare two answers.
    pub(crate) fn outcome(&self) -> Value {
        json!([self.status, self.text])
    }
}

/// Sends bytes as they are, and gives the status line and everything after it until the server closes.
pub(crate) fn raw(to: SocketAddr, request: &[u8]) -> String {
    let mut stream = connect(to);
    stream.write_all(request).expect("the request is sent");
    let mut answer = Vec::new();
    // A server that refuses a body unread may reset the connection after its answer.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

pub(crate) fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}
