//! The allocations of a check, from the bytes of its request to those of its answer, on a real connection.
//!
//! The service runs on the thread of the test, and the client on another one: only what the service allocates counts.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use portcullis_api::{RouteSet, router};
use portcullis_auth::{Mode, OidcConfig};
use portcullis_config::{Config, EdgeConfig, TraceSettings, open_database};
use portcullis_egress::EgressConfig;
use portcullis_http::listener::Listener;
use portcullis_http::{BodyBudget, HttpService};
use portcullis_limits::LimitConfig;
use portcullis_model::audit::AuditRetention;
use portcullis_model::clock::Clock;
use portcullis_model::provider::ClaimConfig;
use portcullis_model::revision::HistoryRetention;
use portcullis_resolvers::ResolverConfig;
use portcullis_runtime::app::App;
use portcullis_runtime::metrics::Metrics;
use portcullis_storage::StoreLimits;
use portcullis_storage::encryption::KeyRing;
use portcullis_webhooks::WebhookConfig;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{front, serve};

/// Requests of one measurement.
const REQUESTS: usize = 500;
/// Most allocations of a check with a token that was verified before, on HTTP/1.1, with hyper and axum: axum's router boxes
/// the service of a route, its future and what it knows about the path.
const MAX: u64 = 23;

/// An identity provider that serves its key set on its own port.
pub(crate) struct Provider {
    key: EncodingKey,
    issuer: String,
}

impl Provider {
    pub(crate) fn start() -> Self {
        let key =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let key = EncodingKey::from_ec_der(key.unwrap().as_ref());
        let jwk = Jwk::from_encoding_key(&key, Algorithm::ES256).unwrap();
        let body = json!({"keys": [jwk]}).to_string();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(&stream).lines();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let length = body.len();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
                let _ = (&stream).write_all((head + &body).as_bytes());
            }
        });
        Self { key, issuer }
    }

    fn token(&self, roles: &[&str]) -> String {
        self.token_in("acme", roles)
    }

    pub(crate) fn token_in(&self, domain: &str, roles: &[&str]) -> String {
        let claims = json!({
            "iss": self.issuer,
            "sub": "ann",
            "dom": domain,
            "realm_access": {"roles": roles},
            "exp": Clock::system().now().timestamp() + 600,
        });
        jsonwebtoken::encode(&Header::new(Algorithm::ES256), &claims, &self.key).unwrap()
    }
}

fn config(data: &Path, provider: &Provider) -> Config {
    let oidc = OidcConfig {
        issuer: provider.issuer.clone(),
        jwks_uri: Some(provider.issuer.parse().unwrap()),
        audience: None,
        claims: ClaimConfig::default(),
    };
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        database_url: format!("sqlite://{}", data.join("portcullis.db").display()),
        database_read_url: None,
        allow_bypass_rls: false,
        mode: Mode::Selfhost(Some(oidc)),
        encryption_keys: KeyRing::parse(&KeyRing::generate_key().unwrap()).unwrap(),
        egress: EgressConfig::default(),
        manager_roles: vec!["admin".to_owned()],
        plan_cache_bytes: 1 << 20,
        entities_bytes: 1 << 20,
        max_staleness: Duration::from_secs(600),
        webhooks: WebhookConfig::default(),
        resolvers: ResolverConfig::default(),
        audit: AuditRetention::default(),
        history: HistoryRetention::default(),
        decision_log: None,
        store_limits: StoreLimits::default(),
        edge: EdgeConfig::default(),
        limits: LimitConfig::default(),
        console: None,
        traces: TraceSettings::default(),
        ignored_proxies: Vec::new(),
    }
}

/// Wires the service.
async fn wired(config: Config) -> App {
    let metrics = Metrics::new();
    let store = open_database(&config.database_url).await.unwrap();
    let app = serve::wire(store, config, metrics).unwrap();
    app.catch_up().await.unwrap();
    app
}

fn bodies(app: &App, edge: &EdgeConfig) -> BodyBudget {
    BodyBudget::new(edge.body_memory, edge.apply_body, app.metrics.bodies.clone())
}

