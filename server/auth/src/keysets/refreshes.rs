//! The bounds and the times of fetches of key sets.

use std::time::Duration;

use portcullis_model::jitter::Jitter;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Most fetches at a time in the background.
const BACKGROUND: usize = 8;
/// Most fetches at a time that tokens wait for. Providers that hang take their places for 5 s.
const ON_DEMAND: usize = 256;

/// The places of fetches of all key sets, and the randomness of their times.
#[derive(Debug)]
pub(crate) struct Refreshes {
    background: Semaphore,
    on_demand: Semaphore,
    jitter: Jitter,
}

impl Refreshes {
    pub(crate) fn new(jitter: Jitter) -> Self {
        let (background, on_demand) = (Semaphore::new(BACKGROUND), Semaphore::new(ON_DEMAND));
        Self { background, on_demand, jitter }
    }

    /// Waits for a place for a fetch in the background.
    pub(super) async fn place(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.background.acquire().await.ok()
    }

    /// Waits for a place for a fetch that a token waits for.
    pub(super) async fn place_on_demand(&self) -> Option<SemaphorePermit<'_>> {
        self.on_demand.acquire().await.ok()
    }

    /// Returns a random part of `interval`, from a half to almost all of it: sets that were fetched together drift apart.
    pub(super) fn pause(&self, interval: Duration) -> Duration {
        interval.mul_f64(0.5 + 0.45 * self.jitter.next())
    }
}
