//! Traces: what a collector receives, decoded by the official messages of OTLP.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind};
use prost::Message;
use serde_json::json;

use crate::support::receiver::{Answer, Delivery, Receiver};
use crate::support::{Provider, Request, Server, Settings, Tenant};

/// The trace and the span of a caller (W3C Trace Context, 3.2).
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

fn settings(collector: &Receiver) -> Settings {
    Settings::new(Provider::shared())
        .set("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url(""))
        .set("OTEL_EXPORTER_OTLP_HEADERS", "x-team=north%20wing")
        .set("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
        .set("OTEL_BSP_SCHEDULE_DELAY", "20")
}

fn tenant(server: &Server) -> Tenant<'static> {
    Tenant::with_provider(server, Provider::shared(), "acme-traced")
}

/// A check by a caller with the trace `trace`.
fn check(tenant: &Tenant<'_>, trace: &str, flags: &str) -> Request {
    let body = json!({"subject": "alice-secret", "resource": "doc:read", "action": "read",
        "attributes": {"user": {"pin": "s3cr3t"}}});
    let request = Request::new("POST /api/v1/check").token(&tenant.token("alice-secret", &[]));
    request.header("traceparent", &format!("00-{trace}-{CALLER}-{flags}")).json(&body)
}

fn decoded(delivery: &Delivery) -> ExportTraceServiceRequest {
    ExportTraceServiceRequest::decode(&*delivery.body).expect("a message of OTLP")
}

/// The spans of a trace, by name.
fn spans_of(trace: &str, all: &[Delivery]) -> BTreeMap<String, Span> {
    let spans = all.iter().flat_map(|delivery| decoded(delivery).resource_spans);
    let spans = spans.flat_map(|of| of.scope_spans).flat_map(|of| of.spans);
    let spans = spans.filter(|span| hex::encode(&span.trace_id) == trace);
    spans.map(|span| (span.name.clone(), span)).collect()
}

/// The spans of a trace once `name` is among them: the span of a request ends last.
fn received(collector: &Receiver, trace: &str, name: &str) -> BTreeMap<String, Span> {
    let all = collector.wait_until(name, |all| spans_of(trace, all).contains_key(name));
    spans_of(trace, &all)
}

fn attributes(of: &[KeyValue]) -> BTreeMap<&str, String> {
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    let value = |pair: &KeyValue| pair.value.as_ref()?.value.as_ref().map(text);
    of.iter().map(|pair| (&*pair.key, value(pair).unwrap())).collect()
}

#[test]
fn a_check_continues_the_trace_of_its_caller_with_its_steps() {
    let collector = Receiver::start();
    let server = settings(&collector).start();
    let tenant = tenant(&server);
    tenant.rule("alice-secret", "doc:read", "read", "allow");
    tenant.send(&check(&tenant, TRACE, "01")).is(200);
    let spans = received(&collector, TRACE, "POST /api/v1/check");
    let names: Vec<_> = spans.keys().map(String::as_str).collect();
    assert_eq!(names, ["POST /api/v1/check", "plan", "plan load", "token"]);
    let request = &spans["POST /api/v1/check"];
    assert_eq!(hex::encode(&request.parent_span_id), CALLER);
    assert_eq!(request.kind(), SpanKind::Server);
    assert_eq!(
        attributes(&request.attributes),
        BTreeMap::from([
            ("http.request.method", "POST".to_owned()),
            ("http.response.status_code", "200".to_owned()),
            ("http.route", "/api/v1/check".to_owned()),
        ])
    );
    for step in ["token", "plan", "plan load"] {
        let step = &spans[step];
        assert_eq!(step.parent_span_id, request.span_id);
        assert!(step.attributes.is_empty() && step.events.is_empty(), "{step:?}");
        assert!(request.start_time_unix_nano <= step.start_time_unix_nano, "{step:?}");
        assert!(step.end_time_unix_nano <= request.end_time_unix_nano, "{step:?}");
    }
    for delivery in collector.deliveries() {
        assert_eq!(delivery.path, "/v1/traces");
        assert_eq!(delivery.header("content-type"), "application/x-protobuf");
        assert_eq!(delivery.header("x-team"), "north wing");
        let text = String::from_utf8_lossy(&delivery.body);
        for value in ["alice-secret", "s3cr3t", "doc:read", "acme-traced"] {
            assert!(!text.contains(value), "{value}: {text}");
        }
        let resource = decoded(&delivery).resource_spans[0].resource.clone().unwrap();
        let resource = attributes(&resource.attributes);
        assert_eq!(resource["service.name"], "portcullis");
        assert_eq!(resource["deployment.environment.name"], "test");
    }
}

#[test]
fn the_caller_decides_whether_its_request_has_spans() {
    let collector = Receiver::start();
    let server = settings(&collector).set("OTEL_TRACES_SAMPLER", "parentbased_always_off").start();
    let tenant = tenant(&server);
    let (unsampled, other) = (TRACE.replace('4', "5"), TRACE.replace('4', "6"));
    tenant.send(&check(&tenant, &unsampled, "00")).is(200);
    tenant.send(&check(&tenant, TRACE, "01")).is(200);
    // A handler that runs in its own task has the trace, too.
    let rule = json!({"sub": "bob", "obj": "doc:read", "act": "read", "effect": "allow"});
    let write = tenant.managing("POST /api/v1/resources/policies").json(&rule);
    tenant.send(&write.header("traceparent", &format!("00-{other}-{CALLER}-01")));
    received(&collector, TRACE, "POST /api/v1/check");
    let spans = received(&collector, &other, "POST /api/v1/resources/policies");
    assert_eq!(spans["token"].parent_span_id, spans["POST /api/v1/resources/policies"].span_id);
    let all = collector.deliveries();
    assert!(spans_of(&unsampled, &all).is_empty());
    let sent: usize = all
        .iter()
        .flat_map(|delivery| decoded(delivery).resource_spans)
        .flat_map(|of| of.scope_spans)
        .map(|of| of.spans.len())
        .sum();
    let known = spans_of(TRACE, &all).len() + spans.len();
    assert_eq!(sent, known, "requests without a caller have no spans");
}

#[test]
fn a_stranger_decides_nothing_about_spans() {
    let collector = Receiver::start();
    let server = settings(&collector).set("OTEL_TRACES_SAMPLER", "parentbased_always_off").start();
    let tenant = tenant(&server);
    let traced = |request: Request| {
        request.header("traceparent", &format!("00-{}-{CALLER}-01", TRACE.replace('4', "7")))
    };
    for request in [
        Request::new("GET /healthz/live"),
        Request::new("GET /api/v1/resources"),
        Request::new("GET /api/v1/resources").token("a.b.c"),
        Request::new("GET /api/v1/resources").header("x-service-api-key", "pck_guess"),
        Request::new("GET /unknown"),
    ] {
        tenant.send(&traced(request));
    }
    // The span of a request whose caller is known comes after them.
    tenant.send(&check(&tenant, TRACE, "01")).is(200);
    received(&collector, TRACE, "POST /api/v1/check");
    assert!(spans_of(&TRACE.replace('4', "7"), &collector.deliveries()).is_empty());
}

#[test]
fn a_request_of_a_stranger_has_a_trace_of_its_own() {
    let collector = Receiver::start();
    let server = settings(&collector).start();
    let traceparent = format!("00-{TRACE}-{CALLER}-00");
    let probe = Request::new("GET /healthz/live").header("traceparent", &traceparent);
    probe.send(server.address).is(200);
    let all = collector.wait_until("the probe", |all| {
        all.iter().any(|one| String::from_utf8_lossy(&one.body).contains("GET /healthz/live"))
    });
    assert!(spans_of(TRACE, &all).is_empty(), "nobody vouches for the trace");
}

#[test]
fn a_stop_sends_the_spans_that_wait() {
    let collector = Receiver::start();
    let server = settings(&collector).set("OTEL_BSP_SCHEDULE_DELAY", "600000").start();
    let tenant = tenant(&server);
    tenant.send(&check(&tenant, TRACE, "01")).is(200);
    assert!(server.stop().success());
    assert!(spans_of(TRACE, &collector.deliveries()).contains_key("POST /api/v1/check"));
}

#[test]
fn spans_that_the_collector_refuses_are_counted_and_harm_no_request() {
    let collector = Receiver::with(|_| Answer::Status(400));
    let server = settings(&collector).start();
    let tenant = tenant(&server);
    tenant.send(&check(&tenant, TRACE, "01")).is(200);
    let warned = server.process.err.wait_for(|lines| {
        lines.iter().find(|line| line.contains("cannot send spans of traces")).cloned()
    });
    assert!(warned.is_some_and(|line| line.contains("400")), "{}", server.process.err.text());
    let metrics = Request::new("GET /metrics").send(server.address).is(200).text;
    let lost = "portcullis_trace_spans_total{outcome=\"lost\"} ";
    let lost = metrics.lines().find_map(|line| line.strip_prefix(lost)).unwrap();
    assert!(lost.parse::<u64>().unwrap() > 0, "{metrics}");
}

#[test]
fn a_setting_that_cannot_be_used_is_named() {
    let collector = Receiver::start();
    let server = settings(&collector).set("OTEL_TRACES_SAMPLER", "sometimes").start();
    let log = server.process.err.text();
    assert!(log.contains("OTEL_TRACES_SAMPLER: expected `always_on`"), "{log}");
    let refused = settings(&collector).set("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc").run(&["serve"]);
    assert!(refused.err.contains("OTEL_EXPORTER_OTLP_PROTOCOL: expected `http/protobuf`"));
}
