//! Real components in service. Moments are those of a paused clock, which the tests put forward; calls take the time
//! that they take.

mod apart;
mod cached;
mod failures;
mod guarded;
mod memory;
mod operator;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;

use portcullis_engine::{
    AttributeAnswer, AttributeRequest, Check, CheckBody, Json, ResolverRef, json,
};

use portcullis_egress::EgressConfig;
use portcullis_model::clock::Clock;
use portcullis_model::egress_rules::EgressRules;
use portcullis_model::resolver::{ActivityRecord, Manifest, ResolverOrigin};
use portcullis_resolver_host::Module;
use prometheus_client::encoding::text::encode;

use crate::breaker::BreakerState;
use crate::config::ResolverConfig;
use crate::metrics::ResolverMetrics;
use crate::registry::{CacheMode, Registry};
use crate::report::{AnswerSource, Asked, Report};
use crate::status::Availability;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\na page";

/// Resolvers in service, and what is counted of them.
struct Stage {
    resolvers: Registry,
    metrics: prometheus_client::registry::Registry,
}

/// The result of a request for one attribute.
struct One {
    resolved: AttributeAnswer,
    source: AnswerSource,
    report: Report,
}

impl Stage {
    fn new() -> Self {
        Self::with(ResolverConfig::default(), &["127.0.0.0/8"])
    }

    fn with(config: ResolverConfig, allow: &[&str]) -> Self {
        let mut metrics = prometheus_client::registry::Registry::with_prefix("portcullis");
        let counted = ResolverMetrics::register(&mut metrics);
        let settings = ResolverConfig { instances: 16, ..config };
        let clock = Clock::new(|| chrono::DateTime::UNIX_EPOCH);
        let resolvers = Registry::new(&settings, &egress(allow), counted, clock);
        Self { resolvers: resolvers.expect("resolvers"), metrics }
    }

    /// Puts a component into service for a tenant.
    async fn put(
        &self,
        tenant: &str,
        reference: ResolverRef,
        component: &str,
        manifest: &serde_json::Value,
    ) {
        let module = self
            .resolvers
            .runtime
            .admit(tenant, self::component(component).into())
            .await
            .expect("is admitted");
        self.put_module(tenant, reference, &module, manifest);
    }

    fn put_module(
        &self,
        tenant: &str,
        reference: ResolverRef,
        module: &Arc<Module>,
        manifest: &serde_json::Value,
    ) {
        let bound =
            self.resolvers.runtime.bind(tenant, Arc::clone(module), &self::manifest(manifest));
        self.resolvers.activate(tenant, reference, bound.expect("fits"));
    }

    /// Asks for `test.<attribute>` on behalf of `subject`.
    async fn ask(
        &self,
        tenant: &str,
        resolver: Option<ResolverRef>,
        subject: &str,
        attribute: &str,
    ) -> One {
        let ask = request(resolver, attribute);
        One::new(self.ask_all(tenant, subject, &[ask]).await, attribute)
    }

    /// Asks for `test.<attribute>` on behalf of `subject`, past the cache and the breaker.
    async fn ask_uncached(
        &self,
        tenant: &str,
        resolver: ResolverRef,
        subject: &str,
        attribute: &str,
    ) -> One {
        let ask = request(Some(resolver), attribute);
        let body = body(subject);
        let check = check(tenant, &body);
        One::new(self.resolvers.ask(tenant, &check, &[ask], CacheMode::Bypass).await, attribute)
    }

    async fn ask_all(&self, tenant: &str, subject: &str, asks: &[AttributeRequest]) -> Asked {
        let body = body(subject);
        self.resolvers.ask(tenant, &check(tenant, &body), asks, CacheMode::Use).await
    }

    fn measurements(&self, tenant: &str, reference: ResolverRef) -> ActivityRecord {
        self.resolvers.status(tenant, reference.id).expect("a resolver").measurements
    }

