//! Connections: slow clients, several requests on one connection, HTTP/2.

use std::io::{Read, Write};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::connect;
use crate::support::{Request, Server, Tenant};

const RULES: &str = "/api/v1/resources/policies";

#[test]
fn a_client_that_sends_half_a_header_is_disconnected() {
    let server = Server::shared();
    let beginnings = [
        "",
        "G",
        "GET / HTTP/1.1\r\nhost: x\r\nx-a: b",
        "POST /api/v1/check HTTP/1.1\r\n",
        // What HTTP/2 begins with, too.
        "P",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n",
    ];
    let mut streams = beginnings.map(|beginning| {
        let mut stream = connect(server.address);
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(beginning.as_bytes()).unwrap();
        stream
    });
    for (stream, beginning) in streams.iter_mut().zip(beginnings) {
        // An error would be the client's own patience.
        let closed = stream.read_to_end(&mut vec![]);
        assert!(closed.is_ok(), "a connection that began with `{beginning}` is still open");
    }
    Request::new("GET /healthz/live").send(server.address).is(200);
}

#[test]
fn one_connection_serves_several_requests() {
    let server = Server::shared();
    let mut stream = connect(server.address);
    let probe = "GET /healthz/live HTTP/1.1\r\nhost: x\r\n";
    // An error in between ends nothing, and requests may be sent ahead of the answers.
    let unknown = probe.replace("live", "unknown");
    let requests = format!("{probe}\r\n{unknown}\r\n{probe}\r\n{probe}connection: close\r\n\r\n");
    stream.write_all(requests.as_bytes()).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    let statuses: Vec<_> = answers.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["200", "404", "200", "200"]);
}

#[test]
fn http_2_has_the_same_answers() {
    let tenant = Tenant::new();
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let client =
        reqwest::blocking::Client::builder().no_proxy().http2_prior_knowledge().build().unwrap();
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let send = |token: &str| {
        let url = format!("http://{}/api/v1/check", tenant.address);
        client.post(url).bearer_auth(token).json(&check).send().unwrap()
    };
    let answer = send(&tenant.token("gateway", &["service"]));
    assert_eq!((answer.version(), answer.status().as_u16()), (reqwest::Version::HTTP_2, 200));
    assert_eq!(answer.json::<serde_json::Value>().unwrap()["matched_rule_id"], rule);
    let answer = send("nonsense");
    assert_eq!(answer.status().as_u16(), 401);
    assert_eq!(answer.json::<serde_json::Value>().unwrap()["error"], "UNAUTHENTICATED");
}

/// A request of `tenant` that creates a rule for `subject`.
fn creation(tenant: &Tenant<'_>, subject: &str) -> Request {
    let rule = json!({"sub": subject, "obj": "doc:read", "act": "read", "effect": "allow"});
    tenant.managing(format!("POST {RULES}")).json(&rule)
}

/// Creates a rule of `tenant` for `subject`, and returns its id.
fn created(tenant: &Tenant<'_>, subject: &str) -> String {
    let request = creation(tenant, subject);
    // A tenant has a share of the places. A request without one did nothing, and may come again.
    let answers = std::iter::repeat_with(|| tenant.send(&request));
    answers.take(20_000).find(|reply| reply.status != 503).unwrap().is(201).id()
}

#[test]
fn clients_that_go_away_undo_nobody_elses_writes() {
    let tenant = Tenant::new();
    let resource = tenant.resource("doc:read");
    let acknowledged = std::thread::scope(|scope| {
        for client in 0..3 {
            let tenant = &tenant;
            scope.spawn(move || {
                for number in 0..120 {
                    creation(tenant, &format!("gone-{client}-{number}")).abandon(tenant.address);
                }
            });
        }
        let patient = |client: usize| {
            let tenant = &tenant;
            let create = move |number| created(tenant, &format!("patient-{client}-{number}"));
            scope.spawn(move || (0..60).map(create).collect::<Vec<_>>())
        };
        let patients = [patient(0), patient(1)];
        patients.into_iter().flat_map(|patient| patient.join().unwrap()).collect::<Vec<_>>()
    });
    // Whatever is still being written waits for this one, or this one for it.
    let last = created(&tenant, "last");
    let stored = tenant.get(&format!("/api/v1/resources/{resource}/policies")).is(200).json();
    let stored: Vec<&Value> = stored.as_array().unwrap().iter().map(|rule| &rule["id"]).collect();
    for id in acknowledged.iter().chain([&last]) {
        assert!(stored.contains(&&json!(id)), "the acknowledged rule {id} is lost");
    }
    assert_eq!(acknowledged.len(), 120);
}
