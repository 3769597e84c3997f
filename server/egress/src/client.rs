//! The HTTP client of the service.
//!
//! A guarded client reaches only the addresses that its [`EgressRules`] allow. A literal address is checked in the URL,
//! because no name resolution happens for it. A name is checked by its addresses at the moment of connecting, and the
//! client connects to these addresses, so that a second answer of the DNS changes nothing.

use std::error::Error;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use portcullis_model::egress_rules::EgressRules;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{RequestBuilder, Response, multipart, redirect};
use url::{Host, Url};

use crate::config::EgressConfig;
use crate::names::Names;

/// Most connections to a host that are kept: as many as a webhook may get requests at a time.
const MAX_KEPT: usize = 32;

/// The longest time of an answer that comes in pieces. Whoever reads it ends it earlier.
const ENDLESS: Duration = Duration::from_secs(24 * 60 * 60);

/// The part of the error of rustls about an answer that is not TLS.
const NO_TLS: &str = "InvalidContentType";

tokio::task_local! {
    /// The tenant of the request that this task makes. The HTTP client asks for a name inside the request.
    static TENANT: Arc<str>;
}

/// An HTTP client without redirects, proxies and retries. One timeout covers a whole request.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    /// The rules of a guarded client; `None` if the operator configured every address.
    rules: Option<Arc<EgressRules>>,
    /// The tenant whose requests it makes: lookups of names are fair between tenants.
    tenant: Arc<str>,
}

impl Client {
    /// Returns a client for addresses that the operator configured.
    pub fn trusted(timeout: Duration) -> anyhow::Result<Self> {
        Ok(Self { http: builder(timeout).build()?, rules: None, tenant: Arc::default() })
    }

    /// Returns the client for requests of `tenant`.
    pub fn for_tenant(&self, tenant: &str) -> Self {
        Self { tenant: tenant.into(), ..self.clone() }
    }

    /// Returns a client for addresses that tenants choose. Each request has its own connection.
    pub fn guarded(config: &EgressConfig, timeout: Duration) -> anyhow::Result<Self> {
        Self::guarded_that_keeps(config, timeout, Duration::ZERO)
    }

    /// Returns a client for addresses that tenants choose, which keeps connections for `idle` after a request. The name of
    /// a host is judged when a connection is made, and a kept one goes to an address that was judged.
    pub fn guarded_that_keeps(
        config: &EgressConfig,
        timeout: Duration,
        idle: Duration,
    ) -> anyhow::Result<Self> {
        let rules = Arc::new(config.rules.clone());
        let names = config.names.clone();
        let resolver = Arc::new(GuardedResolver { names, rules: Arc::clone(&rules) });
        let http = builder(timeout)
            .dns_resolver(resolver)
            .tls_certs_merge(config.certificates.iter().cloned())
            // Without idle connections each request checks the addresses of its host.
            .pool_max_idle_per_host(if idle.is_zero() { 0 } else { MAX_KEPT })
            .pool_idle_timeout(idle)
            .build()?;
        Ok(Self { http, rules: Some(rules), tenant: Arc::default() })
    }

    /// Returns the body of a successful answer, which must have at most `max_bytes`.
    pub async fn get(&self, url: Url, max_bytes: usize) -> anyhow::Result<Vec<u8>> {
        // One more byte shows that the body is too large.
        let answer = self.send(Method::GET, url, HeaderMap::new(), None, max_bytes + 1).await?;
        anyhow::ensure!(answer.status.is_success(), "status {}", answer.status);
        let fits = answer.body.len() <= max_bytes;
        anyhow::ensure!(fits, "the answer is larger than {max_bytes} bytes");
        Ok(answer.body)
    }

    /// Posts `body`, and returns the answer of any status with the first `max_bytes` of its body, or what came of them
    /// before the answer broke off or the time was over: the status tells whether the other side took what was sent.
    pub async fn post(
        &self,
        url: Url,
        headers: HeaderMap,
        body: Vec<u8>,
        max_bytes: usize,
    ) -> Result<Answer, RequestError> {
        let request = self.request(Method::POST, url, headers)?.body(body);
        let mut response = self.begin(request).await?;
        let mut kept = Vec::new();
        // The status has come; only the body may be incomplete.
        let _ = read_into(&mut kept, &mut response, max_bytes).await;
        Ok(Answer::new(response, kept))
    }

    /// Sends a request, and returns the answer of any status with the first `max_bytes` of its body.
    pub async fn send(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
        max_bytes: usize,
    ) -> Result<Answer, RequestError> {
        let mut request = self.request(method, url, headers)?;
        if let Some(body) = body {
            request = request.body(body);
        }
        read(self.begin(request).await?, max_bytes).await
    }

    /// Sends a request that has all the time it needs, and passes each piece of the body of a successful answer to `take`.
    /// Returns the answer, without that body; of any other status with the first `max_bytes` of its body.
    pub async fn send_for_pieces(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        body: Vec<u8>,
        max_bytes: usize,
        mut take: impl FnMut(&[u8]),
    ) -> Result<Answer, RequestError> {
        let request = self.request(method, url, headers)?.body(body).timeout(ENDLESS);
        let mut response = self.begin(request).await?;
        if !response.status().is_success() {
            return read(response, max_bytes).await;
        }
        while let Some(piece) = response.chunk().await? {
            take(&piece);
        }
        read(response, 0).await
    }

