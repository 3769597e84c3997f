//! `portcullis serve` and `portcullis migrate` as processes: start, stop, crash, and what they say when
//! they cannot start.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::setup;
use crate::support::client::connect;
use crate::support::tenant::always;
use crate::support::{MANAGER, Provider, Reply, Server, Settings, Tenant};

fn provider() -> &'static Provider {
    Provider::shared()
}

fn tenant(server: &Server) -> Tenant<'static> {
    Tenant::with_provider(server, provider(), "t")
}

/// Everything that a tenant has, in one value.
fn everything(tenant: &Tenant<'_>) -> Value {
    let resources = tenant.get("/api/v1/resources").is(200).json();
    let of = |resource: &Value| {
        let path = format!("/api/v1/resources/{}/policies", resource["id"].as_str().unwrap());
        tenant.get(&path).is(200).json()
    };
    let rules: Vec<Value> = resources.as_array().unwrap().iter().map(of).collect();
    let revision = tenant.decide("alice", "doc:read", "read").revision;
    json!([resources, rules, tenant.get("/api/v1/abac/policies").is(200).json(), revision])
}

fn fill(tenant: &Tenant<'_>) {
    let resource =
        json!({"name": "doc:read", "defaultRoles": ["reader"], "displayName": "\u{1f512}"});
    tenant.manage("POST /api/v1/resources", &resource).is(201);
    tenant.rule("alice", "doc:*", "*", "deny");
    tenant.policy("kept", "doc:read", "allow", 1, &always());
    let deleted = tenant.policy("deleted", "doc:read", "deny", 1, &always());
    tenant.delete(&format!("/api/v1/abac/policies/{deleted}")).is(204);
}

#[test]
fn a_restart_keeps_everything() {
    let settings = Settings::new(provider());
    let server = settings.start();
    fill(&tenant(&server));
    let before = everything(&tenant(&server));
    assert!(server.stop().success());
    let server = settings.start();
    assert_eq!(everything(&tenant(&server)), before);
    let after = tenant(&server).manage("POST /api/v1/resources", &json!({"name": "a:b"})).is(201);
    assert_eq!(json!(after.revision()), json!(before[3].as_u64().unwrap() + 1));
}

#[test]
fn a_second_service_does_not_share_a_sqlite_file() {
    if setup::is_postgres() {
        return;
    }
    let settings = Settings::new(provider());
    let mut first = settings.start();
    let file = settings.path("portcullis.db");
    let link = settings.path("link.db");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for path in [&file, &link] {
        let url = format!("sqlite://{}", path.display());
        let done = settings.clone().set("DATABASE_URL", url).run(&["serve"]);
        assert_eq!((done.code, done.err.lines().count()), (Some(1), 1), "{done:?}");
        let named = format!("another process serves `{}`", path.display());
        assert!(done.err.contains(&named) && done.err.contains("PostgreSQL"), "{done:?}");
    }
    // A command works beside it.
    assert_eq!(settings.run(&["tenants", "list"]).code, Some(0));
    fill(&tenant(&first));
    // The lock ends with its process, without any chance to clean up.
    first.process.kill();
    assert!(settings.path("portcullis.db-lock").exists());
    settings.start();
}

#[test]
fn a_crash_loses_no_acknowledged_write() {
    crash_during_writes(3);
}

#[test]
#[ignore = "a kill loop: `.ci/long` runs it"]
fn many_crashes_lose_no_acknowledged_write() {
    crash_during_writes(40);
}

fn crash_during_writes(rounds: usize) {
    let mut server = Settings::new(provider()).start();
    let mut acknowledged: Vec<String> = vec![];
    for round in 1..=rounds {
        let (sender, receiver) = mpsc::channel();
        let (here, name) = (tenant(&server), format!("round-{round}"));
        let writer = std::thread::spawn(move || write_until_refused(&here, &name, &sender));
        // Killed in the middle of whatever the writer does after so many answers.
        acknowledged.extend(receiver.iter().take(round % 7 + 1));
        server = server.crash_and_restart();
        acknowledged.extend(receiver.iter());
        writer.join().unwrap();
        let (stored, revision) = rules_and_revision(&tenant(&server));
        for id in &acknowledged {
            assert!(stored.contains(id), "round {round}: the acknowledged rule {id} is lost");
        }
        // One revision for each rule, also for one that was stored but not answered, and one for each
        // round's look at them.
        assert_eq!(revision, stored.len() as u64 + round as u64, "round {round}");
    }
    assert!(acknowledged.len() >= rounds);
}

