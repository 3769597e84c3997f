//! The spans themselves, made by the SDK of OpenTelemetry. The span that runs is in its context, which follows the futures.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use opentelemetry::context::{FutureExt, WithContext};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{
    Span, SpanBuilder, SpanKind, Status, TraceContextExt, Tracer, TracerProvider,
};
use opentelemetry::{Context, ContextGuard, KeyValue};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use portcullis_fairness::run_apart;

use crate::config::TraceConfig;
use crate::export;
use crate::metrics::TraceMetrics;

/// The header of a caller with a trace (W3C Trace Context).
const TRACEPARENT: &str = "traceparent";

/// The methods that spans name (semantic conventions of HTTP). The others are invented by callers.
const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::DELETE,
    Method::PATCH,
    Method::OPTIONS,
];

/// The source of spans.
pub(crate) struct Source {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    /// Reads the spans of callers; `None` if each request begins a trace.
    callers: Option<TraceContextPropagator>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}

impl Source {
    /// Begins to send spans.
    ///
    /// # Errors
    /// No client or no exporter can be made.
    pub(crate) fn start(config: &TraceConfig, metrics: TraceMetrics) -> anyhow::Result<Self> {
        let provider = export::provider(config, metrics)?;
        let tracer = provider.tracer("portcullis");
        let callers = config.continues_callers.then(TraceContextPropagator::new);
        Ok(Self { provider, tracer, callers })
    }

    /// Begins the span of a request with `headers`, below the span of its caller; `None` if it is not sampled.
    pub(crate) fn request(&self, headers: &HeaderMap) -> Option<Current> {
        let caller = match &self.callers {
            Some(callers) if headers.contains_key(TRACEPARENT) => {
                callers.extract_with_context(&Context::new(), &HeaderExtractor(headers))
            }
            _ => Context::new(),
        };
        let span = SpanBuilder::from_name("request").with_kind(SpanKind::Server);
        let span = self.tracer.build_with_context(span, &caller);
        let current = span.is_recording().then(|| Context::new().with_value(self.tracer.clone()));
        Some(Current(current?.with_span(span)))
    }

    /// Sends what waits, for at most `limit`, and makes no span any more.
    pub(crate) async fn stop(&self, limit: Duration) {
        let provider = self.provider.clone();
        let stopped = run_apart(move || provider.shutdown_with_timeout(limit)).await;
        if let Ok(Err(error)) = stopped {
            tracing::warn!(%error, "stopped before all spans were sent");
        }
    }
}

/// A future with the span that runs while it is polled.
pub(crate) type Around<F> = WithContext<F>;

/// The span that runs until its guard is dropped.
pub(crate) type Guard = ContextGuard;

/// A span that may run. It ends when its last copy is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Current(Context);

impl Current {
    /// Returns the span that runs on this thread.
    pub(crate) fn running() -> Option<Self> {
        Context::map_current(|context| context.has_active_span().then(|| Self(context.clone())))
    }

    /// Begins a span below the one that runs; `None` without one.
    pub(crate) fn below(name: &'static str, resolver: Option<&str>) -> Option<Self> {
        Context::map_current(|context| {
            let tracer = context.get::<SdkTracer>()?;
            let resolver = resolver.map(|of| KeyValue::new("portcullis.resolver", of.to_owned()));
            let span = SpanBuilder::from_name(name).with_attributes(resolver);
            Some(Self(context.with_span(tracer.build_with_context(span, context))))
        })
    }

    /// Names the span that runs by a route.
    pub(crate) fn name(method: &Method, route: &'static str) {
        Context::map_current(|context| {
            if context.has_active_span() {
                let span = context.span();
                span.update_name(format!("{method} {route}"));
                span.set_attribute(KeyValue::new("http.route", route));
            }
        });
    }

    /// Returns `work`, in which the span runs.
    pub(crate) fn around<F: Future>(self, work: F) -> Around<F> {
        work.with_context(self.0)
    }

    /// Runs the span until the guard is dropped.
    pub(crate) fn attach(self) -> Guard {
        self.0.attach()
    }

    /// Ends the span of a request with the status of its answer.
    pub(crate) fn end(self, method: &Method, status: StatusCode) {
        let span = self.0.span();
        let method = if METHODS.contains(method) { method.as_str() } else { "_OTHER" };
        span.set_attribute(KeyValue::new("http.request.method", method.to_owned()));
        let number = i64::from(status.as_u16());
        span.set_attribute(KeyValue::new("http.response.status_code", number));
        if status.is_server_error() {
            span.set_status(Status::error(""));
        }
        span.end();
    }
}
