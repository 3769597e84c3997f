//! The limits of connections.

use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioTimer};
use hyper_util::server::conn::auto;

use super::answer::PIECE;

/// Longest time for a whole header, and for an answer to a ping.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Largest request header, in bytes.
const MAX_HEADER_BYTES: usize = 16 * 1024;
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

/// The limits of the connections of a listener.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Most connections.
    pub most: usize,
    /// Longest time without a request.
    pub idle: Duration,
    /// Longest time until a client takes the next piece of an answer.
    pub write: Duration,
}

/// Returns the builder of connections of HTTP/1 and HTTP/2.
pub(super) fn connection_builder() -> auto::Builder<TokioExecutor> {
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
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(PIECE)
        .max_pending_accept_reset_streams(MAX_PENDING_RESETS)
        .max_local_error_reset_streams(MAX_ERROR_RESETS)
        .keep_alive_interval(HEADER_TIMEOUT);
    server
}
