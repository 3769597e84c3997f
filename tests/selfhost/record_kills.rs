//! Many `kill -9` while decisions are recorded in the mode `durable`: each that a client got is in the record, once.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use portcullis_test_s3::S3Server;
use serde_json::{Value, json};

use crate::setup;
use crate::support::kills::{kill_under_load, many};
use crate::support::openid::say;
use crate::support::{Provider, Reply, Request, Server, Settings, Tenant};

/// Checks of a batch. Single checks and batches take turns.
const BATCH: usize = 100;
/// After so many stops everything is sealed, or never will be.
const STOPS: usize = 30;

#[test]
fn kills_lose_no_durable_decision() {
    let settings = Settings::new(Provider::shared()).recording();
    lose_no_decision("folder", 2, &settings);
}

#[test]
#[ignore = "a kill loop: `.ci/long` runs it"]
fn many_kills_lose_no_durable_decision_of_a_folder() {
    let settings = Settings::new(Provider::shared()).recording();
    lose_no_decision("folder", many(), &settings);
}

#[test]
#[ignore = "a kill loop: `.ci/long` runs it"]
fn many_kills_lose_no_durable_decision_of_a_bucket() {
    let bucket = S3Server::start();
    lose_no_decision("bucket", many(), &Settings::new(Provider::shared()).recording_in(&bucket));
}

fn lose_no_decision(place: &str, kills: usize, settings: &Settings) {
    let began = Instant::now();
    let mut server = settings.start();
    let tenant = tenant(&server);
    let durable =
        json!({"bundle": {"settings": {"decision_log": {"mode": "durable"}}}, "owner": "test"});
    tenant.manage("POST /api/v1/apply", &durable).is(200);
    tenant.rule("alice", "doc:read", "read", "allow");
    let mut answered = Vec::new();
    for round in 0..kills {
        let here = tenant.at(&server);
        answered.extend(kill_under_load(server, round, |_, count| decide(&here, count)));
        server = settings.start();
    }
    drop(server);
    bring_to_rest(settings);
    let at_rest = records_at_rest(settings);
    let (server, mut found) = (settings.start(), HashSet::new());
    tenant.at(&server).each("/api/v1/decisions", |record| {
        found.insert(record["id"].as_str().expect("an id").to_owned());
    });
    let lost = answered.iter().filter(|id| !found.contains(*id)).count();
    assert!(at_rest >= found.len(), "a write-ahead file is not sealed");
    let doubled = at_rest - found.len();
    let database = if setup::is_postgres() { "PostgreSQL" } else { "SQLite" };
    say(&format!(
        "| {database} | {place} | {kills} | {} | {at_rest} | {lost} | {doubled} | {} s |",
        answered.len(),
        began.elapsed().as_secs()
    ));
    assert_eq!((lost, doubled), (0, 0), "lost and doubled of {}", answered.len());
    assert!(answered.len() >= kills * BATCH, "only {} decisions were answered", answered.len());
}

/// Lets the service seal everything that processes left. A stop has some seconds for that.
fn bring_to_rest(settings: &Settings) {
    let buffer = settings.path("decision-log");
    let is_file = |path: &Path| path.extension().is_some_and(|ending| ending == "wal");
    let files = || buffer.read_dir().expect("a folder").map(|entry| entry.expect("one").path());
    // The last one may be empty.
    for _ in 0..STOPS {
        assert!(settings.start().stop().success());
        if files().filter(|path| is_file(path)).count() <= 1 {
            return;
        }
    }
    assert_eq!(files().count(), 0, "write-ahead files are not sealed");
}

/// Verifies the sealed record, and returns how many records it has.
fn records_at_rest(settings: &Settings) -> usize {
    let verified = settings.run(&["decisions", "verify"]);
    assert_eq!(verified.code, Some(0), "{}{}", verified.out, verified.err);
    let number =
        verified.out.split_once(" files with ").and_then(|(_, rest)| rest.split(' ').next());
    number.and_then(|number| number.parse().ok()).expect("a number of records")
}

fn tenant(server: &Server) -> Tenant<'static> {
    Tenant::with_provider(server, Provider::shared(), "acme")
}

/// Checks until the server is gone, and returns the ids of the decisions that were answered.
fn decide(tenant: &Tenant<'_>, count: &AtomicUsize) -> Vec<String> {
    let token = tenant.token("gateway", &["service"]);
    let check =
        |subject: &str| json!({"subject": subject, "resource": "doc:read", "action": "read"});
    let single = Request::new("POST /api/v1/check").token(&token).json(&check("alice"));
    let checks: Vec<Value> =
        (0..BATCH).map(|n| check(if n % 2 == 0 { "alice" } else { "bob" })).collect();
    let batch = Request::new("POST /api/v1/checks").token(&token).json(&json!({"checks": checks}));
    let mut answered = Vec::new();
    for request in [batch, single].iter().cycle() {
        let Some(reply) = request.try_send(tenant.address) else { break };
        answered.extend(ids(&reply.is(200)));
        count.fetch_add(1, Ordering::SeqCst);
    }
    answered
}

/// Returns the ids of the decisions of an answer.
fn ids(reply: &Reply) -> Vec<String> {
    if let Some(id) = reply.header("x-decision-id") {
        return vec![id.to_owned()];
    }
    let answer = reply.json();
    let items = answer["results"].as_array().expect("a batch").iter();
    items.map(|item| item["decision_id"].as_str().expect("recorded").to_owned()).collect()
}
