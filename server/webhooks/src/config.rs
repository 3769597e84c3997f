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
}

impl Default for WebhookConfig {
    fn default() -> Self {
        Self {
            backoff: [10, 30, 120, 600, 3_600].map(Duration::from_secs).to_vec(),
            max_failures: 5,
            timeout: Duration::from_secs(10),
            retention: Duration::from_secs(30 * 24 * 60 * 60),
        }
    }
}
