//! A service with everything on, under load for half an hour: its memory stays flat.
//!
//! `cargo test -p portcullis-server --test blackbox soak:: -- --ignored --nocapture`; `SOAK_MINUTES` sets another time.

#![expect(clippy::expect_used, reason = "all of it is test code")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::{Value, json};

use crate::everywhere::deliveries;
use crate::everywhere::relation_checks::{as_drive, body};
use crate::support::costs::memory;
use crate::support::resolver::{Form, RESOLVERS, guest};
use crate::support::{Receiver, Request, Server, Tenant, eventually_some};

const MINUTES: u64 = 30;
/// The clients. Each sends one request at a time.
const CLIENTS: u64 = 2;
const PEOPLE: usize = 500;
const TEAMS: usize = 20;
const DOCUMENTS: usize = 300;
/// One of so many requests of a client is followed by changes: of a tuple, and of a policy, which makes a revision.
const CHANGES: usize = 50;
/// The readings of the memory. The first third is the time to warm up.
const READINGS: u32 = 30;
/// The growth that counts as flat, beside [`SLACK`]: the allocator keeps pages.
const MAX_GROWTH: f64 = 1.1;
/// In KiB.
const SLACK: f64 = 8.0 * 1024.0;

#[test]
#[ignore = "a soak: `.ci/long` runs it"]
fn with_everything_on_memory_stays_flat() {
    let minutes = std::env::var_os("SOAK_MINUTES");
    let minutes = minutes.and_then(|text| text.to_str()?.parse().ok());
    let time = Duration::from_secs(60 * minutes.unwrap_or(MINUTES));
    let (collector, receiver) = (Receiver::start(), Receiver::start());
    let settings = deliveries::settings();
    let log = settings.path("decision-log").display().to_string();
    let server = settings
        .recording()
        .set("DECISION_LOG_BUFFER", log)
        .set("DECISION_LOG_BUFFER_BYTES", "128MiB")
        .set("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url(""))
        .set("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
        .set("OTEL_TRACES_SAMPLER_ARG", "0.1")
        .start();
    let tenant = deliveries::tenant(&server);
    let policy = prepare(&tenant, &receiver);
    let done = AtomicBool::new(false);
    let (readings, sent) = thread::scope(|scope| {
        let (tenant, policy, done) = (&tenant, &policy, &done);
        let client = |seed| scope.spawn(move || load(tenant, policy, Rng::with_seed(seed), done));
        let clients: Vec<_> = (0..CLIENTS).map(client).collect();
        let readings = readings(&server, time, [&collector, &receiver]);
        done.store(true, Ordering::Relaxed);
        let sent = clients.into_iter().map(|client| client.join().expect("every answer is a 200"));
        (readings, sent.sum::<usize>())
    });
    println!(
        "{sent} requests; resident memory in KiB, one reading in {:?}: {readings:?}",
        time / READINGS
    );
    let third = readings.len() / 3;
    let (before, after) = (median(&readings[third..2 * third]), median(&readings[2 * third..]));
    assert!(after <= before * MAX_GROWTH + SLACK, "from {before} to {after} KiB");
    // Everything that is on has worked.
    let first = |path: &str| tenant.get(path).is(200).json()[0].clone();
    eventually_some("a decision is recorded", || {
        first("/api/v1/decisions?limit=1").is_object().then_some(())
    });
    assert!(first("/api/v1/revisions?limit=1").is_object());
    assert!(collector.answered() > 0 && receiver.answered() > 0);
    assert!(server.stop().success());
}

/// Makes a drive of people in teams and of documents, a resolver, and a webhook of denials. Returns the id of a policy.
fn prepare(tenant: &Tenant<'_>, receiver: &Receiver) -> String {
    as_drive(tenant);
    let form = Form::new(&json!({"namespace": "related"}), &guest("related"));
    tenant.upload(format!("POST {RESOLVERS}"), &form).is(201);
    deliveries::register(tenant, &receiver.url("/"), &["access.denied"]);
    let people = (0..PEOPLE).map(|person| {
        json!({"object": format!("group:g{}", person % TEAMS), "relation": "member", "subject": format!("user:u{person}")})
    });
    let shares = (0..DOCUMENTS).map(|document| {
        json!({"object": format!("document:d{document}"), "relation": "editor",
            "subject": format!("group:g{}", document % TEAMS), "subject_relation": "member"})
    });
    let tuples: Vec<Value> = people.chain(shares).collect();
    tenant.manage("POST /api/v1/relations", &json!({"write": tuples})).is(200);
    tenant.manage("POST /api/v1/abac/policies", &seen(1)).is(201).id()
}

/// A policy that asks the resolver, with this priority.
fn seen(priority: usize) -> Value {
    json!({"name": "seen", "resource": "document:seen", "effect": "allow", "priority": priority, "format": "expression",
        "rule_data": {"expression": r#"related.seen == "relation.group:eng#member=false relation.viewer=true""#}})
}

/// Sends requests one after the other until `done`, and returns their number.
fn load(tenant: &Tenant<'_>, policy: &str, mut random: Rng, done: &AtomicBool) -> usize {
    let mut sent = 0;
    let mut token = String::new();
    while !done.load(Ordering::Relaxed) {
        if sent % CHANGES == 0 {
            // Tokens end after some minutes.
            token = tenant.token("gateway", &["service"]);
            change(tenant, policy, &mut random);
        }
        sent += 1;
        let (person, document) = (random.usize(..PEOPLE), random.usize(..DOCUMENTS));
        let subject = format!("u{person}");
        let resource = json!({"id": format!("d{document}")});
        let (route, body) = match random.u8(..8) {
            0 => {
                let checks = (0..20).map(|other| json!({"subject": format!("u{other}")}));
                let checks: Vec<Value> = checks.collect();
                (
                    "POST /api/v1/checks",
                    json!({"resource": "document:read", "action": "read", "checks": checks,
                    "attributes": {"resource": resource}}),
                )
            }
            1 => {
                let search = json!({"subject": subject, "resource": "document:read", "action": "read", "limit": 20});
                tenant.manage("POST /api/v1/search/resources", &search).is(200);
                continue;
            }
            2 | 3 => ("POST /api/v1/check", body(&subject, "seen", resource)),
            _ => ("POST /api/v1/check", body(&subject, "read", resource)),
        };
        tenant.send(&Request::new(route).token(&token).json(&body)).is(200);
    }
    sent
}

/// Adds a person to a team and takes it out again, and changes a policy.
fn change(tenant: &Tenant<'_>, policy: &str, random: &mut Rng) {
    let tuple = json!([{"object": format!("group:g{}", random.usize(..TEAMS)), "relation": "member",
        "subject": format!("user:new{}", random.usize(..PEOPLE))}]);
    for change in ["write", "delete"] {
        tenant.manage("POST /api/v1/relations", &json!({change: tuple})).is(200);
    }
    let priority = random.usize(1..1_000);
    tenant.manage(format!("PUT /api/v1/abac/policies/{policy}"), &seen(priority)).is(200);
}

/// Reads the resident memory of the server, in KiB, in equal distances. The receivers forget what they have received.
fn readings(server: &Server, time: Duration, receivers: [&Receiver; 2]) -> Vec<f64> {
    let start = Instant::now();
    let reading = |number: u32| {
        // Half an hour is what the test is about.
        thread::sleep((time * number / READINGS).saturating_sub(start.elapsed()));
        receivers.iter().for_each(|receiver| receiver.forget());
        memory(server.process.id(), "VmRSS:").expect("it runs") as f64
    };
    (1..=READINGS).map(reading).collect()
}

fn median(readings: &[f64]) -> f64 {
    let mut sorted = readings.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
