//! Answers that go on: server-sent events (HTML standard, section 9.2) until the source ends, the credential of the client is
//! not good any more, or the time is over.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use portcullis_model::schema;
use portcullis_runtime::error::OperationError;
use tokio::time::Instant;

use crate::error::ApiError;
use crate::event_stream;
use crate::live_credential::LiveCredential;
use crate::query::{QueryParameters, QueryReader};
use crate::recipient::{Hold, Recipient};

/// The pause after which a comment says that the connection lives. It is less than the time in which a client must take a
/// piece of an answer.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// The longest time of a stream, in seconds: then the client proves its rights again.
pub(crate) const LONGEST: u64 = 300;

/// The time after which a stream ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamTime(Duration);

impl QueryParameters for StreamTime {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let (about, expected) = ("The stream ends after so many seconds", "be 1 to 300");
        let allowed = |seconds: &u64| (1..=LONGEST).contains(seconds);
        let read = |text: &str| text.parse().ok().filter(allowed);
        let schema = || schema::integer(1, LONGEST.cast_signed());
        let seconds = query.optional("seconds", about, schema, read, expected)?;
        Ok(Self(Duration::from_secs(seconds.unwrap_or(LONGEST))))
    }
}

/// An event of a stream.
#[derive(Debug)]
pub(crate) struct LiveEvent {
    pub(crate) name: &'static str,
    /// One line.
    pub(crate) data: String,
}

/// Marks an answer that goes on: it has no least speed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveAnswer;

struct LiveStream {
    events: BoxStream<'static, LiveEvent>,
    credential: LiveCredential,
    ends: Instant,
    has_begun: bool,
    _memory: Option<Hold>,
}

/// Returns an answer with these events, of which at most `bytes` wait for the client. It ends when `credential` does
/// not hold any more.
///
/// # Errors
/// There is no memory for so many bytes.
pub(crate) fn answer(
    bytes: usize,
    StreamTime(longest): StreamTime,
    credential: LiveCredential,
    events: impl Stream<Item = LiveEvent> + Send + 'static,
) -> Result<Response, ApiError> {
    let mut memory = Recipient::current().map(Recipient::hold);
    if let Some(hold) = &mut memory {
        hold.grow_to(bytes).map_err(|_| OperationError::no_room_for_answer())?;
    }
    let (ends, events) = (Instant::now() + longest, events.boxed());
    let state = LiveStream { events, credential, ends, has_begun: false, _memory: memory };
    let pieces = stream::unfold(state, async |mut state| {
        let piece = state.piece().await?;
        Some((Ok::<_, Infallible>(piece), state))
    });
    let mut answer = event_stream::from_pieces(pieces);
    answer.extensions_mut().insert(LiveAnswer);
    Ok(answer)
}

impl LiveStream {
    /// Waits for the next piece. `None` at the end.
    async fn piece(&mut self) -> Option<Bytes> {
        if !std::mem::replace(&mut self.has_begun, true) {
            return Some(Bytes::from_static(b": the stream begins\n\n"));
        }
        let heartbeat = Instant::now() + HEARTBEAT;
        while Instant::now() < self.ends {
            let until = self.ends.min(heartbeat).min(self.credential.verify_at());
            let event = tokio::time::timeout_at(until, self.events.next()).await;
            if !self.credential.may_go_on().await {
                return None;
            }
            if let Ok(event) = event {
                let LiveEvent { name, data } = event?;
                return Some(format!("event: {name}\ndata: {data}\n\n").into());
            }
            if Instant::now() >= heartbeat {
                return Some(Bytes::from_static(b": no event\n\n"));
            }
        }
        None
    }
}
