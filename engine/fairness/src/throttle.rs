//! Throttles a log line that a caller can cause again and again.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The shortest time between two lines: an operator sees an attack soon, and the attack does not fill the log.
const PAUSE: Duration = Duration::from_secs(10);

/// Passes one log line in ten seconds, and counts the others.
#[derive(Debug, Default)]
pub struct Throttle(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    last: Option<Instant>,
    unwritten: u64,
}

impl Throttle {
    /// Returns the number of lines that were not written since the last one, if a line may be written at `now`.
    pub fn pass(&self, now: Instant) -> Option<u64> {
        let mut lines = self.0.lock();
        if lines.last.is_some_and(|last| now.saturating_duration_since(last) < PAUSE) {
            lines.unwritten += 1;
            return None;
        }
        lines.last = Some(now);
        Some(std::mem::take(&mut lines.unwritten))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_in_ten_seconds_counts_the_others() {
        let (throttle, now) = (Throttle::default(), Instant::now());
        assert_eq!(throttle.pass(now), Some(0));
        assert_eq!((0..500).filter_map(|_| throttle.pass(now)).count(), 0);
        assert_eq!(throttle.pass(now + PAUSE), Some(500));
        assert_eq!(throttle.pass(now + PAUSE), None);
    }
}
