//! The configuration of deliveries.

use std::time::Duration;

/// The waits, limits and retention of deliveries (`docs/semantics.md`, section 7.7).
#[derive(Clone, Debug)]
pub struct WebhookConfig {
    /// The waits after the first failure, the second, and so on; the last one repeats. Never empty.
    pub backoff: Vec<Duration>,
    /// The number of failures after which a delivery is dead.
    pub max_failures: u32,
    /// The longest duration of an attempt.
    pub timeout: Duration,
    /// The time for which attempts are kept.
    pub retention: Duration,
    /// The most denied checks that are sent to one webhook at a time, from 1 to [`MAX_DENIALS_AT_ONCE`].
    pub denials_at_once: usize,
}

/// The most denied checks that an operator can have sent to one webhook at a time. A process serves 256 queues, and each
/// request needs a socket.
pub const MAX_DENIALS_AT_ONCE: usize = 32;

impl Default for WebhookConfig {
    fn default() -> Self {
        Self {
            backoff: [10, 30, 120, 600, 3_600].map(Duration::from_secs).to_vec(),
            max_failures: 5,
            timeout: Duration::from_secs(10),
            retention: Duration::from_secs(30 * 24 * 60 * 60),
            // More would send them in another order than they occurred.
            denials_at_once: 1,
        }
    }
}
