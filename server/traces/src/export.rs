//! Sends spans to a collector: OTLP over HTTP, as protobuf.

use std::pin::Pin;

use anyhow::Context;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry::KeyValue;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::resource::TelemetryResourceDetector;
use opentelemetry_sdk::trace::{
    self as sdk, BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, ShouldSample, SpanData,
};
use portcullis_egress::Client;
use portcullis_fairness::Throttle;
use tokio::runtime::Handle;
use tokio::time::Instant;
use url::Url;

use crate::config::{Sampler, TraceConfig};
use crate::metrics::TraceMetrics;

/// Most bytes of an answer of the collector that are read. It says how many spans it refused, and why.
const MAX_ANSWER: usize = 64 << 10;

/// Returns a provider of spans that sends them from its own thread.
pub(crate) fn provider(
    config: &TraceConfig,
    metrics: TraceMetrics,
) -> anyhow::Result<SdkTracerProvider> {
    let client =
        Client::trusted(config.timeout).context("cannot make the client of the collector")?;
    let collector = Collector { client, runtime: Handle::current() };
    let headers = config
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
    let exporter = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(collector)
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(config.endpoint.as_str())
        .with_timeout(config.timeout)
        .with_headers(headers.collect())
        .build()
        .context("cannot send traces")?;
    let exporter = Counted { exporter, metrics, failures: Throttle::default() };
    let batches = BatchConfigBuilder::default()
        .with_max_queue_size(config.batches.most_waiting)
        .with_max_export_batch_size(config.batches.largest)
        .with_scheduled_delay(config.batches.delay)
        .build();
    let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
    Ok(SdkTracerProvider::builder()
        .with_sampler(sampler(config))
        .with_resource(resource(config))
        .with_span_processor(processor)
        .build())
}

fn sampler(config: &TraceConfig) -> Box<dyn ShouldSample> {
    let root = match config.sampler {
        Sampler::All => sdk::Sampler::AlwaysOn,
        Sampler::None => sdk::Sampler::AlwaysOff,
        Sampler::Share(share) => sdk::Sampler::TraceIdRatioBased(share),
    };
    let sampler =
        if config.is_parent_based { sdk::Sampler::ParentBased(Box::new(root)) } else { root };
    Box::new(sampler)
}

fn resource(config: &TraceConfig) -> Resource {
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let configured = config.resource.iter();
    let configured = configured.map(|(name, value)| KeyValue::new(name.clone(), value.clone()));
    // Not the default builder, which reads the environment.
    Resource::builder_empty()
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_attribute(version)
        .with_attributes(configured)
        .with_service_name(config.service_name.clone())
        .build()
}

/// Posts to the collector by the client of the service. The thread of the exporter has no runtime, so that the post runs in
/// the one of the service.
#[derive(Debug)]
struct Collector {
    client: Client,
    runtime: Handle,
}

impl HttpClient for Collector {
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let url = Url::parse(&parts.uri.to_string())?;
            let client = self.client.clone();
            let post =
                async move { client.post(url, parts.headers, body.into(), MAX_ANSWER).await };
            let answer = self.runtime.spawn(post).await??;
            let mut response = Response::new(Bytes::from(answer.body));
            *response.status_mut() = answer.status;
            *response.headers_mut() = answer.headers;
            Ok(response)
        })
    }
}

/// Counts the spans that are sent and lost, and logs a failure in ten seconds.
#[derive(Debug)]
struct Counted {
    exporter: opentelemetry_otlp::SpanExporter,
    metrics: TraceMetrics,
    failures: Throttle,
}

impl sdk::SpanExporter for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len() as u64;
        match self.exporter.export(batch).await {
            Ok(()) => drop(self.metrics.sent.inc_by(spans)),
            Err(error) => {
                self.metrics.lost.inc_by(spans);
                if self.failures.pass(Instant::now()).is_some() {
                    tracing::warn!(%error, spans, "cannot send spans of traces");
                }
            }
        }
        // The processor would log each failure again.
        Ok(())
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
