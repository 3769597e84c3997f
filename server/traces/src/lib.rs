//! Traces of requests (OpenTelemetry): one span for each request, and one for each of its steps.
//!
//! A request whose span is not sampled has no span at all, and its steps only look for one. No span has a value of an
//! attribute, a name of a tenant or a credential.

#![forbid(unsafe_code)]

mod config;
mod export;
mod metrics;
mod sdk;
mod spans;

pub use config::{Batches, Sampler, TraceConfig};
pub use metrics::TraceMetrics;
pub use spans::{
    RequestSpan, StepGuard, Traces, caller_is_known, carried, enter, name_request, resolver_step,
    step, verification,
};
