//! Seals finished write-ahead files and removes what is too old, in the background.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use portcullis_model::Timestamp;
use portcullis_model::clock::Clock;
use tokio::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

use super::archive::{Archive, ArchiveError};
use crate::metrics::LogMetrics;
use crate::segments::Segments;

/// The time between two looks for what is too old.
const SWEEP: Duration = Duration::from_secs(30);
/// The time until the next try after a failure; it doubles up to [`SWEEP`].
const RETRY: Duration = Duration::from_secs(1);

/// Seals finished write-ahead files.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub(crate) archive: Archive,
    segments: Arc<Segments>,
    metrics: LogMetrics,
    clock: Clock,
    /// One at a time.
    turn: Mutex<()>,
}

impl Keeper {
    pub(crate) fn new(
        archive: Archive,
        segments: Arc<Segments>,
        metrics: LogMetrics,
        clock: Clock,
    ) -> Self {
        Self { archive, segments, metrics, clock, turn: Mutex::new(()) }
    }

    /// Runs until it is dropped. `rotate` lets the file that grows be finished.
    pub(crate) async fn run(&self, rotate: impl Fn()) {
        let (mut pause, mut swept) = (RETRY, None::<Instant>);
        let mut left_out = BTreeSet::new();
        loop {
            // This comes before the round, so that a file that is finished during it wakes the wait at the end.
            let finished = self.segments.finished();
            // The records of a tenant that is deleted go with it: a file is sealed without them, and soon, because the
            // tenant may begin anew.
            let leaving = self.archive.leaving().await.unwrap_or_else(|_| left_out.clone());
            if self.segments.is_of_an_earlier_day(self.now()) || !leaving.is_subset(&left_out) {
                rotate();
            }
            left_out = leaving;
            let mut outcome = self.seal_all().await;
            if outcome.is_ok() && swept.is_none_or(|at| at.elapsed() >= SWEEP) {
                let _turn = self.turn().await;
                outcome = self.archive.sweep(self.now()).await;
                swept = Some(Instant::now());
            }
            let wait = match outcome {
                Ok(()) => {
                    pause = RETRY;
                    SWEEP
                }
                Err(error) => {
                    self.metrics.store_failures.inc();
                    tracing::warn!(%error, "the decision log is not sealed; its write-ahead files stay");
                    pause = (pause * 2).min(SWEEP);
                    pause
                }
            };
            // A finished file and the end of the wait both begin the next round.
            let _ = tokio::time::timeout(wait, finished).await;
        }
    }

    /// Seals every finished file.
    pub(crate) async fn seal_all(&self) -> Result<(), ArchiveError> {
        let _turn = self.turn().await;
        while let Some(segment) = self.segments.oldest() {
            self.archive.seal(Arc::clone(&segment), self.segments.replica(), self.now()).await?;
            // This comes only after the manifest names the records: until then the write-ahead file is their only copy.
            self.segments.remove(&segment)?;
            self.metrics.sealed.inc();
        }
        Ok(())
    }

    /// Waits until nobody else of this process changes sealed files.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now().into()
    }
}
