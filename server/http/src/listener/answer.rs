//! The body of an answer, in pieces, so that it is known when the client takes no more.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::Instant;

use super::activity::Exchange;
use super::limits::PIECE;

/// Slowest client, in bytes per second: an answer of 4 MiB is in memory for nine minutes at most.
const SLOWEST: u64 = 8 * 1024;

/// The body of an answer. hyper asks for the next piece when it has passed on the last one, and drops the body after
/// the last piece.
#[derive(Debug)]
pub(super) struct AnswerBody {
    body: Body,
    /// The part of the last frame that is not taken.
    rest: Bytes,
    taken: u64,
    begun: Instant,
    /// Longest time until the client takes a piece.
    write: Duration,
    /// The service, and not the client, says how fast it comes.
    is_live: bool,
    exchange: Exchange,
}

impl AnswerBody {
    pub(super) fn new(body: Body, exchange: Exchange, write: Duration) -> Self {
        let begun = Instant::now();
        exchange.take_by(begun + write);
        Self { body, rest: Bytes::new(), taken: 0, begun, write, is_live: false, exchange }
    }

    /// Returns the body of an answer that goes on, which comes as slowly as its events.
    pub(super) fn live(self) -> Self {
        Self { is_live: true, ..self }
    }

    /// Returns the next piece of the frame, and sets the time for the one after it.
    fn piece(&mut self) -> Frame<Bytes> {
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        self.taken += piece.len() as u64;
        // Only `write` bounds a piece of it: the least speed would count the pauses of the service.
        if self.is_live {
            self.begun = Instant::now();
        }
        let slowest = self.begun + self.write + Duration::from_secs(self.taken / SLOWEST);
        self.exchange.take_by(slowest.min(Instant::now() + self.write));
        Frame::data(piece)
    }
}

impl http_body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if this.rest.is_empty() {
            match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => this.rest = data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
                other => return other,
            }
        }
        Poll::Ready(Some(Ok(this.piece())))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let body = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::super::activity::{Activity, ConnectionState};
    use super::*;

    const WRITE: Duration = Duration::from_secs(30);

    fn answer(length: usize) -> (std::sync::Arc<Activity>, AnswerBody) {
        let activity = Activity::begin();
        let exchange = activity.exchange();
        (activity, AnswerBody::new(Body::from(vec![7; length]), exchange, WRITE))
    }

    #[tokio::test(start_paused = true)]
    async fn the_pieces_are_the_whole() {
        let length = 3 * PIECE + 1;
        let (activity, answer) = answer(length);
        assert_eq!(http_body::Body::size_hint(&answer).exact(), Some(length as u64));
        let whole = answer.collect().await.expect("a body").to_bytes();
        assert_eq!(whole, vec![7; length]);
        assert!(activity.is_idle(), "the exchange ends with the body");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_must_take_pieces_all_the_time_and_fast_enough() {
        let state = |activity: &Activity| activity.state(WRITE, WRITE);
        let (activity, mut answer) = answer(100 * PIECE);
        tokio::time::advance(WRITE / 2).await;
        answer.frame().await.expect("a piece").expect("data");
        tokio::time::advance(WRITE / 2).await;
        assert!(matches!(state(&activity), ConnectionState::Active(_)));
        // A piece each ten seconds is too slow.
        let mut pieces = 1;
        while state(&activity) != ConnectionState::Stalled {
            answer.frame().await.expect("a piece").expect("data");
            pieces += 1;
            tokio::time::advance(WRITE / 3).await;
        }
        assert!(pieces < 6, "{pieces}");
        // A fast client may not stop either.
        for _ in pieces..99 {
            answer.frame().await.expect("a piece").expect("data");
        }
        assert!(matches!(state(&activity), ConnectionState::Active(_)));
        tokio::time::advance(WRITE).await;
        assert_eq!(state(&activity), ConnectionState::Stalled);
    }
}
