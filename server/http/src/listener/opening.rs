//! The first bytes of a connection.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::activity::{Activity, Protocol};

/// Longest time until a client shows its protocol.
const OPENING_TIMEOUT: Duration = Duration::from_secs(10);
/// The first bytes of an HTTP/2 client (RFC 9113, section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection whose client must show its protocol within [`OPENING_TIMEOUT`]. The timers of hyper start only when the
/// protocol is known: a client that sends nothing, or only `P`, would hold its connection forever.
pub(super) struct Opening<S> {
    stream: S,
    deadline: Pin<Box<Sleep>>,
    shown: Shown,
    /// Told of the bytes that arrive.
    activity: Arc<Activity>,
}

/// The bytes of its protocol that the client has shown.
#[derive(Clone, Copy)]
enum Shown {
    /// This many bytes of the preface, and no other ones.
    Preface(usize),
    Protocol(Protocol),
}

impl<S> Opening<S> {
    pub(super) fn new(stream: S, activity: Arc<Activity>) -> Self {
        let deadline = Box::pin(tokio::time::sleep(OPENING_TIMEOUT));
        Self { stream, deadline, shown: Shown::Preface(0), activity }
    }

    /// Notes received bytes. The first ones show the protocol: those that differ from the preface are HTTP/1.
    fn receive(&mut self, data: &[u8]) {
        if let Shown::Preface(read) = self.shown {
            // `read` is less than the length: the whole preface shows the protocol.
            let expected = &HTTP2_PREFACE[read..];
            self.shown = if data.starts_with(expected) {
                Shown::Protocol(Protocol::Http2)
            } else if expected.starts_with(data) {
                Shown::Preface(read + data.len())
            } else {
                Shown::Protocol(Protocol::Http1)
            };
        }
        if let Shown::Protocol(protocol) = self.shown
            && !data.is_empty()
        {
            self.activity.note_bytes(protocol);
        }
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
        let is_open = matches!(this.shown, Shown::Preface(_));
        match read {
            Poll::Ready(Ok(())) => {
                this.receive(&buffer.filled()[filled..]);
                Poll::Ready(Ok(()))
            }
            // After the stream: bytes that are there count, even at the deadline.
            Poll::Pending if is_open && this.deadline.as_mut().poll(context).is_ready() => {
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
