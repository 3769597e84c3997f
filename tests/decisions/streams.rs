//! Streams of new records, and when they end.

use std::io::{BufRead, BufReader, Lines};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{read, settings, tenant_of};
use crate::setup;
use crate::support::provider::now;
use crate::support::{MANAGER, Provider, Request, Server, Tenant};

pub(super) const STREAM: &str = "GET /api/v1/decisions/stream";
/// Much less than the time of a stream, for a machine that is busy.
const SOON: Duration = Duration::from_secs(40);

/// Opens a stream, and returns its lines after the first piece.
pub(super) fn open(server: &Server, request: &Request) -> Lines<BufReader<TcpStream>> {
    let mut lines = BufReader::new(request.open(server.address)).lines();
    let begin =
        lines.by_ref().map_while(Result::ok).find(|line| line.contains("the stream begins"));
    assert!(begin.is_some(), "there is a stream");
    lines
}

/// Reads the stream to its end, and asserts that it is whole and comes soon.
fn ends(mut lines: Lines<BufReader<TcpStream>>) {
    let began = Instant::now();
    assert!(lines.all(|line| line.is_ok()), "the answer is whole");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

#[test]
fn a_stream_has_new_records_and_ends_with_the_service() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let manager = tenant.token("boss", &[MANAGER]);
    let request = Request::new(format!("{STREAM}?decision=deny")).token(&manager);
    let mut lines = open(&server, &request);
    let mut line_with = |part: &str| {
        let found = lines.by_ref().map_while(Result::ok).find(|line| line.contains(part));
        found.expect("the stream goes on")
    };
    tenant.check(&read("bob")).is(200);
    assert_eq!(line_with("event:"), "event: decision");
    assert!(line_with("data:").contains("\"subject\":\"bob\""));
    drop(tenant);
    assert!(server.stop().success());
    ends(lines);
}

#[test]
fn a_stream_ends_with_its_key() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let body = json!({"name": "screen", "permissions": ["decisions:read"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201);
    let request = Request::new(STREAM).header("x-service-api-key", &key.text_of("key"));
    let lines = open(&server, &request);
    tenant.delete(&format!("/api/v1/service-api-keys/{}", key.id())).is(204);
    ends(lines);
    tenant.send(&request).is(401);
}

#[test]
fn a_stream_ends_with_its_token() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    // The clocks of others may be 30 s late.
    let expires = json!({"exp": now() - 30 + 5});
    let token = tenant.token_with("boss", &[MANAGER], &expires);
    let request = Request::new(STREAM).token(&token);
    ends(open(&server, &request));
    tenant.send(&request).is(401);
}

#[test]
fn a_stream_ends_with_the_suspension_of_the_named_domain() {
    // A domain is a tenant in `selfhost` mode alone.
    if setup::is_saas() {
        return;
    }
    let settings = settings();
    let server = settings.start();
    let [tenant, other] =
        ["north", "south"].map(|name| Tenant::with_provider(&server, Provider::shared(), name));
    other.resource("doc:read");
    let token = tenant.token_with("root", &["user"], &json!({"adm": "south"}));
    let request = Request::new(STREAM).token(&token).header("x-domain", "south");
    let mut lines = open(&server, &request);
    other.check(&read("bob")).is(200);
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains("\"subject\":\"bob\"")));
    assert_eq!(settings.run(&["tenants", "suspend", "south"]).code, Some(0));
    ends(lines);
    tenant.send(&request).refused(403, "TENANT_SUSPENDED");
}

#[test]
fn a_member_has_one_stream_and_leaves_others_to_managers() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let stream = |token: &str| Request::new(STREAM).token(token);
    let member = tenant.token("ann", &["user"]);
    let own = open(&server, &stream(&member));
    tenant.send(&stream(&member)).refused(503, "DEPENDENCY_UNAVAILABLE");
    let other = open(&server, &stream(&tenant.token("boss", &[MANAGER])));
    drop((own, other));
}