/// Starts the service on this thread, and returns its address.
async fn start(data: &Path, provider: &Provider) -> SocketAddr {
    let config = config(data, provider);
    let edge = config.edge.clone();
    let app = wired(config).await;
    let listener = Listener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let (address, connections) = (listener.address(), app.metrics.connections.clone());
    let service = router(app.clone(), RouteSet::Everything, Vec::new(), bodies(&app, &edge));
    let limits = front::limits(&edge);
    tokio::spawn(listener.serve(service, limits, connections, std::future::pending()));
    address
}

/// Returns the wired service without a listener.
pub(crate) async fn unlistening(data: &Path, provider: &Provider) -> (App, HttpService) {
    let config = config(data, provider);
    let edge = config.edge.clone();
    let app = wired(config).await;
    let service = router(app.clone(), RouteSet::Everything, Vec::new(), bodies(&app, &edge));
    (app, service)
}

/// Returns a service without a listener, and the token of a caller whose check of [`check_body`] is allowed.
pub(crate) async fn service(data: &Path, provider: &Provider) -> (HttpService, String) {
    let (_, service) = unlistening(data, provider).await;
    let request = http::Request::post("/api/v1/resources")
        .header("authorization", format!("Bearer {}", provider.token(&["admin"])))
        .header("content-type", "application/json")
        .body(axum::body::Body::from(resource().to_string()))
        .unwrap();
    assert_eq!(service.clone().answer(request).await.status(), 201);
    (service, provider.token(&["doctor", "staff"]))
}

fn resource() -> Value {
    json!({"name": "chart:read", "defaultRoles": ["doctor"]})
}

/// Returns the body of a check that a role decides.
pub(crate) fn check_body() -> Value {
    json!({"subject": "ann", "resource": "chart:read", "action": "read",
        "attributes": {"user": {"ward": "er", "level": 3}, "resource": {"ward": "er"}}})
}

/// A client with one connection.
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).unwrap()))
    }

    /// Returns status and body of the answer.
    fn send(&mut self, request: &str) -> (u16, String) {
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
                status = rest[..3].parse().unwrap();
            }
            if let Some(text) = line.strip_prefix("content-length: ") {
                length = text.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        (status, String::from_utf8(body).unwrap())
    }
}

fn request(path: &str, token: &str, body: &Value) -> String {
    let (body, host) = (body.to_string(), "localhost");
    format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_check_makes_few_allocations() {
    let data = tempfile::tempdir().unwrap();
    let provider = Arc::new(Provider::start());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let address = runtime.block_on(start(data.path(), &provider));
    let (steps, mut done) = mpsc::channel(1);
    let client = std::thread::spawn(move || {
        let (mut client, manager) = (Client::connect(address), provider.token(&["admin"]));
        let (status, body) = client.send(&request("/api/v1/resources", &manager, &resource()));
        assert_eq!(status, 201, "{body}");
        let token = provider.token(&["doctor", "staff"]);
        let check = request("/api/v1/check", &token, &check_body());
        for _ in 0..20 {
            let (status, body) = client.send(&check);
            assert!(status == 200 && body.contains("allow"), "{status} {body}");
        }
        steps.blocking_send(()).unwrap();
        for _ in 0..REQUESTS {
            client.send(&check);
        }
        steps.blocking_send(()).unwrap();
        client
    });
    runtime.block_on(done.recv()).unwrap();
    let counted = allocation_counter::measure(|| {
        runtime.block_on(done.recv()).unwrap();
    });
    client.join().unwrap();
    let each = |total: u64| total as f64 / REQUESTS as f64;
    println!("allocations per check: {:.1}", each(counted.count_total));
    println!("bytes per check: {:.0}", each(counted.bytes_total));
    // The background allocates now and then, less than once in two checks.
    let most = MAX as f64 + 0.5;
    assert!(each(counted.count_total) < most, "{:.1}", each(counted.count_total));
}
