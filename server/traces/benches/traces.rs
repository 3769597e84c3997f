//! The cost of traces for a check whose request has no span.
//!
//! `cargo bench -p portcullis-traces --bench traces`

use std::future::ready;
use std::hint::black_box;

use anyhow::{Context, Result};
use futures_util::FutureExt as _;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use portcullis_traces::{
    Batches, Sampler, TraceConfig, TraceMetrics, Traces, enter, name_request, step,
};
use portcullis_workloads::measure::{Variant, allocations, compare};
use portcullis_workloads::report::{Bar, Group, Report};
use prometheus_client::registry::Registry;

/// A caller whose span is not sampled (W3C Trace Context, 3.2).
const UNSAMPLED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
/// The largest time that traces may add to a check without a span, in nanoseconds.
const MAX_ADDED: f64 = 1_000.0;
const REQUESTS: usize = 1_000;

fn main() -> Result<()> {
    let mut report = Report::from_args(std::env::args())?;
    report.group("unsampled checks", unsampled)?;
    report.finish()
}

fn config(sampler: Sampler) -> Result<TraceConfig> {
    Ok(TraceConfig {
        // Nothing is sent: no request has a span.
        endpoint: "http://127.0.0.1:9/v1/traces".parse()?,
        headers: HeaderMap::new(),
        timeout: std::time::Duration::from_secs(1),
        sampler,
        is_parent_based: true,
        continues_callers: true,
        service_name: "bench".to_owned(),
        resource: Vec::new(),
        batches: Batches::default(),
    })
}

/// Takes the steps of a check with a plan in memory, as the service does.
fn check(traces: &Traces, headers: &HeaderMap) -> Option<()> {
    let span = traces.request(headers);
    let work = async {
        name_request(&Method::POST, "/api/v1/check");
        step("token", ready(black_box(true))).await;
        let _plan = enter("plan");
        black_box(true)
    };
    span.around(work).now_or_never()?;
    span.end(&Method::POST, StatusCode::OK);
    Some(())
}

fn unsampled(group: &mut Group<'_>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _entered = runtime.enter();
    let start = |sampler| {
        Traces::start(&config(sampler)?, TraceMetrics::register(&mut Registry::default()))
    };
    let (none, share, all) =
        (start(Sampler::None)?, start(Sampler::Share(0.0))?, start(Sampler::All)?);
    let (off, no_caller) = (Traces::default(), HeaderMap::new());
    let caller =
        HeaderMap::from_iter([("traceparent".parse()?, HeaderValue::from_static(UNSAMPLED))]);
    check(&all, &caller).context("the steps wait for nothing")?;
    let samples = compare(vec![
        Variant::new("off", REQUESTS, |_| check(&off, &no_caller)),
        Variant::new("sampler `always_off`", REQUESTS, |_| check(&none, &no_caller)),
        Variant::new("a share of 0", REQUESTS, |_| check(&share, &no_caller)),
        Variant::new("a caller that is not sampled", REQUESTS, |_| check(&all, &caller)),
    ]);
    group.measurement("off", samples[0].ns(), " ns", Bar::Shown);
    for sample in &samples[1..] {
        let added = sample.ns() - samples[0].ns();
        group.measurement(
            format!("added by {}", sample.name),
            added,
            " ns",
            Bar::AtMost(MAX_ADDED),
        );
    }
    let allocated = allocations(|| {
        for _ in 0..REQUESTS {
            black_box(check(&all, &caller));
        }
    });
    let each = allocated as f64 / REQUESTS as f64;
    group.measurement("allocations of a caller that is not sampled", each, "", Bar::Shown);
    Ok(())
}
