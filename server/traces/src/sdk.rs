//! The spans themselves, made by the SDK of OpenTelemetry. The span that runs is in its context, which follows the futures.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

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

    /// Begins the span of a request with `headers`; `None` if it is not sampled. If the caller sent a trace, the span begins
    /// when the caller is known.
    pub(crate) fn request(&self, headers: &HeaderMap) -> Option<Current> {
        match &self.callers {
            Some(callers) if headers.contains_key(TRACEPARENT) => {
                let caller =
                    callers.extract_with_context(&Context::new(), &HeaderExtractor(headers));
                let deferred = Arc::new(Deferred::new(self.tracer.clone(), caller));
                Some(Current(Context::new().with_value(deferred)))
            }
            _ => {
                begin(&self.tracer, SpanBuilder::from_name("request"), &Context::new()).map(Current)
            }
        }
    }

    /// Sends what waits, for at most `limit`, and makes no span any more.
    pub(crate) async fn stop(&self, limit: Duration) {
        let provider = self.provider.clone();
        // The shutdown blocks its thread until the exporter is done.
        let stopped = run_apart(move || provider.shutdown_with_timeout(limit)).await;
        if let Ok(Err(error)) = stopped {
            tracing::warn!(%error, "stopped before all spans were sent");
        }
    }
}

/// Begins the span of a request below `parent`, and returns the context in which it runs; `None` if it is not sampled.
fn begin(tracer: &SdkTracer, span: SpanBuilder, parent: &Context) -> Option<Context> {
    let span = tracer.build_with_context(span.with_kind(SpanKind::Server), parent);
    let sampled = span.is_recording();
    // The steps of the request find the tracer in the context.
    sampled.then(|| Context::new().with_value(tracer.clone()).with_span(span))
}

/// The span of a request whose caller sent a trace. It begins below the caller's span when the credential of the caller is
/// verified: a stranger does not decide which requests have spans, and into whose trace they go.
struct Deferred {
    tracer: SdkTracer,
    caller: Context,
    began: SystemTime,
    /// The method and the route.
    name: OnceLock<(Method, &'static str)>,
    /// The context of the span, once it is decided whether there is one.
    span: OnceLock<Option<Context>>,
}

impl Deferred {
    fn new(tracer: SdkTracer, caller: Context) -> Self {
        let (name, span) = (OnceLock::new(), OnceLock::new());
        Self { tracer, caller, began: opentelemetry::time::now(), name, span }
    }

    /// Returns the context of the span that began.
    fn span(&self) -> Option<&Context> {
        self.span.get()?.as_ref()
    }

    /// Begins the span below `parent`, unless it is decided already. Returns its context.
    fn begin(&self, parent: &Context) -> Option<&Context> {
        let begun = self.span.get_or_init(|| {
            let span = SpanBuilder::from_name("request").with_start_time(self.began);
            let context = begin(&self.tracer, span, parent)?;
            if let Some((method, route)) = self.name.get() {
                name(&context, method, route);
            }
            Some(context)
        });
        begun.as_ref()
    }
}

/// The verification of a credential, before which no span of the request could begin.
pub(crate) struct Verification {
    request: Arc<Deferred>,
    began: SystemTime,
}

impl Verification {
    /// Begins one; `None` if the caller sent no trace, or its span runs.
    pub(crate) fn begin() -> Option<Self> {
        Context::map_current(|context| {
            let request = context.get::<Arc<Deferred>>().filter(|of| of.span.get().is_none())?;
            Some(Self { request: Arc::clone(request), began: opentelemetry::time::now() })
        })
    }

    /// Begins the span of the request below the span of its caller. A verification that took time is a step that ends now.
    pub(crate) fn succeed(self, step: Option<&'static str>) {
        let Self { request, began } = self;
        if let Some(context) = request.begin(&request.caller)
            && let Some(step) = step
        {
            let span = SpanBuilder::from_name(step).with_start_time(began);
            request.tracer.build_with_context(span, context).end();
        }
    }
}

/// Names the span of a context by a route.
fn name(context: &Context, method: &Method, route: &'static str) {
    let span = context.span();
    span.update_name(format!("{method} {route}"));
    span.set_attribute(KeyValue::new("http.route", route));
}

/// A future with the span that runs while it is polled.
pub(crate) type Around<F> = WithContext<F>;

/// The span that runs until its guard is dropped.
pub(crate) type Guard = ContextGuard;

/// Returns the context of the span that runs in `context`.
fn with_span(context: &Context) -> Option<&Context> {
    if context.has_active_span() {
        return Some(context);
    }
    context.get::<Arc<Deferred>>()?.span()
}

/// A span that may run. It ends when its last copy is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Current(Context);

impl Current {
    /// Returns the span that runs on this thread.
    pub(crate) fn running() -> Option<Self> {
        Context::map_current(|context| {
            let has_request = context.has_active_span() || context.get::<Arc<Deferred>>().is_some();
            has_request.then(|| Self(context.clone()))
        })
    }

    /// Begins a span below the one that runs; `None` without one.
    pub(crate) fn below(name: &'static str, resolver: Option<&str>) -> Option<Self> {
        Context::map_current(|context| {
            let context = with_span(context)?;
            let tracer = context.get::<SdkTracer>()?;
            let resolver = resolver.map(|of| KeyValue::new("portcullis.resolver", of.to_owned()));
            let span = SpanBuilder::from_name(name).with_attributes(resolver);
            Some(Self(context.with_span(tracer.build_with_context(span, context))))
        })
    }

    /// Names the span that runs by a route.
    pub(crate) fn name(method: &Method, route: &'static str) {
        Context::map_current(|context| {
            if let Some(context) = with_span(context) {
                name(context, method, route);
            } else if let Some(deferred) = context.get::<Arc<Deferred>>() {
                // A request has one route.
                let _ = deferred.name.set((method.clone(), route));
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
        let deferred = self.0.get::<Arc<Deferred>>();
        // Nobody vouches for the trace of a caller that is not known by now: the request begins a trace of its own.
        let context = deferred.map_or(Some(&self.0), |deferred| deferred.begin(&Context::new()));
        let Some(context) = context else { return };
        let span = context.span();
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
