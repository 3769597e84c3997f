//! Streamed answers, which are written while they are sent: pages in sections, exports, events.
//!
//! The work that writes an answer is a task, which runs to its end whatever its client does: so a transaction is never
//! cancelled between two of its steps. It runs for the recipient and in the span of its request, and keeps the place of the
//! request as long as it owns the caller. When the client is gone, the time is over or the credential does not hold any
//! more, the writer refuses the next piece, and says so to work that waits.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::{BoxFuture, Either, select};
use futures_util::{FutureExt, stream};
use portcullis_runtime::error::OperationError;
use portcullis_runtime::piece_writer::{BrokenOff, PieceWriter, Stop};
use portcullis_traces::carried as carried_in_trace;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use crate::error::ApiError;
use crate::live_credential::LiveCredential;
use crate::recipient::{Hold, Recipient, carried};
use crate::service::message_of_panic;

/// The time between two verifications of the credential.
const VERIFY: Duration = Duration::from_secs(1);

/// Marks an answer that goes on: it has no least speed.
#[derive(Clone, Copy, Debug)]
pub struct LiveAnswer;

/// The terms of a streamed answer.
#[derive(Clone, Copy, Debug)]
pub struct PageStream {
    /// Longest time for the whole answer.
    pub longest: Duration,
    /// Longest time until the client takes a piece.
    pub stall: Duration,
    /// Most bytes that wait for the client. They are charged to the recipient.
    pub waiting: usize,
    /// Whether the service, and not the client, says how fast it comes.
    pub is_live: bool,
    pub after_failure: AfterFailure,
}

/// The end of an answer that panics or breaks off.
#[derive(Clone, Copy, Debug)]
pub enum AfterFailure {
    /// A last piece, for a reader who can tell it from the whole.
    Say(&'static str),
    /// The connection ends, so that no client takes a part for the whole.
    Disconnect,
}

/// The answer broke off.
#[derive(Debug, thiserror::Error)]
#[error("the answer broke off")]
struct Disconnected;

/// Returns whether the credential of a streamed answer still holds.
type Verify = Box<dyn Fn() -> BoxFuture<'static, bool> + Send>;

impl PageStream {
    /// Returns the answer that `work` writes. It ends when `credential` does not hold any more.
    ///
    /// # Errors
    /// There is no memory for what waits.
    pub fn answer<W>(
        self,
        credential: LiveCredential,
        work: impl FnOnce(PieceWriter) -> W,
    ) -> Result<Response, ApiError>
    where
        W: Future<Output = Result<(), BrokenOff>> + Send + 'static,
    {
        let credential = Arc::new(credential);
        let verify: Verify = Box::new(move || {
            let credential = Arc::clone(&credential);
            async move { credential.still_holds().await }.boxed()
        });
        self.begin(verify, work)
    }

    fn begin<W>(
        self,
        verify: Verify,
        work: impl FnOnce(PieceWriter) -> W,
    ) -> Result<Response, ApiError>
    where
        W: Future<Output = Result<(), BrokenOff>> + Send + 'static,
    {
        let memory = held(self.waiting)?;
        let (sender, receiver) = mpsc::channel(1);
        let (stop, stopped) = watch::channel(None);
        let work = work(PieceWriter::new(sender.clone(), stopped, self.stall));
        let task = self.run(work, Guard { verify, sender, stop });
        // The values of a task do not pass to a new one by themselves.
        tokio::spawn(carried_in_trace(carried(|()| task)(())));
        let mut answer = Response::new(body(receiver, memory));
        if self.is_live {
            answer.extensions_mut().insert(LiveAnswer);
        }
        Ok(answer)
    }

    /// Runs the work to its end, and ends the answer.
    async fn run(self, work: impl Future<Output = Result<(), BrokenOff>>, guard: Guard) {
        let Guard { verify, sender, stop } = guard;
        let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
        let reason = watch_over(verify, &sender, Instant::now() + self.longest);
        let ended = match select(work.as_mut(), pin!(reason)).await {
            Either::Left((ended, _)) => ended,
            Either::Right((reason, work)) => {
                // The work notices at its next piece, so that its transaction is not cancelled.
                stop.send_replace(Some(reason));
                work.await
            }
        };
        // The sender goes without a last `None`, which ends the connection.
        let Some(end) = end_of(ended, self.after_failure) else { return };
        let last = async {
            for piece in end {
                // Who is gone needs no end.
                let _ = sender.send(piece).await;
            }
        };
        let _ = tokio::time::timeout(self.stall, last).await;
    }
}

/// The parts of a streamed answer beside its work.
struct Guard {
    verify: Verify,
    sender: mpsc::Sender<Option<Bytes>>,
    stop: watch::Sender<Option<Stop>>,
}

/// Waits until an answer must end.
async fn watch_over(
    verify: Verify,
    sender: &mpsc::Sender<Option<Bytes>>,
    deadline: Instant,
) -> Stop {
    loop {
        let verify_at = Instant::now() + VERIFY;
        tokio::select! {
            () = sender.closed() => return Stop::Gone,
            () = tokio::time::sleep_until(deadline) => return Stop::TimeIsOver,
            () = tokio::time::sleep_until(verify_at) => {}
        }
        if !verify().await {
            return Stop::Revoked;
        }
    }
}

/// Returns the last pieces after work that ended so; `None` if the connection ends.
fn end_of(
    ended: Result<Result<(), BrokenOff>, Box<dyn Any + Send>>,
    after_failure: AfterFailure,
) -> Option<Vec<Option<Bytes>>> {
    match ended {
        Ok(Ok(())) => return Some(vec![None]),
        Ok(Err(BrokenOff::Stopped(reason @ (Stop::TooSlow | Stop::TimeIsOver)))) => {
            tracing::warn!(%reason, "a streamed answer broke off");
        }
        Ok(Err(BrokenOff::Stopped(reason))) => {
            tracing::debug!(%reason, "a streamed answer broke off");
        }
        Ok(Err(BrokenOff::Failed(error))) => {
            tracing::error!(%error, "a streamed answer broke off");
        }
        Err(panic) => {
            tracing::error!(panic = message_of_panic(&*panic), "a streamed answer broke off");
        }
    }
    match after_failure {
        AfterFailure::Say(word) => Some(vec![Some(Bytes::from_static(word.as_bytes())), None]),
        AfterFailure::Disconnect => None,
    }
}

/// Returns a hold of `bytes`, which the recipient of the request pays for; `None` outside of a request.
fn held(bytes: usize) -> Result<Option<Hold>, ApiError> {
    let mut memory = Recipient::current().map(Recipient::hold);
    if let Some(hold) = &mut memory {
        hold.grow_to(bytes).map_err(|_| OperationError::no_room_for_answer())?;
    }
    Ok(memory)
}

/// Returns a body with these pieces, up to the one that is `None`. It holds its memory.
fn body(receiver: mpsc::Receiver<Option<Bytes>>, memory: Option<Hold>) -> Body {
    let pieces = stream::try_unfold((receiver, memory), async |(mut receiver, memory)| {
        // Without a last `None` the work has failed, and the client must not take a part for the whole.
        let piece = receiver.recv().await.ok_or(Disconnected)?;
        Ok::<_, Disconnected>(piece.map(|piece| (piece, (receiver, memory))))
    });
    Body::from_stream(pieces)
}

#[cfg(test)]
mod tests;
