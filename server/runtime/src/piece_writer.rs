//! The pieces of an answer that is written while it is sent.

use std::time::Duration;

use bytes::Bytes;
use portcullis_storage::StoreError;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout_at};

use crate::error::OperationError;

/// The reason why an answer must end before all of it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    #[error("its client is gone")]
    Gone,
    #[error("its client took too long for a piece")]
    TooSlow,
    #[error("its time is over")]
    TimeIsOver,
    #[error("its credential does not hold any more")]
    Revoked,
}

/// An answer broke off: a part of it is not the whole.
#[derive(Debug, thiserror::Error)]
pub enum BrokenOff {
    #[error(transparent)]
    Stopped(#[from] Stop),
    #[error(transparent)]
    Failed(#[from] OperationError),
}

impl From<StoreError> for BrokenOff {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

/// Sends the pieces of an answer. One piece waits for the client while the next is written.
#[derive(Clone, Debug)]
pub struct PieceWriter {
    pieces: mpsc::Sender<Option<Bytes>>,
    stop: watch::Receiver<Option<Stop>>,
    stall: Duration,
}

impl PieceWriter {
    /// Returns a writer into `pieces`, which sends nothing after `stop`, and waits for `stall` until the client takes a piece.
    pub fn new(
        pieces: mpsc::Sender<Option<Bytes>>,
        stop: watch::Receiver<Option<Stop>>,
        stall: Duration,
    ) -> Self {
        Self { pieces, stop, stall }
    }

    /// Sends a piece, as soon as the one before it is taken.
    ///
    /// # Errors
    /// The answer must end.
    pub async fn send(&mut self, piece: impl Into<Bytes>) -> Result<(), Stop> {
        let until = Instant::now() + self.stall;
        tokio::select! {
            // A client that takes each piece at once must not outrun the reason to stop.
            biased;
            stop = stopped(&mut self.stop) => Err(stop),
            sent = timeout_at(until, self.pieces.send(Some(piece.into()))) => match sent {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) => Err(Stop::Gone),
                Err(_) => Err(Stop::TooSlow),
            },
        }
    }

    /// Waits until the answer must end, and returns the reason.
    pub async fn stopped(&mut self) -> Stop {
        stopped(&mut self.stop).await
    }
}

async fn stopped(stop: &mut watch::Receiver<Option<Stop>>) -> Stop {
    // Without a sender nobody waits for the answer.
    let reason = stop.wait_for(Option::is_some).await.map(|reason| *reason);
    reason.ok().flatten().unwrap_or(Stop::Gone)
}
