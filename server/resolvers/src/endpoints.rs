//! The endpoints of a resolver: the guest names one, and the host knows its URL and its credentials.

use std::collections::BTreeMap;
use std::fmt;

use http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, SET_COOKIE, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use portcullis_engine::resolver_contract::EndpointMethod;
use portcullis_resolver_host::{
    Endpoints, Failure, FailureKind, HttpRequest, HttpResponse, SendError, Sending,
};
use url::Url;

use crate::path;
use portcullis_egress::{Answer, Client, RequestError};
use portcullis_model::resolver::Manifest;

/// Headers that belong to the connection or hold credentials: they are the host's, with every `proxy-…`.
const HOSTS: [HeaderName; 10] = [
    AUTHORIZATION,
    CONNECTION,
    CONTENT_LENGTH,
    COOKIE,
    EXPECT,
    HOST,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The endpoints that the manifest of a resolver grants.
pub struct Granted {
    client: Client,
    endpoints: BTreeMap<String, Endpoint>,
}

/// The target of requests to an endpoint, and their headers.
struct Endpoint {
    base: Url,
    methods: Vec<EndpointMethod>,
    /// The operator's, with the secrets in them.
    headers: HeaderMap,
}

impl Granted {
    /// The endpoints of `manifest`, to which `client` goes; the name of the first one whose headers cannot be made
    /// where there is one.
    pub fn new(client: Client, manifest: &Manifest) -> Result<Self, String> {
        let mut endpoints = BTreeMap::new();
        for (name, granted) in manifest.every_endpoint() {
            let Some(headers) = granted.rendered(&manifest.secrets) else { return Err(name) };
            endpoints
                .insert(name, Endpoint { base: granted.url, methods: granted.methods, headers });
        }
        Ok(Self { client, endpoints })
    }

    async fn request(
        &self,
        name: &str,
        request: HttpRequest,
        body_limit: usize,
    ) -> Result<HttpResponse, SendError> {
        let endpoint = self.endpoints.get(name);
        let endpoint = endpoint.ok_or_else(|| refused(name, "it is not granted"))?;
        let method = EndpointMethod::from(request.method);
        if !endpoint.methods.contains(&method) {
            let why = format!("the method {} is not granted", method.into_str());
            return Err(refused(name, &why));
        }
        let method = Method::from_bytes(method.into_str().as_bytes())
            .map_err(|error| refused(name, &error.to_string()))?;
        let url = path::join(&endpoint.base, &request.path)
            .map_err(|expected| refused(name, &format!("expected a path {expected}")))?;
        let headers = endpoint.headers(request.headers).map_err(|why| refused(name, &why))?;
        // One byte more tells that there are too many.
        let sent = self.client.send(method, url, headers, request.body, body_limit + 1).await;
        let answer = sent.map_err(|error| endpoint.failed(name, error))?;
        if answer.body.len() > body_limit {
            return Err(SendError::TooLarge);
        }
        Ok(response(answer))
    }
}

fn refused(endpoint: &str, why: &str) -> SendError {
    SendError::Refused(format!("endpoint `{endpoint}`: {why}"))
}

impl Endpoint {
    /// The operator's headers, and the guest's headers.
    fn headers(&self, wanted: Vec<(String, String)>) -> Result<HeaderMap, String> {
        let mut headers = self.headers.clone();
        for (name, value) in wanted {
            let name = HeaderName::try_from(name).map_err(|_| "a header name is not valid")?;
            let is_hosts = HOSTS.contains(&name)
                || name.as_str() == "keep-alive"
                || name.as_str().starts_with("proxy-");
            if is_hosts || self.headers.contains_key(&name) {
                return Err(format!("a resolver may not set the header `{name}`"));
            }
            let value = HeaderValue::try_from(value)
                .map_err(|_| format!("the value of the header `{name}` is not valid"))?;
            // `append` would panic on more headers than a map can hold.
            headers.try_append(name, value).map_err(|_| "too many headers")?;
        }
        Ok(headers)
    }

    /// Returns the cause of a failed request in words that the guest may read: without the URL.
    fn failed(&self, name: &str, error: RequestError) -> SendError {
        let (kind, message) = match error {
            RequestError::Refused(_) | RequestError::RefusedName(_) => {
                return refused(name, "its address is not allowed");
            }
            RequestError::Timeout => {
                (FailureKind::TimedOut, "no complete answer in time".to_owned())
            }
            RequestError::Connect(why) => {
                (FailureKind::Unreachable, self.without_host("cannot connect", &why))
            }
            RequestError::Broken(why) => {
                (FailureKind::Unreachable, self.without_host("no complete answer", &why))
            }
        };
        SendError::Failed(Failure { kind, message })
    }

    /// Returns `what` failed, and why, unless that names the host.
    fn without_host(&self, what: &str, why: &str) -> String {
        // Every text contains the empty one, so that nothing is shown without a host.
        let host = self.base.host_str().unwrap_or_default();
        if why.contains(host) { what.to_owned() } else { format!("{what}: {why}") }
    }
}

impl Endpoints for Granted {
    fn has(&self, endpoint: &str) -> bool {
        self.endpoints.contains_key(endpoint)
    }

    fn send<'a>(&'a self, endpoint: &'a str, request: HttpRequest, limit: usize) -> Sending<'a> {
        Box::pin(self.request(endpoint, request, limit))
    }
}

impl fmt::Debug for Granted {
    /// Without URLs and headers, which hold credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.endpoints.keys()).finish()
    }
}

/// Returns the response for the guest, without cookies, which are credentials of the host.
fn response(answer: Answer) -> HttpResponse {
    let shown = answer.headers.iter().filter(|(name, _)| **name != SET_COOKIE);
    let headers = shown.map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    HttpResponse { status: answer.status.as_u16(), headers: headers.collect(), body: answer.body }
}

#[cfg(test)]
mod tests;
