//! The limits of connections.

use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;

/// Longest time for a whole header, and for an answer to a ping.
pub(super) const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Largest header of a request beside its token, in bytes.
const HEADER_BESIDE_TOKEN: usize = 16 * 1024;
/// The bytes by which a header may exceed its limit and still get an answer that says so. hyper refuses longer ones without a
/// body.
const HEADER_EXCESS: usize = 32 * 1024;
/// Most header fields of a request.
const MAX_HEADERS: usize = 64;
/// Most concurrent requests of one HTTP/2 connection.
const MAX_STREAMS: u32 = 100;
/// Most bytes of one body that an HTTP/2 client may send before they are read. An upload of 16 MiB over a distance of
/// 100 ms still takes 13 s only.
const STREAM_WINDOW: u32 = 128 * 1024;
/// Most bytes of all bodies that an HTTP/2 client may send before they are read. A body that nobody reads yet does not
/// stall the other streams of its connection.
const CONNECTION_WINDOW: u32 = 8 * STREAM_WINDOW;
/// Most streams that the client reset and the service did not see yet: the defence of h2 against rapid resets.
const MAX_PENDING_RESETS: usize = 20;
/// Most streams of a connection that the service reset because of errors of the client. Then the connection ends.
const MAX_ERROR_RESETS: usize = 100;

/// Largest piece of an answer, in bytes. It is the frame size of HTTP/2, so that pieces cost nothing there.
pub(super) const PIECE: usize = 16 * 1024;

/// The limits of the connections of a listener.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Most connections.
    pub most: usize,
    /// Most bytes of a token.
    pub token: usize,
    /// Longest time without a request.
    pub idle: Duration,
    /// Longest time until a client takes the next piece of an answer.
    pub write: Duration,
}

impl ConnectionLimits {
    /// Returns the most bytes of a request's header.
    pub(super) fn header(self) -> usize {
        HEADER_BESIDE_TOKEN + self.token
    }
}

/// Returns the builder of connections of HTTP/1 and HTTP/2.
pub(super) fn connection_builder(limits: ConnectionLimits) -> auto::Builder<TokioExecutor> {
    let most_header = limits.header() + HEADER_EXCESS;
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        // hyper would count the time between two requests, which is idle time.
        .header_read_timeout(None)
        .max_buf_size(most_header)
        .max_headers(MAX_HEADERS);
    server
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(u32::try_from(most_header).unwrap_or(u32::MAX))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(PIECE)
        .max_pending_accept_reset_streams(MAX_PENDING_RESETS)
        .max_local_error_reset_streams(MAX_ERROR_RESETS)
        .keep_alive_interval(HEADER_TIMEOUT);
    server
}
