//! The proof that memory is up to date with the store (`docs/semantics.md`, sections 2.9 and 6.9).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The time between two comparisons of all tenants' revisions with the published ones, unless `MAX_STALENESS`
/// needs a shorter one. The second round after a write of another process finds it; on PostgreSQL its
/// notification arrives long before.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The shortest time between two such comparisons.
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

    /// Returns the time between two rounds. A round proves the revisions that the round before it read, so a
    /// proof is up to two rounds old. Four rounds fit into the staleness: no check fails while the store is up.
    pub(crate) fn poll_interval(&self) -> Duration {
        (self.max_staleness / 4).clamp(MIN_POLL_INTERVAL, POLL_INTERVAL)
    }

    /// Returns whether the last proof is younger than `MAX_STALENESS`.
    pub(crate) fn is_proved(&self) -> bool {
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
