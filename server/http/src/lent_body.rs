//! The body of a request, and the part of it that its handler does not read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::HttpBody;
use bytes::Bytes;
use http_body::Frame;
use http_body_util::BodyExt;
use parking_lot::Mutex;
use portcullis_engine::resolver_contract::MODULE_BYTES;

/// Most bytes of a body that are discarded: about two uploads, so that the client of an upload that is a little too
/// large gets its answer.
const MAX_DISCARDED: usize = 2 * (MODULE_BYTES + (1 << 20));
/// Longest pause in a discarded body: a client that sends nothing for this long waits for its answer.
const DISCARD_PAUSE: Duration = Duration::from_millis(250);
/// Longest time for a discarded body.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

/// A body of which the unread part stays when its reader drops it.
#[derive(Clone)]
pub(crate) struct LentBody(Arc<Mutex<Shared<AnyBody>>>);

type AnyBody = dyn HttpBody<Data = Bytes, Error = BoxError> + Send + Unpin;

struct Shared<B: ?Sized> {
    /// Whether the reader asked for a part of the body. A client that waits for a 100 sends the body then.
    is_begun: bool,
    body: B,
}

impl LentBody {
    /// Returns `body` for readers.
    pub(crate) fn new<B>(body: B) -> Self
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Unpin + Send + 'static,
    {
        Self(Arc::new(Mutex::new(Shared { is_begun: false, body: body.map_err(Into::into) })))
    }

    /// Whether a reader asked for a part of the body.
    pub(crate) fn is_begun(&self) -> bool {
        self.0.lock().is_begun
    }

    /// Reads and discards what the client still sends. A client whose connection closes while it sends does not see its
    /// answer. Call it when the reader is done.
    pub(crate) async fn discard(mut self) {
        if self.is_end_stream() {
            return;
        }
        let all = async {
            let mut length = 0;
            while length < MAX_DISCARDED
                && let Ok(Some(Ok(frame))) = tokio::time::timeout(DISCARD_PAUSE, self.frame()).await
            {
                length += frame.data_ref().map_or(0, Bytes::len);
            }
        };
        // It ends when the time is over, too.
        let _ = tokio::time::timeout(DISCARD_TIMEOUT, all).await;
    }
}

impl HttpBody for LentBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        // Nobody waits for the lock: the readers of a body follow one another.
        let mut shared = self.0.lock();
        shared.is_begun = true;
        Pin::new(&mut shared.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().body.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures_util::stream;
    use tokio::time::Instant;

    use super::*;

    fn endless(pause: Duration) -> Body {
        Body::from_stream(stream::unfold((), move |()| async move {
            tokio::time::sleep(pause).await;
            Some((Ok::<_, axum::Error>(Bytes::from_static(b"x")), ()))
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_discarded_body_ends_after_five_seconds_and_after_a_pause() {
        for (pause, expected) in
            [(DISCARD_PAUSE / 2, DISCARD_TIMEOUT), (DISCARD_PAUSE * 2, DISCARD_PAUSE)]
        {
            let begun = Instant::now();
            LentBody::new(endless(pause)).discard().await;
            assert_eq!(begun.elapsed().as_millis(), expected.as_millis(), "{pause:?}");
        }
    }

    #[tokio::test]
    async fn the_reader_and_the_leftover_share_one_body() {
        let frames = stream::iter([Ok::<_, axum::Error>("first"), Ok("second")]);
        let mut reader = LentBody::new(Body::from_stream(frames));
        let mut leftover = reader.clone();
        let next = async |body: &mut LentBody| {
            let frame = body.frame().await.expect("a frame").expect("data");
            frame.into_data().expect("data")
        };
        assert_eq!(next(&mut reader).await, "first");
        drop(reader);
        assert!(leftover.is_begun());
        assert_eq!(next(&mut leftover).await, "second");
    }
}
