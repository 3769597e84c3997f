//! The accept loop: connections with time limits, and a shutdown that lets running requests finish.
//!
//! `axum::serve` sets no timers: a client that sends half a header would hold its connection forever.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Sleep;

use crate::peer::PeerAddress;

/// Longest time until a client shows its protocol, and then for each whole header.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time for running requests after the start of a shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);
/// Most connections at a time; others wait in the queue of the kernel.
const MAX_CONNECTIONS: usize = 10_000;
/// Largest request header, in bytes.
const MAX_HEADER_BYTES: usize = 16 * 1024;
/// Most header fields of a request.
const MAX_HEADERS: usize = 64;
/// Most concurrent requests of one HTTP/2 connection.
const MAX_STREAMS: u32 = 100;
/// Pause after a failed accept. Without a free file descriptor the next accept would fail at once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A port that is bound but not served yet.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Binds `address`; port 0 takes a free one.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let tcp = TcpListener::bind(address).await?;
        let address = tcp.local_addr()?;
        Ok(Self { tcp, address })
    }

    /// The address that is bound.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves `router` until `stop` is done. Then it accepts no connections, and lets running requests finish.
    pub async fn serve(self, router: Router, stop: impl Future<Output = ()>) {
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
            let (stream, peer) = match stream {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let address = PeerAddress(peer.ip().to_canonical());
            let service = TowerToHyperService::new(router.clone().layer(Extension(address)));
            let watcher = connections.watcher();
            let server = server.clone();
            tokio::spawn(async move {
                let _permit = permit;
                // Answers are small and complete, so that waiting to fill a segment would only delay them.
                let _ = stream.set_nodelay(true);
                let stream = TokioIo::new(Opening::new(stream));
                let connection = server.serve_connection(stream, service);
                // A broken connection is not a fault of the service.
                let _ = watcher.watch(connection.into_owned()).await;
            });
        }
        drop(self.tcp);
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, connections.shutdown()).await.is_err() {
            tracing::warn!("stopped while requests were still running");
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

/// The first bytes of an HTTP/2 client (RFC 9113, section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection whose client must show its protocol within [`HEADER_TIMEOUT`]. The timers of hyper start only when the
/// protocol is known: a client that sends nothing, or only `P`, would hold its connection forever.
struct Opening {
    stream: TcpStream,
    deadline: Pin<Box<Sleep>>,
    /// The number of bytes of the preface that have been read; `None` once the protocol is known.
    preface_read: Option<usize>,
}

impl Opening {
    fn new(stream: TcpStream) -> Self {
        let deadline = Box::pin(tokio::time::sleep(HEADER_TIMEOUT));
        Self { stream, deadline, preface_read: Some(0) }
    }

    /// Compares received bytes with the preface. Bytes that differ from it are HTTP/1.
    fn compare(&mut self, data: &[u8]) {
        self.preface_read = self.preface_read.and_then(|read| {
            let expected = &HTTP2_PREFACE[read..];
            let open = data.len() < expected.len() && expected.starts_with(data);
            open.then_some(read + data.len())
        });
    }
}

impl AsyncRead for Opening {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let filled = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        if this.preface_read.is_none() {
            return read;
        }
        match read {
            Poll::Ready(Ok(())) => {
                this.compare(&buffer.filled()[filled..]);
                Poll::Ready(Ok(()))
            }
            Poll::Pending if this.deadline.as_mut().poll(context).is_ready() => {
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            other => other,
        }
    }
}

impl AsyncWrite for Opening {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, data)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, data)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
