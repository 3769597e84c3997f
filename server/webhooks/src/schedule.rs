//! The times of retries.

use std::time::Duration;

use portcullis_model::jitter::Jitter;

use crate::config::WebhookConfig;

/// The largest random addition to a wait, as a part of it. It spreads the retries of deliveries that failed together.
const MAX_JITTER: f64 = 0.1;
/// The longest pause that a receiver can ask for. A longer one would keep an event from a receiver that is well again.
const MAX_PAUSE: Duration = Duration::from_secs(60 * 60);

/// The waits between the attempts of a delivery.
#[derive(Clone, Debug)]
pub struct Schedule {
    backoff: Vec<Duration>,
    max_failures: i64,
    jitter: Jitter,
}

impl Schedule {
    pub fn new(config: &WebhookConfig, jitter: Jitter) -> Self {
        let max_failures = config.max_failures.into();
        Self { backoff: config.backoff.clone(), max_failures, jitter }
    }

    /// Returns the wait after `failures` failures, at least one. A `pause` that the receiver asks for may
    /// lengthen it. `None` means that the delivery is dead.
    pub fn wait_after(&self, failures: i64, pause: Option<Duration>) -> Option<Duration> {
        if failures >= self.max_failures {
            return None;
        }
        // `backoff` is never empty, and its last wait repeats.
        let index = usize::try_from(failures - 1).unwrap_or(0).min(self.backoff.len() - 1);
        let wait = self.backoff[index].mul_f64(1.0 + MAX_JITTER * self.jitter.next());
        Some(wait.max(pause.unwrap_or_default().min(MAX_PAUSE)))
    }

    /// Returns the longest wait.
    pub fn longest_wait(&self) -> Duration {
        let longest = self.backoff.iter().max().copied().unwrap_or_default();
        // A receiver may ask for a longer pause than any wait.
        longest.mul_f64(1.0 + MAX_JITTER).max(MAX_PAUSE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(config: &WebhookConfig, jitter: f64) -> Vec<Option<f64>> {
        let schedule = Schedule::new(config, Jitter::new(move || jitter));
        (1..=9).map(|n| schedule.wait_after(n, None).map(|wait| wait.as_secs_f64())).collect()
    }

    #[test]
    fn the_fifth_failure_is_the_last() {
        let dead = vec![None; 5];
        let due = [10.0, 30.0, 120.0, 600.0].map(Some).to_vec();
        assert_eq!(waits(&WebhookConfig::default(), 0.0), [due, dead.clone()].concat());
        let later = [11.0, 33.0, 132.0, 660.0].map(Some).to_vec();
        assert_eq!(waits(&WebhookConfig::default(), 1.0), [later, dead].concat());
    }

    #[test]
    fn the_last_wait_repeats_where_more_failures_are_allowed() {
        let config = WebhookConfig { max_failures: 9, ..WebhookConfig::default() };
        let hours = vec![Some(3_600.0); 4];
        let due = [10.0, 30.0, 120.0, 600.0].map(Some).to_vec();
        assert_eq!(waits(&config, 0.0), [due, hours, vec![None]].concat());
    }

    #[test]
    fn chance_adds_a_tenth_at_most() {
        let schedule = Schedule::new(&WebhookConfig::default(), Jitter::system());
        let waits: Vec<_> = (0..1_000).filter_map(|_| schedule.wait_after(1, None)).collect();
        assert!(waits.iter().all(|wait| (10.0..=11.0).contains(&wait.as_secs_f64())));
        assert!(waits.iter().any(|wait| *wait != waits[0]));
    }

    #[test]
    fn a_receiver_may_lengthen_a_wait_up_to_an_hour() {
        let schedule = Schedule::new(&WebhookConfig::default(), Jitter::new(|| 0.0));
        for (asked, expected) in [(0, 10), (9, 10), (11, 11), (3_600, 3_600), (u64::MAX, 3_600)] {
            let wait = schedule.wait_after(1, Some(Duration::from_secs(asked)));
            assert_eq!(wait, Some(Duration::from_secs(expected)), "{asked}");
        }
        assert_eq!(schedule.wait_after(5, Some(Duration::from_secs(1))), None);
        let short = WebhookConfig { backoff: vec![Duration::from_secs(2)], ..Default::default() };
        let longest = Schedule::new(&short, Jitter::new(|| 0.0)).longest_wait();
        assert_eq!(
            longest, MAX_PAUSE,
            "a wait that was asked for is not a clock that was put back"
        );
    }
}
