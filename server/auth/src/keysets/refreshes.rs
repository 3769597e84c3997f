//! The bounds and the times of fetches of key sets.

use std::time::Duration;

use portcullis_fairness::{Turn, TurnLimits, TurnQueue};
use portcullis_model::jitter::Jitter;

/// Most fetches at a time in the background.
const BACKGROUND: TurnLimits = TurnLimits { at_once: 8, ..TurnLimits::NONE };
/// Most fetches at a time that tokens wait for. Providers that hang take their turns for 5 s.
const ON_DEMAND: TurnLimits = TurnLimits { at_once: 256, ..TurnLimits::NONE };

/// The turns of fetches of all key sets, and the randomness of their times.
#[derive(Debug)]
pub(crate) struct Refreshes {
    background: TurnQueue,
    on_demand: TurnQueue,
    jitter: Jitter,
}

impl Refreshes {
    pub(crate) fn new(jitter: Jitter) -> Self {
        let (background, on_demand) = (TurnQueue::new(BACKGROUND), TurnQueue::new(ON_DEMAND));
        Self { background, on_demand, jitter }
    }

    /// Waits for the turn of a fetch from `issuer` in the background.
    pub(super) async fn turn(&self, issuer: &str) -> Turn {
        self.background.begin_patiently(issuer).await
    }

    /// Waits for the turn of a fetch from `issuer` that a token waits for.
    pub(super) async fn turn_on_demand(&self, issuer: &str) -> Turn {
        self.on_demand.begin_patiently(issuer).await
    }

    /// Returns a random part of `interval`, from a half to almost all of it: sets that were fetched together drift apart.
    pub(super) fn pause(&self, interval: Duration) -> Duration {
        interval.mul_f64(0.5 + 0.45 * self.jitter.next())
    }
}
