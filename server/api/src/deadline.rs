//! By when a request must be ready to write.

use std::time::Duration;

use http::Extensions;
use tokio::time::Instant;

/// Less than a request may take in all: what is left is for its transaction. Without this bound a request that waits
/// for longer would write what its sender has been told is not written.
const READY_WITHIN: Duration = Duration::from_secs(25);

/// When a request that is not ready to write gives up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Instant);

impl Deadline {
    /// That of a request that comes in now.
    pub(super) fn from_now() -> Self {
        Self(Instant::now() + READY_WITHIN)
    }

    /// The request's.
    pub(super) fn of(extensions: &Extensions) -> Self {
        extensions.get().copied().unwrap_or_else(Self::from_now)
    }

    /// What `work` gives, unless that is too late.
    pub(super) async fn bound<T>(self, work: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout_at(self.0, work).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::REQUEST_TIMEOUT;

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
