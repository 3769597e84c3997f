//! Throttles a log line that a caller can cause again and again.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::rate::{Bucket, Moment, Rate};

/// One line in ten seconds: an operator sees an attack soon, and the attack does not fill the log.
const LINES: Rate = Rate::new(1, 10);

/// Lets one log line through in ten seconds, and counts the others.
#[derive(Debug, Default)]
pub struct LogThrottle {
    lines: Bucket,
    unwritten: AtomicU64,
}

impl LogThrottle {
    /// Returns how many lines were not written since the last one, if a line may be written at `now`.
    pub fn may_write(&self, now: Moment) -> Option<u64> {
        if self.lines.take(&LINES, now).is_ok() {
            return Some(self.unwritten.swap(0, Ordering::Relaxed));
        }
        self.unwritten.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn one_line_in_ten_seconds_counts_the_others() {
        let (throttle, now) = (LogThrottle::default(), Moment::of(chrono::DateTime::UNIX_EPOCH));
        assert_eq!(throttle.may_write(now), Some(0));
        assert_eq!((0..500).filter_map(|_| throttle.may_write(now)).count(), 0);
        assert_eq!(throttle.may_write(now + Duration::from_secs(10)), Some(500));
    }
}