    fn availability(&self, tenant: &str, reference: ResolverRef) -> Availability {
        self.resolvers.status(tenant, reference.id).expect("a resolver").availability
    }

    /// Whether `GET /metrics` has this line.
    fn shows(&self, line: &str) -> bool {
        self.rendered().lines().any(|shown| shown == format!("portcullis_{line}"))
    }

    /// The lines of `GET /metrics` about resolvers.
    fn rendered(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.metrics).expect("a string takes everything");
        text
    }
}

impl One {
    fn new(mut asked: Asked, attribute: &str) -> Self {
        let report = asked.reports.remove(0);
        let source = report.attributes[0].source;
        let resolved = asked.answers.get("test", attribute).expect("an answer").clone();
        Self { resolved, source, report }
    }

    #[track_caller]
    fn cause(&self) -> &str {
        let AttributeAnswer::Failed(told) = &self.resolved else { panic!("{:?}", self.resolved) };
        let cause = self.report.cause.as_deref().unwrap_or(told);
        assert!(cause.starts_with(&**told), "{cause}, but {told}");
        assert_eq!(self.source, AnswerSource::Nowhere);
        cause.strip_prefix("resolver `test`: ").unwrap_or(cause)
    }
}

fn request(resolver: Option<ResolverRef>, attribute: &str) -> AttributeRequest {
    AttributeRequest { namespace: "test".into(), resolver, attributes: vec![attribute.into()] }
}

/// The body of a check of `subject`.
fn body(subject: &str) -> Json<'static> {
    let text = |text: &str| Json::String(text.to_owned().into());
    let members = [("subject", subject), ("resource", "wiki:read"), ("action", "read")];
    Json::Object(members.map(|(name, value)| (name.into(), text(value))).into())
}

fn check<'c>(tenant: &'c str, body: &'c Json<'c>) -> Check<'c> {
    let body = CheckBody::parse(body).expect("a check");
    Check::new(body, tenant, None, chrono::DateTime::UNIX_EPOCH)
}

fn text(text: &str) -> AttributeAnswer {
    AttributeAnswer::Value(portcullis_engine::Json::String(text.to_owned().into()))
}

fn reference(id: u128, version: u64) -> ResolverRef {
    ResolverRef { id: uuid::Uuid::from_u128(id), version }
}

fn component(name: &str) -> Vec<u8> {
    portcullis_test_guests::component(name).expect("is built")
}

fn egress(allow: &[&str]) -> EgressConfig {
    EgressConfig { rules: rules(allow), ..EgressConfig::default() }
}

fn rules(allow: &[&str]) -> EgressRules {
    let allow = allow.iter().map(|text| text.parse().expect("a network")).collect();
    EgressRules { allow_http: true, allow }
}

/// Read as where every address is allowed: it is requests that must be guarded.
fn manifest(manifest: &serde_json::Value) -> Manifest {
    let text = manifest.to_string();
    let json = json::parse(text.as_bytes()).expect("JSON");
    Manifest::parse(&json, &rules(&["0.0.0.0/0", "::/0"])).expect("a manifest")
}

/// For the component that does what the subject says, with a source on loopback.
fn behaviours(port: u16) -> serde_json::Value {
    serde_json::json!({
        "namespace": "test",
        "endpoints": {"source": {"url": format!("http://127.0.0.1:{port}/")}},
        "limits": {"timeout_ms": 30_000},
    })
}

/// For the component that behaves.
fn directory() -> serde_json::Value {
    serde_json::json!({
        "namespace": "test",
        "config": {"department": "sales"},
        "limits": {"timeout_ms": 30_000},
    })
}

/// A server on loopback that hands each request to `answer`.
fn serve(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.expect("a connection"), Arc::clone(&answer));
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4_096]);
                answer(stream);
            });
        }
    });
    port
}

fn send(mut stream: TcpStream, answer: &str) {
    let _ = stream.write_all(answer.as_bytes());
    let _ = stream.shutdown(Shutdown::Write);
}
