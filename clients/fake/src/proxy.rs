//! A proxy before a service, whose answers go wrong on the way.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;

use crate::http;
use crate::scenario::{Answer, Fault, Seen};

/// Each of these in its turn.
const FAULTS: [Option<Fault>; 4] =
    [Some(Fault::Reset), Some(Fault::Half), None, Some(Fault::Close)];

/// A proxy that listens.
pub(crate) struct Proxy {
    service: String,
    agent: ureq::Agent,
    /// The request with this number fails, and each multiple of it; with 0 none does.
    fails: AtomicUsize,
    requests: AtomicUsize,
    failed: AtomicUsize,
}

impl Proxy {
    /// Starts a proxy before the service at `service`. Returns it and its address.
    pub(crate) fn start(service: String) -> anyhow::Result<(Arc<Self>, String)> {
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let [fails, requests, failed] = [(); 3].map(|()| AtomicUsize::new(0));
        let proxy = Arc::new(Self { service, agent, fails, requests, failed });
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = format!("http://{}", listener.local_addr()?);
        let serving = Arc::clone(&proxy);
        std::thread::spawn(move || http::serve(&listener, move |seen| serving.answer(&seen)));
        Ok((proxy, address))
    }

    /// Makes one of `every` requests fail from now on.
    pub(crate) fn fail(&self, every: usize) {
        self.requests.store(0, Ordering::SeqCst);
        self.fails.store(every, Ordering::SeqCst);
    }

    /// Returns the number of requests that have failed.
    pub(crate) fn failed(&self) -> usize {
        self.failed.load(Ordering::SeqCst)
    }

    fn answer(&self, seen: &Seen) -> anyhow::Result<Answer> {
        let number = self.requests.fetch_add(1, Ordering::SeqCst) + 1;
        let every = self.fails.load(Ordering::SeqCst);
        // A request that fails has reached the service, too: a client cannot tell whether it has.
        let answer = self.forward(seen)?;
        if every == 0 || !number.is_multiple_of(every) {
            return Ok(answer);
        }
        let failures = self.failed.fetch_add(1, Ordering::SeqCst);
        Ok(match FAULTS[failures % FAULTS.len()] {
            Some(fault) => Answer { fault: Some(fault), ..answer },
            None => Answer { status: 503, body: None, ..answer },
        })
    }

    fn forward(&self, seen: &Seen) -> anyhow::Result<Answer> {
        let mut request = ureq::http::Request::builder()
            .method(&*seen.method)
            .uri(format!("{}{}", self.service, seen.path));
        for (name, value) in &seen.headers {
            if !["host", "connection", "content-length"].contains(&&**name) {
                request = request.header(name, value);
            }
        }
        let mut answer = self.agent.run(request.body(seen.body.clone())?).context("the service")?;
        let mut headers = BTreeMap::new();
        for (name, value) in answer.headers() {
            // The connection to the client has headers of its own.
            if !["connection", "content-length", "transfer-encoding"].contains(&name.as_str()) {
                headers.insert(name.to_string(), value.to_str()?.to_owned());
            }
        }
        let status = answer.status().as_u16();
        let body = Some(answer.body_mut().read_to_string()?);
        Ok(Answer { status, headers, json: None, body, extra: true, delay_ms: 0, fault: None })
    }
}
