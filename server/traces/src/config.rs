//! The settings of traces, as OpenTelemetry defines them
//! ([variables](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/)).

use std::time::Duration;

use http::HeaderMap;
use url::Url;

/// The settings of traces.
#[derive(Clone, Debug)]
pub struct TraceConfig {
    /// The address that spans are posted to.
    pub endpoint: Url,
    /// The headers of each post. Their values are marked as sensitive.
    pub headers: HeaderMap,
    /// Longest time of a post with its repetitions.
    pub timeout: Duration,
    pub sampler: Sampler,
    /// Whether the sampling of a caller's span decides for the request.
    pub is_parent_based: bool,
    /// Whether requests continue the traces of their callers (`traceparent`).
    pub continues_callers: bool,
    pub service_name: String,
    /// More attributes that describe this process.
    pub resource: Vec<(String, String)>,
    pub batches: Batches,
}

/// Selects the requests without a sampled or unsampled caller that have spans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampler {
    All,
    None,
    /// This share of the traces, from 0 to 1.
    Share(f64),
}

/// The limits of the spans that wait for a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batches {
    /// The time between two posts.
    pub delay: Duration,
    /// The most spans that wait. Further ones are dropped.
    pub most_waiting: usize,
    /// The most spans of a post.
    pub largest: usize,
}

impl Default for Batches {
    fn default() -> Self {
        Self { delay: Duration::from_secs(5), most_waiting: 2048, largest: 512 }
    }
}
