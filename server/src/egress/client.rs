//! The one HTTP client for requests of ours.
//!
//! A guarded client goes only where its [`Rules`] allow. A literal address is judged in the URL, since a
//! resolver is never asked for one; a name is judged by its addresses at the moment of connecting, and
//! what was judged is what gets connected, so that a second answer of the DNS changes nothing.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{RequestBuilder, redirect};
use url::Url;

use super::Rules;

/// Performs requests without redirects, proxies or retries, under one deadline.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    /// `None`: every address is the operator's own and trusted.
    rules: Option<Arc<Rules>>,
}

impl Client {
    /// A client for addresses that the operator configured; `timeout` covers a whole request.
    pub(crate) fn trusted(timeout: Duration) -> anyhow::Result<Self> {
        Ok(Self { http: builder(timeout).build()?, rules: None })
    }

    /// A client for addresses that tenants chose.
    pub(crate) fn guarded(rules: &Rules, timeout: Duration) -> anyhow::Result<Self> {
        let rules = Arc::new(rules.clone());
        let resolver = Arc::new(GuardedResolver(Arc::clone(&rules)));
        let http = builder(timeout)
            .dns_resolver(resolver)
            .tls_certs_merge(rules.certificates.iter().cloned())
            // Each request judges the addresses of its host anew.
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(Self { http, rules: Some(rules) })
    }

    /// The body of a successful answer, which must have at most `max_bytes`.
    pub(crate) async fn get(&self, url: Url, max_bytes: usize) -> anyhow::Result<Vec<u8>> {
        // One byte more tells that there are too many.
        let answer = self.exchange(self.http.get(url.clone()), &url, max_bytes + 1).await?;
        anyhow::ensure!((200..300).contains(&answer.status), "status {}", answer.status);
        let fits = answer.body.len() <= max_bytes;
        anyhow::ensure!(fits, "the answer is larger than {max_bytes} bytes");
        Ok(answer.body)
    }

    /// Posts `body`, and gives the answer, whatever its status, with the first `max_bytes` of its body.
    pub(crate) async fn post(
        &self,
        url: Url,
        headers: HeaderMap,
        body: Vec<u8>,
        max_bytes: usize,
    ) -> Result<Answer, RequestError> {
        let request = self.http.post(url.clone()).headers(headers).body(body);
        self.exchange(request, &url, max_bytes).await
    }

    /// Sends a request to `url`; no more than `max_bytes` of the answer's body are read.
    async fn exchange(
        &self,
        request: RequestBuilder,
        url: &Url,
        max_bytes: usize,
    ) -> Result<Answer, RequestError> {
        if let Some(rules) = &self.rules {
            rules.check_url(url).map_err(RequestError::Refused)?;
        }
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
        Ok(Answer { status: response.status().as_u16(), body })
    }
}

/// What the other side answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The beginning of the body.
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer; the text shows nothing of the URL.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// The request may not go there.
    #[error("expected {0}")]
    Refused(String),
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
        let mut cause: &dyn Error = &error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
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

/// Resolves as the system does, and refuses a name if any of its addresses is not allowed.
struct GuardedResolver(Arc<Rules>);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let rules = Arc::clone(&self.0);
        Box::pin(async move {
            // The port is the URL's; the resolver does not know it.
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses: Vec<SocketAddr> = found.collect();
            if !addresses.iter().all(|address| rules.permits(address.ip())) {
                return Err("the name has an address that is not allowed".into());
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A server on loopback that counts its connections and answers each with `answer`.
    fn serve(answer: &'static str) -> (u16, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.expect("a connection");
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 1024]);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        (port, count)
    }

    fn rules(allow: &[&str]) -> Rules {
        let network = |text: &&str| text.parse().expect("a network");
        Rules { allow_http: true, allow: allow.iter().map(network).collect(), ..Rules::default() }
    }

    const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";

    async fn get(client: &Client, url: &str) -> anyhow::Result<Vec<u8>> {
        client.get(url.parse()?, 10).await
    }

    #[tokio::test]
    async fn a_guarded_client_never_connects_where_it_must_not() {
        let (port, connections) = serve(OK);
        let client = Client::guarded(&rules(&[]), Duration::from_secs(5)).expect("a client");
        for host in
            ["127.0.0.1", "localhost", "127.1", "0x7f.1", "[::ffff:127.0.0.1]", "localhost."]
        {
            let url = format!("http://{host}:{port}/");
            assert!(get(&client, &url).await.is_err(), "{url}");
        }
        assert_eq!(connections.load(Ordering::SeqCst), 0);
        // The control: the same addresses answer a client that may go there.
        let client = Client::trusted(Duration::from_secs(5)).expect("a client");
        let url = format!("http://localhost:{port}/");
        assert_eq!(get(&client, &url).await.expect("answers"), b"ok");
        let allowed = rules(&["127.0.0.0/8", "::1/128"]);
        let client = Client::guarded(&allowed, Duration::from_secs(5)).expect("a client");
        assert_eq!(get(&client, &url).await.expect("answers"), b"ok");
        assert_eq!(connections.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn redirects_errors_and_long_answers_are_refused() {
        let client = Client::trusted(Duration::from_secs(5)).expect("a client");
        for answer in [
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\nhello world",
        ] {
            let (port, _) = serve(answer);
            assert!(get(&client, &format!("http://127.0.0.1:{port}/")).await.is_err(), "{answer}");
        }
    }
}
