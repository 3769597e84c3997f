//! The first bytes of a connection.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Longest time until a client shows its protocol.
const OPENING_TIMEOUT: Duration = Duration::from_secs(10);
/// The first bytes of an HTTP/2 client (RFC 9113, section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection whose client must show its protocol within [`OPENING_TIMEOUT`]. The timers of hyper start only when the
/// protocol is known: a client that sends nothing, or only `P`, would hold its connection forever.
pub(super) struct Opening<S> {
    stream: S,
    deadline: Pin<Box<Sleep>>,
    /// The number of bytes of the preface that have been read; `None` once the protocol is known.
    preface_read: Option<usize>,
}

impl<S> Opening<S> {
    pub(super) fn new(stream: S) -> Self {
        let deadline = Box::pin(tokio::time::sleep(OPENING_TIMEOUT));
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

impl<S: AsyncRead + Unpin> AsyncRead for Opening<S> {
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Opening<S> {
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
