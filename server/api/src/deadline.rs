//! The time limits of a request.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::FromRequestParts;
use http::Extensions;
use http::request::Parts;
use tokio::time::Instant;

/// Longest request, from its header to its answer.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time until a request is ready to write. It is less than [`REQUEST_TIMEOUT`], to leave time for the
/// transaction. Without this limit a request could write after its client got the answer that nothing is written.
const READY_WITHIN: Duration = Duration::from_secs(25);

/// The instant at which a request gives up if it is not ready to write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Instant);

impl<S: Send + Sync> FromRequestParts<S> for Deadline {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}

impl Deadline {
    /// Returns the deadline of a request that arrives now.
    pub(super) fn from_now() -> Self {
        Self(Instant::now() + READY_WITHIN)
    }

    /// Returns the deadline of the request with these extensions.
    pub(super) fn of(extensions: &Extensions) -> Self {
        extensions.get().copied().unwrap_or_else(Self::from_now)
    }

    /// Returns the instant.
    pub(super) fn instant(self) -> Instant {
        self.0
    }

    /// Returns the result of `work`, or `None` if the deadline passes first.
    pub(super) async fn bound<T>(self, work: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout_at(self.0, work).await.ok()
    }
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
