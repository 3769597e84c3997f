//! Log lines about connections, which a flood of connections must not multiply.

use std::time::Duration;

use tokio::time::Instant;

/// Shortest time between two lines.
const PAUSE: Duration = Duration::from_secs(10);

/// Passes one event in ten seconds, and counts the others.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    last: Option<Instant>,
    suppressed: u64,
}

impl Throttle {
    /// Counts an event. If it may have a line, returns the number of events since the last line, this one included.
    pub(super) fn pass(&mut self) -> Option<u64> {
        self.suppressed += 1;
        if self.last.is_some_and(|last| last.elapsed() < PAUSE) {
            return None;
        }
        self.last = Some(Instant::now());
        Some(std::mem::take(&mut self.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_has_one_line_in_ten_seconds() {
        let mut throttle = Throttle::default();
        assert_eq!(throttle.pass(), Some(1));
        for _ in 0..1_000 {
            assert_eq!(throttle.pass(), None);
        }
        tokio::time::advance(PAUSE).await;
        assert_eq!(throttle.pass(), Some(1_001));
        assert_eq!(throttle.pass(), None);
    }
}
