//! The spans of requests and of their steps.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::Either;
use http::{HeaderMap, Method, StatusCode};

use crate::config::TraceConfig;
use crate::metrics::TraceMetrics;
use crate::sdk::{Around, Current, Guard, Source, Verification};

/// Makes the spans of requests; none by default. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Traces(Option<Arc<Source>>);

impl Traces {
    /// Begins to send spans. Must be called in the runtime that sends them.
    ///
    /// # Errors
    /// No client or no exporter can be made.
    pub fn start(config: &TraceConfig, metrics: TraceMetrics) -> anyhow::Result<Self> {
        Ok(Self(Some(Arc::new(Source::start(config, metrics)?))))
    }

    /// Begins the span of a request with `headers`, if it is sampled. It is below the span of its caller, once the caller
    /// is known.
    pub fn request(&self, headers: &HeaderMap) -> RequestSpan {
        RequestSpan(self.0.as_ref().and_then(|source| source.request(headers)))
    }

    /// Sends what waits, for at most `limit`, and makes no span any more.
    pub async fn stop(&self, limit: Duration) {
        if let Some(source) = &self.0 {
            source.stop(limit).await;
        }
    }
}

/// The span of a request, if the request is sampled.
#[derive(Debug)]
pub struct RequestSpan(Option<Current>);

impl RequestSpan {
    /// Returns `work`, the work of the request, whose steps find the span.
    pub fn around<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        within(self.0.clone(), work)
    }

    /// Ends the span with the status of the answer.
    pub fn end(self, method: &Method, status: StatusCode) {
        if let Some(span) = self.0 {
            span.end(method, status);
        }
    }
}

/// Names the span of the request that runs by its route.
pub fn name_request(method: &Method, route: &'static str) {
    Current::name(method, route);
}

/// Returns `work`, a step of the request that runs, with its own span if the request has one.
pub fn step<F: Future>(name: &'static str, work: F) -> impl Future<Output = F::Output> {
    within(Current::below(name, None), work)
}

/// Returns the outcome of `work`, the verification of a credential, as a step. If it is good, the request continues the trace
/// that its caller sent.
pub async fn verification<T, E>(
    name: &'static str,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    // Without it the span of the request runs already, or there is none: then this is a step as any other.
    let Some(verification) = Verification::begin() else { return step(name, work).await };
    let outcome = work.await;
    if outcome.is_ok() {
        verification.succeed(Some(name));
    }
    outcome
}

/// Says that the credential of the request is good, so that the request continues the trace that its caller sent.
pub fn caller_is_known() {
    if let Some(verification) = Verification::begin() {
        verification.succeed(None);
    }
}

/// Returns `work`, a question to the resolver of `namespace`, as [`step`] does.
pub fn resolver_step<F: Future>(
    namespace: &str,
    work: F,
) -> impl Future<Output = F::Output> + use<F> {
    within(Current::below("resolver", Some(namespace)), work)
}

/// Begins a step that does not wait. Its span, if there is one, ends with the guard.
pub fn enter(name: &'static str) -> StepGuard {
    StepGuard { _guard: Current::below(name, None).map(Current::attach) }
}

/// The span of a step that does not wait.
#[derive(Debug)]
#[must_use]
pub struct StepGuard {
    _guard: Option<Guard>,
}

/// Returns `work` of the request that runs, for another task.
pub fn carried<F: Future>(work: F) -> impl Future<Output = F::Output> {
    within(Current::running(), work)
}

fn within<F: Future>(span: Option<Current>, work: F) -> Either<F, Around<F>> {
    match span {
        Some(span) => Either::Right(span.around(work)),
        None => Either::Left(work),
    }
}

#[cfg(test)]
mod tests;
