//! The time limits of a request.

use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

/// Longest request, from its header to its answer.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time until a request is ready to write. It is less than [`REQUEST_TIMEOUT`], to leave time for the
/// transaction. Without this limit a request could write after its client got the answer that nothing is written.
const READY_WITHIN: Duration = Duration::from_secs(25);

/// The instant at which a request gives up if it is not ready to write.
#[derive(Clone, Copy, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// Returns the deadline of a request that arrives now.
    pub fn from_now() -> Self {
        Self(Instant::now() + READY_WITHIN)
    }

    /// Returns the instant.
    pub fn instant(self) -> Instant {
        self.0
    }

    /// Returns the result of `work`, or `None` if the deadline passes first.
    pub async fn bound<T>(self, work: impl Future<Output = T>) -> Option<T> {
        until(self.0, work).await
    }
}

/// Returns the result of `work`, or `None` if `instant` passes first. Work that is done at once, as most checks are, needs
/// no timer: making one writes memory that all threads share.
pub async fn until<T>(instant: Instant, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    if let Some(done) = work.as_mut().now_or_never() {
        return Some(done);
    }
    tokio::time::timeout_at(instant, work).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_gives_up_before_its_sender_is_told_that_it_failed() {
        let begun = Instant::now();
        let deadline = Deadline::from_now();
        assert_eq!(deadline.bound(async { 1 }).await, Some(1));
        let late = tokio::time::sleep(REQUEST_TIMEOUT);
        assert_eq!(deadline.bound(late).await, None);
        assert!(begun.elapsed() + Duration::from_secs(5) <= REQUEST_TIMEOUT);
    }
}
