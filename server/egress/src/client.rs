//! The one HTTP client for requests of ours.
//!
//! A guarded client goes only where its [`EgressRules`] allow. A literal address is judged in the URL, since a
//! resolver is never asked for one; a name is judged by its addresses at the moment of connecting, and
//! what was judged is what gets connected, so that a second answer of the DNS changes nothing.

use std::error::Error;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{RequestBuilder, multipart, redirect};
use tokio::sync::Semaphore;
use url::{Host, Url};

use portcullis_model::egress_rules::EgressRules;

use crate::EgressConfig;

/// Lookups of names that a client has under way, at most: a few for each second that a dead name server takes.
const MAX_LOOKUPS: usize = 64;

/// Performs requests without redirects, proxies or retries, under one deadline.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    /// `None`: every address is the operator's own and trusted.
    rules: Option<Arc<EgressRules>>,
}

impl Client {
    /// A client for addresses that the operator configured; `timeout` covers a whole request.
    pub fn trusted(timeout: Duration) -> anyhow::Result<Self> {
        Ok(Self { http: builder(timeout).build()?, rules: None })
    }

    /// A client for addresses that tenants chose.
    pub fn guarded(config: &EgressConfig, timeout: Duration) -> anyhow::Result<Self> {
        Self::guarded_by_names_of(SystemResolver, config, timeout)
    }

    /// The same with another system of names.
    fn guarded_by_names_of(
        names: impl Resolve + 'static,
        config: &EgressConfig,
        timeout: Duration,
    ) -> anyhow::Result<Self> {
        let rules = Arc::new(config.rules.clone());
        let names: Arc<dyn Resolve> = Arc::new(Bounded::new(Arc::new(names)));
        let resolver = Arc::new(GuardedResolver { names, rules: Arc::clone(&rules) });
        let http = builder(timeout)
            .dns_resolver(resolver)
            .tls_certs_merge(config.certificates.iter().cloned())
            // Each request judges the addresses of its host anew.
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(Self { http, rules: Some(rules) })
    }

    /// The body of a successful answer, which must have at most `max_bytes`.
    pub async fn get(&self, url: Url, max_bytes: usize) -> anyhow::Result<Vec<u8>> {
        // One byte more tells that there are too many.
        let answer = self.send(Method::GET, url, HeaderMap::new(), None, max_bytes + 1).await?;
        anyhow::ensure!(answer.status.is_success(), "status {}", answer.status);
        let fits = answer.body.len() <= max_bytes;
        anyhow::ensure!(fits, "the answer is larger than {max_bytes} bytes");
        Ok(answer.body)
    }

    /// Posts `body`, and gives the answer, whatever its status, with the first `max_bytes` of its body.
    pub async fn post(
        &self,
        url: Url,
        headers: HeaderMap,
        body: Vec<u8>,
        max_bytes: usize,
    ) -> Result<Answer, RequestError> {
        self.send(Method::POST, url, headers, Some(body), max_bytes).await
    }

    /// Sends a request, and gives the answer, whatever its status, with the first `max_bytes` of its body.
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
        self.answer(request, max_bytes).await
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
        self.answer(request, max_bytes).await
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
                return Err(RequestError::Refused("an address that is not our own".to_owned()));
            }
        }
        Ok(self.http.request(method, url).headers(headers))
    }

    /// Sends the request, and reads the answer with the first `max_bytes` of its body.
    async fn answer(
        &self,
        request: RequestBuilder,
        max_bytes: usize,
    ) -> Result<Answer, RequestError> {
        let mut response = request.send().await?;
        if let Some(rules) = &self.rules {
            let peer = response.remote_addr().map(|peer| peer.ip());
            if !peer.is_some_and(|peer| rules.permits(peer)) {
                return Err(RequestError::Refused("an address that is allowed".to_owned()));
            }
        }
        let mut body = Vec::new();
        while body.len() < max_bytes
            && let Some(chunk) = response.chunk().await?
        {
            let room = max_bytes - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        }
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        Ok(Answer { status, headers, body })
    }
}

/// What the other side answered.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The beginning of the body.
    pub body: Vec<u8>,
}

/// Why there is no answer; the text shows nothing of the URL.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The request may not go there.
    #[error("expected {0}")]
    Refused(String),
    /// The host's name stands for an address where requests may not go.
    #[error("cannot connect: {0}")]
    RefusedName(RefusedName),
    /// The deadline passed.
    #[error("no complete answer in time")]
    Timeout,
    /// No connection could be made.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// The connection was made, and did not bring an answer.
    #[error("no complete answer: {0}")]
    Broken(String),
}

impl From<reqwest::Error> for RequestError {
    fn from(error: reqwest::Error) -> Self {
        if error.is_timeout() {
            return Self::Timeout;
        }
        // What reqwest itself says is general, and names the URL.
        let mut cause: &(dyn Error + 'static) = &error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        if let Some(refused) = cause.downcast_ref() {
            return Self::RefusedName(*refused);
        }
        if error.is_connect() {
            Self::Connect(cause.to_string())
        } else {
            Self::Broken(cause.to_string())
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

/// Whether `address` is one of this machine's own, and the operator did not open it: what listens there may
/// take whoever connects for a neighbour, although the address itself is public.
fn is_own(rules: &EgressRules, address: IpAddr) -> bool {
    // Nobody can bind an address that the machine does not have.
    !rules.opens(address) && UdpSocket::bind((address, 0)).is_ok()
}

fn literal_address(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Domain(_) => None,
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
    }
}

/// Resolves as the system does.
struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            // The port is the URL's; the resolver does not know it.
            let found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// Resolves a bounded number of names at a time, those counted that nobody waits for any more: the system goes on
/// with them on threads that others need too.
struct Bounded {
    names: Arc<dyn Resolve>,
    lookups: Arc<Semaphore>,
}

impl Bounded {
    fn new(names: Arc<dyn Resolve>) -> Self {
        Self { names, lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

impl Resolve for Bounded {
    fn resolve(&self, name: Name) -> Resolving {
        let (names, lookups) = (Arc::clone(&self.names), Arc::clone(&self.lookups));
        Box::pin(async move {
            let turn = lookups.acquire_owned().await?;
            let lookup = tokio::spawn(async move {
                let found = names.resolve(name).await;
                drop(turn);
                found
            });
            lookup.await?
        })
    }
}

/// A name was resolved, and is refused.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the name has an address that is not allowed")]
pub struct RefusedName;

/// Refuses a name if any of its addresses is not allowed. What it gives is what gets connected.
struct GuardedResolver {
    names: Arc<dyn Resolve>,
    rules: Arc<EgressRules>,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (rules, found) = (Arc::clone(&self.rules), self.names.resolve(name));
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = found.await?.collect();
            let allowed = |address: &SocketAddr| {
                let address = address.ip();
                rules.permits(address) && !is_own(&rules, address)
            };
            if !addresses.iter().all(allowed) {
                return Err(RefusedName.into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests;
