//! Answers that go on: server-sent events (HTML standard, section 9.2) until the source ends, the credential of the client is
//! not good any more, or the time is over.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt};
use portcullis_model::schema;
use portcullis_runtime::piece_writer::{BrokenOff, PieceWriter, Stop};

use crate::error::ApiError;
use crate::event_stream::{self, BROKEN_OFF};
use crate::live_credential::LiveCredential;
use crate::page_stream::{AfterFailure, PageStream};
use crate::query::{QueryParameters, QueryReader};

/// The pause after which a comment says that the connection lives. It is less than the time in which a client must take a
/// piece of an answer.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// The longest time until a client takes a piece, as for every answer.
const STALL: Duration = Duration::from_secs(30);
/// The longest time of a stream, in seconds: then the client proves its rights again.
pub const LONGEST: i64 = 300;

/// The time after which a stream ends.
#[derive(Clone, Copy, Debug)]
pub struct StreamTime(Duration);

impl QueryParameters for StreamTime {
    fn declare(query: &mut QueryReader<'_>) -> Result<Self, ApiError> {
        let (about, expected) = ("The stream ends after so many seconds", "be 1 to 300");
        let longest = LONGEST.unsigned_abs();
        let seconds = query.optional(
            "seconds",
            about,
            || schema::integer(1, LONGEST),
            |text| text.parse().ok().filter(|seconds| (1..=longest).contains(seconds)),
            expected,
        )?;
        Ok(Self(Duration::from_secs(seconds.unwrap_or(longest))))
    }
}

/// An event of a stream.
#[derive(Debug)]
pub struct LiveEvent {
    pub name: &'static str,
    /// One line.
    pub data: String,
}

/// Returns an answer with these events, of which at most `bytes` wait for the client. It ends when `credential` does
/// not hold any more.
///
/// # Errors
/// There is no memory for `bytes`.
pub fn answer(
    bytes: usize,
    StreamTime(longest): StreamTime,
    credential: LiveCredential,
    events: impl Stream<Item = LiveEvent> + Send + 'static,
) -> Result<Response, ApiError> {
    let terms = PageStream {
        longest,
        stall: STALL,
        waiting: bytes,
        is_live: true,
        after_failure: AfterFailure::Say(BROKEN_OFF),
    };
    let answer = terms.answer(credential, move |pieces| write(events.boxed(), pieces))?;
    Ok((event_stream::headers(), answer).into_response())
}

/// Writes the events. Whatever ends them is a regular end.
async fn write(
    events: BoxStream<'static, LiveEvent>,
    mut pieces: PieceWriter,
) -> Result<(), BrokenOff> {
    let _ = write_until_stopped(events, &mut pieces).await;
    Ok(())
}

async fn write_until_stopped(
    mut events: BoxStream<'static, LiveEvent>,
    pieces: &mut PieceWriter,
) -> Result<(), Stop> {
    pieces.send(": the stream begins\n\n").await?;
    loop {
        let event = tokio::select! {
            stop = pieces.stopped() => return Err(stop),
            event = tokio::time::timeout(HEARTBEAT, events.next()) => event,
        };
        match event {
            Ok(None) => return Ok(()),
            Ok(Some(LiveEvent { name, data })) => {
                pieces.send(format!("event: {name}\ndata: {data}\n\n")).await?;
            }
            // A comment, which a reader ignores, and a proxy takes for a sign of life.
            Err(_) => pieces.send(": no event\n\n").await?,
        }
    }
}
