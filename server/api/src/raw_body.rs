//! Reads bodies up to a limit, and discards the rest.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use portcullis_engine::resolver_contract::MODULE_BYTES;

/// Most bytes of a body that are read and discarded: about two uploads, so that the client of an upload that is a little
/// too large gets its answer.
const MAX_DISCARDED: usize = 2 * (MODULE_BYTES + (1 << 20));
/// Longest pause in a discarded body: a client that sends nothing for this long waits for its answer.
const DISCARD_PAUSE: Duration = Duration::from_millis(250);

/// A body that was read up to a limit.
pub(crate) enum RawBody {
    Whole(Bytes),
    /// The body is larger than the limit. The rest is discarded.
    TooLarge,
    /// The body ended before its end.
    Broken,
}

/// Reads a body to its end, or up to `limit` bytes.
pub(crate) async fn read(body: &mut Body, limit: usize) -> RawBody {
    let mut kept = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return RawBody::Broken };
        // Trailers are ignored.
        let Ok(data) = frame.into_data() else { continue };
        if kept.len() + data.len() > limit {
            discard(body).await;
            return RawBody::TooLarge;
        }
        kept.extend_from_slice(&data);
    }
    RawBody::Whole(kept.freeze())
}

/// Reads and discards what a client still sends. A client whose connection closes while it sends does not see its
/// answer.
pub(crate) async fn discard(body: &mut Body) {
    let mut length = 0;
    while length < MAX_DISCARDED
        && let Ok(Some(Ok(frame))) = tokio::time::timeout(DISCARD_PAUSE, body.frame()).await
    {
        length += frame.data_ref().map_or(0, Bytes::len);
    }
}
