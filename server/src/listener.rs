//! The accept loop: connections with time limits, and a shutdown that finishes what is in flight.
//!
//! `axum::serve` sets no timer at all: a client that sends half a header would hold its connection for
//! ever.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// How long a client may take for its first byte, and then for a whole header.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long requests in flight may take after a shutdown was asked for.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// Most connections at a time; more wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 10_000;
/// Largest request header, in bytes.
const MAX_HEADER_BYTES: usize = 16 * 1024;
/// Most header fields of a request.
const MAX_HEADERS: usize = 64;
/// Most concurrent requests of one HTTP/2 connection.
const MAX_STREAMS: u32 = 100;
/// Pause after a failed accept: without a free file descriptor the next one fails at once, too.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A port that is bound but not served yet.
#[derive(Debug)]
pub(crate) struct Listener {
    tcp: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds `address`; port 0 takes a free one.
    pub(crate) async fn bind(address: SocketAddr) -> io::Result<Self> {
        let tcp = TcpListener::bind(address).await?;
        let address = tcp.local_addr()?;
        Ok(Self { tcp, address })
    }

    /// The address that is bound.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves `router` until `stop` is done; then accepts nothing new, and finishes what is in flight.
    pub(crate) async fn serve(self, router: Router, stop: impl Future<Output = ()>) {
        let server = connection_builder();
        let connections = GracefulShutdown::new();
        let free = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = async {
                let permit = Arc::clone(&free).acquire_owned().await;
                (permit, self.tcp.accept().await)
            };
            let (permit, stream) = tokio::select! {
                accepted = accepted => accepted,
                () = &mut stop => break,
            };
            let stream = match stream {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let service = TowerToHyperService::new(router.clone());
            let watcher = connections.watcher();
            let server = server.clone();
            tokio::spawn(async move {
                let _permit = permit;
                if !sends_something(&stream).await {
                    return;
                }
                let connection = server.serve_connection(TokioIo::new(stream), service);
                // A connection that ends badly is the client's affair.
                let _ = watcher.watch(connection.into_owned()).await;
            });
        }
        drop(self.tcp);
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, connections.shutdown()).await.is_err() {
            tracing::warn!("stopped with requests still in flight");
        }
    }
}

fn connection_builder() -> auto::Builder<TokioExecutor> {
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES)
        .max_headers(MAX_HEADERS);
    server
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEADER_BYTES as u32)
        .keep_alive_interval(HEADER_TIMEOUT);
    server
}

/// Waits for the first byte: which protocol it is gets decided before hyper's header timer starts.
async fn sends_something(stream: &TcpStream) -> bool {
    // Answers are small and complete: waiting to fill a segment would only delay them.
    let _ = stream.set_nodelay(true);
    let mut byte = [0];
    let first = tokio::time::timeout(HEADER_TIMEOUT, stream.peek(&mut byte)).await;
    matches!(first, Ok(Ok(read)) if read > 0)
}
