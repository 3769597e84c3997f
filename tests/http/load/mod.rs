//! The load: clients that send requests one after the other, from a process of their own.

mod http1;
mod http2;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The requests of a load.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    /// The path of every request.
    pub(crate) path: String,
    pub(crate) protocol: Protocol,
    /// Milliseconds, or until the requests are used up if `once` is set.
    pub(crate) millis: u64,
    /// Sends each request once.
    pub(crate) once: bool,
    pub(crate) requests: Vec<Check>,
}

/// The protocol of the connections.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Protocol {
    /// HTTP/1.1, with so many requests on the way on each of 16 connections.
    Http1 { pipelined: usize },
    /// HTTP/2, with 16 requests on the way on each of four connections.
    Http2,
}

/// A request: the token and the body. The token is empty if the peer knows no tokens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Check {
    pub(crate) token: String,
    pub(crate) body: String,
}

/// The answers that the clients saw.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) answers: usize,
    /// Answers with another status than 200.
    pub(crate) wrong: usize,
    pub(crate) seconds: f64,
    /// Microseconds.
    pub(crate) p50: u64,
    pub(crate) p99: u64,
    pub(crate) p999: u64,
}

/// The requests that are left.
pub(crate) struct Supply {
    load: Load,
    next: AtomicUsize,
    end: Instant,
}

impl Supply {
    /// Returns the next request; `None` when the load is over.
    pub(crate) fn next(&self) -> Option<&Check> {
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let requests = &self.load.requests;
        let is_over =
            if self.load.once { next >= requests.len() } else { Instant::now() >= self.end };
        if is_over { None } else { requests.get(next % requests.len()) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.load.address
    }

    pub(crate) fn path(&self) -> &str {
        &self.load.path
    }
}

/// The answers that one client got.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Microseconds.
    pub(crate) latencies: Vec<u32>,
    pub(crate) wrong: usize,
}

impl Answers {
    pub(crate) fn add(&mut self, status: u16, latency: Duration) {
        self.latencies.push(u32::try_from(latency.as_micros()).unwrap_or(u32::MAX));
        self.wrong += usize::from(status != 200);
    }
}

/// Reads a [`Load`] from the input, sends it, and prints what was [`Measured`].
pub(crate) fn run() {
    let load: Load = serde_json::from_reader(std::io::stdin().lock()).expect("a load");
    let (protocol, begun) = (load.protocol, Instant::now());
    let end = begun + Duration::from_millis(load.millis);
    let supply = Supply { load, next: AtomicUsize::new(0), end };
    let answers = match protocol {
        Protocol::Http1 { pipelined } => http1::send(&supply, pipelined),
        Protocol::Http2 => http2::send(&supply),
    };
    let measured = summed_up(answers, begun.elapsed());
    println!("{}", serde_json::to_string(&measured).expect("JSON"));
}

fn summed_up(clients: Vec<Answers>, elapsed: Duration) -> Measured {
    let wrong = clients.iter().map(|client| client.wrong).sum();
    let mut all: Vec<u32> = clients.into_iter().flat_map(|client| client.latencies).collect();
    all.sort_unstable();
    let at = |share: f64| {
        let index = (all.len() as f64 * share) as usize;
        u64::from(all.get(index).copied().unwrap_or_default())
    };
    let (p50, p99, p999) = (at(0.5), at(0.99), at(0.999));
    Measured { answers: all.len(), wrong, seconds: elapsed.as_secs_f64(), p50, p99, p999 }
}