/// Creates one rule after the other until the server is gone; each acknowledged id is sent on.
fn write_until_refused(tenant: &Tenant<'_>, name: &str, sender: &mpsc::Sender<String>) {
    for number in 0.. {
        let rule = json!({"sub": format!("{name}-{number}"), "obj": "doc:read", "act": "*", "effect": "allow"});
        let request = tenant.managing("POST /api/v1/resources/policies").json(&rule);
        let Some(reply) = request.try_send(tenant.address) else { return };
        if sender.send(reply.is(201).id()).is_err() {
            return;
        }
    }
}

/// The ids of all rules of `doc:read`, and the tenant's revision.
fn rules_and_revision(tenant: &Tenant<'_>) -> (Vec<String>, u64) {
    let resource = tenant.manage("POST /api/v1/resources", &json!({"name": "doc:read"}));
    let rules = tenant.get(&format!("/api/v1/resources/{}/policies", resource.id())).is(200).json();
    let id = |rule: &Value| rule["id"].as_str().unwrap().to_owned();
    (rules.as_array().unwrap().iter().map(id).collect(), resource.revision())
}

/// Sends a request as far as its body's first half, and waits until the server reads that body.
fn half_sent(server: &Server, path: &str, body: &str) -> TcpStream {
    let token = tenant(server).token("boss", &[MANAGER]);
    let mut stream = connect(server.address);
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let expected = b"HTTP/1.1 100 Continue\r\n\r\n";
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(interim, *expected);
    stream.write_all(&body.as_bytes()[..body.len() / 2]).unwrap();
    stream
}

/// Waits until nobody listens any more.
fn wait_until_closed(server: &Server) {
    while TcpStream::connect(server.address).is_ok() {
        std::thread::yield_now();
    }
}

#[test]
fn a_stop_finishes_what_is_in_flight_and_accepts_nothing_new() {
    let settings = Settings::new(provider());
    let mut server = settings.start();
    let rule =
        json!({"sub": "alice", "obj": "doc:read", "act": "read", "effect": "allow"}).to_string();
    let mut write = half_sent(&server, "/api/v1/resources/policies", &rule);
    let check = json!({"subject": "bob", "resource": "doc:read", "action": "read"}).to_string();
    let mut read = half_sent(&server, "/api/v1/check", &check);
    server.process.terminate();
    wait_until_closed(&server);
    for (stream, body, status) in [(&mut write, &rule, 201), (&mut read, &check, 200)] {
        stream.write_all(&body.as_bytes()[body.len() / 2..]).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        Reply::read("in flight", &answer).is(status);
    }
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
    let server = settings.start();
    assert!(
        tenant(&server).decide("alice", "doc:read", "read").allowed(),
        "what was answered is stored"
    );
}

#[test]
fn a_stop_does_not_wait_for_connections_that_ask_for_nothing() {
    let server = Settings::new(provider()).start();
    let mut idle = connect(server.address);
    idle.write_all(b"GET /healthz/live HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut byte = [0];
    idle.read_exact(&mut byte).unwrap();
    let silent = connect(server.address);
    assert_eq!(server.stop().code(), Some(0));
    drop((idle, silent));
}

#[test]
fn a_clean_stop_logs_no_failure() {
    let mut server = Settings::new(provider()).start();
    tenant(&server).rule("alice", "doc:read", "read", "allow");
    server.process.terminate();
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
    let log = server.process.err.text();
    for text in ["closed pool", "ERROR portcullis", "cannot "] {
        assert!(!log.contains(text), "{log}");
    }
}

#[test]
fn a_stop_right_after_the_start_is_a_stop_too() {
    for _ in 0..10 {
        let status = Settings::new(provider()).start().stop();
        assert_eq!(status.code(), Some(0), "whoever listens can be stopped: {status}");
    }
}

#[test]
fn an_interrupt_stops_it_too() {
    let mut server = Settings::new(provider()).start();
    tenant(&server).rule("alice", "doc:read", "read", "allow");
    server.process.signal("INT");
    assert_eq!(server.process.wait().unwrap().code(), Some(0));
}

#[test]
fn migrate_makes_the_database_and_may_run_again() {
    let settings = Settings::new(provider()).on_an_empty_database();
    for _ in 0..2 {
        let done = settings.run(&["migrate"]);
        assert_eq!(done.code, Some(0), "{}", done.err);
        assert!(setup::is_postgres() || settings.path("portcullis.db").exists());
    }
    let server = settings.start();
    fill(&tenant(&server));
    let before = everything(&tenant(&server));
    // Beside a running server, and with its data.
    assert_eq!(settings.run(&["migrate"]).code, Some(0));
    assert_eq!(everything(&tenant(&server)), before);
    assert!(server.stop().success());
    assert_eq!(settings.run(&["migrate"]).code, Some(0));
    assert_eq!(everything(&tenant(&settings.start())), before);
}

#[test]
fn migrate_needs_no_provider() {
    let settings = Settings::without_provider();
    assert_eq!(settings.run(&["migrate"]).code, Some(0));
}
