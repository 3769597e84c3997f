//! The proof that memory is up to date with the store (`docs/semantics.md`, sections 2.9 and 6.9).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The time between two reads of the stream of changes, unless `MAX_STALENESS` needs a shorter one. A change of another
/// process counts here within a second; on PostgreSQL its notification arrives long before.
const POLL_INTERVAL: Duration = Duration::from_millis(800);
/// The shortest time between two such reads.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The last time at which the plans, or the closed tenants, were known to be up to date with the store.
#[derive(Debug)]
pub struct Freshness {
    start: Instant,
    max_staleness: Duration,
    /// Milliseconds after `start`.
    proved_at: AtomicU64,
}

impl Freshness {
    /// Returns a proof from now.
    pub fn new(max_staleness: Duration) -> Self {
        Self { start: Instant::now(), max_staleness, proved_at: AtomicU64::new(0) }
    }

    pub(crate) fn prove(&self, at: Instant) {
        let millis = at.duration_since(self.start).as_millis();
        self.proved_at.fetch_max(u64::try_from(millis).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns the time between two reads. Four fit into the staleness: no check fails while the store is up.
    pub(crate) fn poll_interval(&self) -> Duration {
        (self.max_staleness / 4).clamp(MIN_POLL_INTERVAL, POLL_INTERVAL)
    }

    /// Returns whether the last proof is younger than `MAX_STALENESS`.
    pub fn is_proved(&self) -> bool {
        let proved_at = Duration::from_millis(self.proved_at.load(Ordering::Relaxed));
        self.start.elapsed().saturating_sub(proved_at) <= self.max_staleness
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_proof_holds_for_the_staleness_from_the_begin_of_its_read() {
        let freshness = Freshness::new(Duration::from_secs(30));
        let began = Instant::now();
        tokio::time::advance(Duration::from_secs(30)).await;
        assert!(freshness.is_proved());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!freshness.is_proved());
        freshness.prove(began + Duration::from_secs(10));
        assert!(freshness.is_proved());
        freshness.prove(began);
        assert!(freshness.is_proved(), "an older proof takes nothing away");
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(!freshness.is_proved());
    }
}
