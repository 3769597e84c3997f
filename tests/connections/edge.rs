//! The limits of connections, bodies and answers, which no caller can exceed, and the operator's own listener.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use serde_json::json;

use crate::support::client::connect;
use crate::support::http2::Http2;
use crate::support::saas::{ADMIN_KEY, settings};
use crate::support::{MANAGER, Provider, Reply, Request, Server, Settings, Tenant, eventually};

const MIB: usize = 1 << 20;
/// A large answer that needs no credential: more than a megabyte.
const LARGE: &str = "/docs/swagger-ui-bundle.js";

fn provider() -> &'static Provider {
    Provider::shared()
}

fn server(variables: &[(&'static str, &str)]) -> Server {
    let all = Settings::new(provider());
    variables.iter().fold(all, |all, (name, value)| all.set(name, *value)).start()
}

/// The figure of `series` in the metrics at `address`.
fn figure(address: SocketAddr, series: &str) -> f64 {
    let text = Request::new("GET /metrics").send(address).is(200).text;
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in\n{text}")).parse().unwrap()
}

#[test]
fn route_and_credential_are_judged_before_the_body() {
    let server = Server::shared();
    // The body is announced and never sent.
    for (route, status, code) in [
        ("POST /api/v1/unknown", 404, "NOT_FOUND"),
        ("PATCH /api/v1/check", 405, "METHOD_NOT_ALLOWED"),
        ("POST /api/v1/check", 401, "UNAUTHENTICATED"),
        ("POST /api/v1/resources/list", 401, "UNAUTHENTICATED"),
        ("POST /api/v1/resolvers", 401, "UNAUTHENTICATED"),
    ] {
        let request = Request::new(route).header("content-type", "application/json");
        request.announce(server.address, MIB).refused(status, code);
    }
    let tenant = Tenant::new();
    let untyped = tenant.managing("POST /api/v1/check").header("content-type", "text/plain");
    untyped.announce(tenant.address, MIB).refused(415, "UNSUPPORTED_MEDIA_TYPE");
    let member = Request::new("POST /api/v1/resources").token(&tenant.token("ann", &["reader"]));
    member.announce(tenant.address, MIB).refused(403, "ACCESS_DENIED");
}

#[test]
fn bodies_to_unknown_routes_take_no_memory() {
    let server = server(&[]);
    let mut connections: Vec<_> = (0..5).map(|_| Http2::connect(server.address)).collect();
    for connection in &mut connections {
        for stream in (0..100).map(|number| 2 * number + 1) {
            connection.request(stream, "POST", "/unknown", false).unwrap();
        }
        // Each stream is answered although its body is unfinished, and ended.
        for _ in 0..100 {
            assert!(connection.wait_for(|frame| frame.is_not_found()).is_some());
        }
    }
    let bytes = figure(server.address, "portcullis_request_body_bytes");
    assert_eq!(bytes, 0.0);
}

/// Sends a check of exactly 1 MiB, without its last byte.
fn unfinished(tenant: &Tenant<'_>) -> TcpStream {
    let token = tenant.token("boss", &[MANAGER]);
    let mut stream = connect(tenant.address);
    let head = format!(
        "POST /api/v1/check HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {MIB}\r\n\r\n",
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&vec![b' '; MIB - 1]).unwrap();
    stream
}

/// Holds 34 MiB of unfinished bodies of one tenant, and returns the answers to a check of this tenant and of another.
fn checks_beside_bodies(server: &Server) -> (Vec<TcpStream>, Tenant<'static>, [Reply; 2]) {
    let greedy = Tenant::with_provider(server, provider(), "greedy");
    let modest = Tenant::with_provider(server, provider(), "modest");
    let mut held = Vec::new();
    for count in 1..=34 {
        held.push(unfinished(&greedy));
        eventually("the body is in memory", || {
            figure(server.address, "portcullis_request_body_bytes") >= (count * MIB) as f64
        });
    }
    let answers = [check(&greedy), check(&modest)];
    (held, greedy, answers)
}

fn check(tenant: &Tenant<'_>) -> Reply {
    let body = json!({"subject": "ann", "resource": "doc:read", "action": "read"});
    tenant.send(&tenant.managing("POST /api/v1/check").json(&body))
}

#[test]
fn the_bodies_of_one_tenant_leave_memory_to_others() {
    // The bodies are a quarter of the memory, which is the share of a tenant.
    let server = server(&[("REQUEST_BODY_MEMORY", "136MiB")]);
    let (held, greedy, [shed, served]) = checks_beside_bodies(&server);
    let shed = shed.refused(503, "DEPENDENCY_UNAVAILABLE");
    assert_eq!(shed.header("retry-after"), Some("1"));
    served.is(200);
    assert_eq!(figure(server.address, "portcullis_request_bodies_refused_total"), 1.0);
    drop(held);
    eventually("the memory is free again", || check(&greedy).status == 200);
}

#[test]
fn without_the_budget_the_bodies_of_one_tenant_go_on() {
    let server = server(&[("REQUEST_BODY_MEMORY", "1GiB")]);
    let (_held, _, answers) = checks_beside_bodies(&server);
    for answer in answers {
        answer.is(200);
    }
}

#[test]
fn an_idle_connection_is_closed() {
    let hasty = server(&[("CONNECTION_IDLE_TIMEOUT", "200ms")]);
    let patient = Server::shared();
    let mut control = Http2::connect(patient.address);
    let mut idle = Http2::connect(hasty.address);
    // It answers pings, and is closed nevertheless.
    idle.wait_until_closed();
    assert!(control.is_open(), "without the limit it would be open");
    let mut half = connect(hasty.address);
    half.write_all(b"GET / HTTP/1.1\r\nx: ").unwrap();
    assert_eq!(std::io::Read::read_to_end(&mut half, &mut Vec::new()).unwrap(), 0);
    Request::new("GET /healthz/live").send(hasty.address).is(200);
}

#[test]
fn a_client_that_takes_no_answer_is_disconnected() {
    let hasty = server(&[("CONNECTION_WRITE_TIMEOUT", "200ms")]);
    let patient = Server::shared();
    let [mut stuck, mut control] = [hasty.address, patient.address].map(|address| {
        let mut connection = Http2::connect_without_window(address);
        connection.request(1, "GET", LARGE, true).unwrap();
        assert!(connection.wait_for(|frame| frame.is_answer()).is_some());
        connection
    });
    stuck.wait_until_closed();
    // The other server still waits for its client.
    control.widen(1, 100).unwrap();
    assert!(control.wait_for(|frame| frame.is_data()).is_some());
    // A client that reads gets its answer.
    let whole = Request::new(format!("GET {LARGE}")).send(hasty.address).is(200);
    assert!(whole.text.len() > MIB, "{}", whole.text.len());
}

#[test]
fn more_idle_connections_than_files_do_no_harm() {
    let server = Settings::new(provider()).start_with_files(256);
    let mut idle: Vec<_> =
        (0..300).filter_map(|_| TcpStream::connect(server.address).ok()).collect();
    for stream in &mut idle {
        // The oldest are closed meanwhile.
        let _ = stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    }
    Request::new("GET /healthz/ready").send(server.address).is(200);
    let tenant = Tenant::with_provider(&server, provider(), "t");
    tenant.rule("alice", "doc:read", "read", "allow");
    assert!(tenant.decide("alice", "doc:read", "read").allowed());
    let open = figure(server.address, "portcullis_connections");
    assert!(open <= 128.0, "{open}");
    drop(idle);
}

/// Opens six connections of one address that wait for the body of their request, and one more that asks for a probe.
fn busy_connections(server: &Server) -> (Vec<TcpStream>, Vec<u8>) {
    let tenant = Tenant::with_provider(server, provider(), "t");
    let token = tenant.token("boss", &[MANAGER]);
    let head = format!(
        "POST /api/v1/check HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n",
    );
    let mut busy = Vec::new();
    for _ in 0..6 {
        let mut stream = connect(server.address);
        stream.write_all(head.as_bytes()).unwrap();
        // The server asks for the body.
        let mut interim = [0; 12];
        std::io::Read::read_exact(&mut stream, &mut interim).unwrap();
        assert_eq!(interim, *b"HTTP/1.1 100");
        busy.push(stream);
    }
    let answer = probe(connect(server.address));
    (busy, answer)
}

/// Asks for the liveness of the service, and returns the answer: nothing if the connection is refused.
fn probe(mut connection: TcpStream) -> Vec<u8> {
    let head = b"GET /healthz/live HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let _ = connection.write_all(head);
    let mut answer = Vec::new();
    let _ = std::io::Read::read_to_end(&mut connection, &mut answer);
    answer
}

#[test]
fn busy_connections_of_one_address_do_not_take_every_place() {
    // Six of eight places are the share of an address.
    let server = server(&[("MAX_CONNECTIONS", "8")]);
    let (_busy, answer) = busy_connections(&server);
    assert!(answer.is_empty(), "the address has more than its share");
    let answer = probe(connect_from([127, 0, 0, 2], server.address));
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn an_address_may_take_many_connections_while_places_are_free() {
    let server = server(&[("MAX_CONNECTIONS", "64")]);
    let (_busy, answer) = busy_connections(&server);
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
}

/// Connects from an address of this machine.
fn connect_from(from: [u8; 4], to: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        socket.connect(to).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream
}

#[test]
fn a_stop_ends_idle_connections_at_once() {
    let server = server(&[]);
    let mut silent = Http2::connect(server.address);
    assert!(silent.is_open());
    // Neither of them answers the goodbye.
    let mut half = connect(server.address);
    half.write_all(b"GET / HTTP/1.1\r\nx: ").unwrap();
    let log = std::sync::Arc::clone(&server.process.err);
    assert_eq!(server.stop().code(), Some(0));
    assert!(!log.text().contains("stopped while"), "{}", log.text());
}

#[test]
fn the_operators_routes_have_their_own_listener() {
    let server = settings().set("ADMIN_LISTEN_ADDR", "127.0.0.1:0").start();
    let find = |lines: &[String]| {
        let url = lines.iter().find_map(|line| line.split_once("routes are on http://"))?.1;
        let end = url.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':');
        url[..end.unwrap_or(url.len())].parse::<SocketAddr>().ok()
    };
    let operator = server.process.err.wait_for(find).expect("a line with the address");
    let admin = |route: &str| Request::new(route).header("x-admin-api-key", ADMIN_KEY);
    for (route, public, own) in [
        ("GET /admin/tenants", 404, 200),
        ("GET /metrics", 404, 200),
        ("GET /healthz/live", 200, 200),
        ("GET /healthz/ready", 200, 200),
        ("GET /openapi.json", 200, 404),
        ("GET /", 200, 200),
    ] {
        admin(route).send(server.address).is(public);
        admin(route).send(operator).is(own);
    }
    Request::new("POST /api/v1/check").send(server.address).is(401);
    Request::new("POST /api/v1/check").send(operator).is(404);
    let together = settings().start();
    admin("GET /admin/tenants").send(together.address).is(200);
    admin("GET /metrics").send(together.address).is(200);
}