    /// Sends a form as `multipart/form-data` (RFC 7578), and gives the answer like [`Client::send`].
    pub async fn send_form(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
        form: multipart::Form,
        max_bytes: usize,
    ) -> Result<Answer, RequestError> {
        let request = self.request(method, url, headers)?.multipart(form);
        read(self.begin(request).await?, max_bytes).await
    }

    /// A request without a body, to an address where requests may go.
    fn request(
        &self,
        method: Method,
        url: Url,
        headers: HeaderMap,
    ) -> Result<RequestBuilder, RequestError> {
        if let Some(rules) = &self.rules {
            rules.check_url(&url).map_err(RequestError::Refused)?;
            if literal_address(&url).is_some_and(|address| is_own(rules, address)) {
                return Err(RequestError::Refused(
                    "an address that does not belong to this service".to_owned(),
                ));
            }
        }
        Ok(self.http.request(method, url).headers(headers))
    }

    /// Sends the request, and returns the head of the answer.
    async fn begin(&self, request: RequestBuilder) -> Result<Response, RequestError> {
        let response = TENANT.scope(Arc::clone(&self.tenant), request.send()).await?;
        if let Some(rules) = &self.rules {
            let peer = response.remote_addr().map(|peer| peer.ip());
            if !peer.is_some_and(|peer| rules.permits(peer)) {
                return Err(RequestError::Refused("an address that is allowed".to_owned()));
            }
        }
        Ok(response)
    }
}

/// Returns the answer with the first `max_bytes` of its body.
async fn read(mut response: Response, max_bytes: usize) -> Result<Answer, RequestError> {
    let mut body = Vec::new();
    read_into(&mut body, &mut response, max_bytes).await?;
    Ok(Answer::new(response, body))
}

/// Reads the first `max_bytes` of the body of `response` into `body`.
async fn read_into(
    body: &mut Vec<u8>,
    response: &mut Response,
    max_bytes: usize,
) -> Result<(), RequestError> {
    while body.len() < max_bytes
        && let Some(chunk) = response.chunk().await?
    {
        let room = max_bytes - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
    Ok(())
}

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The first bytes of the body.
    pub body: Vec<u8>,
}

impl Answer {
    fn new(mut response: Response, body: Vec<u8>) -> Self {
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        Self { status, headers, body }
    }
}

/// The reason why a request has no answer. The text shows no part of the URL.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The address of the request is not allowed.
    #[error("expected {0}")]
    Refused(String),
    /// The name of the host has an address that is not allowed.
    #[error("cannot connect: {0}")]
    RefusedName(RefusedName),
    /// The deadline passed.
    #[error("no complete answer in time")]
    Timeout,
    /// No connection could be made.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// The connection was made, but it ended without a complete answer.
    #[error("no complete answer: {0}")]
    Broken(String),
}

impl From<reqwest::Error> for RequestError {
    fn from(error: reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::Timeout;
        }
        // The text of the outer error is general and has the URL, so that only the innermost cause is shown.
        let mut cause: &(dyn Error + 'static) = &error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        if let Some(refused) = cause.downcast_ref() {
            return Self::RefusedName(*refused);
        }
        let text = cause.to_string();
        if error.is_connect() && text.contains(NO_TLS) {
            Self::Connect("the other side does not speak TLS, which `https` needs".to_owned())
        } else if error.is_connect() {
            Self::Connect(text)
        } else {
            Self::Broken(text)
        }
    }
}

fn builder(timeout: Duration) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .timeout(timeout)
}

/// Returns whether `address` belongs to this machine and the operator did not allow it. A service that listens there may
/// trust local clients, although the address itself is public.
fn is_own(rules: &EgressRules, address: IpAddr) -> bool {
    // Only an address of the machine can be bound.
    !rules.opens(address) && UdpSocket::bind((address, 0)).is_ok()
}

fn literal_address(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
    }
}

/// The error of a name with an address that is not allowed.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the name has an address that is not allowed")]
pub struct RefusedName;

/// Refuses a name if one of its addresses is not allowed. The client connects to exactly the addresses that it returns.
struct GuardedResolver {
    names: Names,
    rules: Arc<EgressRules>,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (rules, names) = (Arc::clone(&self.rules), self.names.clone());
        // A connection that outlives its request asks in no task of a tenant.
        let tenant = TENANT.try_with(Arc::clone).unwrap_or_default();
        Box::pin(async move {
            let addresses = names.resolve(tenant, name.as_str().to_owned()).await?;
            // One address that is not allowed refuses all: the client may connect to any of them.
            if !addresses.iter().all(|ip| rules.permits(*ip) && !is_own(&rules, *ip)) {
                return Err(RefusedName.into());
            }
            // The client replaces port 0 by the port of the URL.
            let targets: Vec<_> = addresses.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
            Ok(Box::new(targets.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests;
