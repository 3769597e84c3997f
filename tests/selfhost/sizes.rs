//! The figures of the sizing table of `docs/operations.md`, with everything that a check may need: a relation, the record of
//! the decision, and other tenants that ask at the same time.
//!
//! `cargo build --release -p portcullis-server`, and then `TEST_SETUP=selfhost_postgres
//! PORTCULLIS_BIN=$PWD/target/release/portcullis cargo test -p portcullis-server --test blackbox -- --ignored --nocapture
//! measurements_of_sizes`.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::everywhere::deliveries::settings;
use crate::everywhere::relation_checks::{as_drive, body};
use crate::setup;
use crate::support::costs::memory;
use crate::support::openid::say;
use crate::support::{Provider, Request, Server, Tenant};

/// The replicas, the tenants, and the tuples of each tenant.
const SIZES: [(usize, usize, usize); 5] =
    [(1, 1, 1_000), (1, 1, 100_000), (1, 100, 1_000), (1, 1_000, 100), (2, 100, 1_000)];
/// The clients of all replicas. Each sends one check at a time.
const CLIENTS: usize = 4;
const CHECKS: usize = 10_000;
/// The tuples of one write.
const WRITTEN: usize = 1_000;

#[test]
#[ignore = "prints measurements"]
fn measurements_of_sizes() {
    say(
        "| replicas | tenants | tuples of each | checks a second | p50 | p99 | p99.9 | log a second | memory of a replica |",
    );
    for (replicas, tenants, tuples) in SIZES {
        // Files are no place that replicas share.
        if replicas == 1 || setup::is_postgres() {
            measure(replicas, tenants, tuples);
        }
    }
}

fn measure(replicas: usize, tenants: usize, tuples: usize) {
    let settings = settings().recording();
    let log = |number: usize| settings.path(&format!("log-{number}"));
    let start = |number: usize| {
        settings.clone().set("DECISION_LOG_BUFFER", log(number).display().to_string()).start()
    };
    let servers: Vec<Server> = (0..replicas).map(start).collect();
    let tenants: Vec<Tenant<'_>> =
        (0..tenants).map(|number| prepare(&servers[0], number, tuples)).collect();
    // Every plan and every graph is in memory before.
    ask(&servers, &tenants, tuples, tenants.len() * replicas);
    let recorded = || (0..replicas).map(|number| bytes(&log(number))).sum::<u64>();
    let (began, before) = (Instant::now(), recorded());
    let mut times = ask(&servers, &tenants, tuples, CHECKS);
    let seconds = began.elapsed().as_secs_f64();
    times.sort_unstable();
    let [p50, p99, p999] = [0.5, 0.99, 0.999]
        .map(|part| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3);
    let rss = memory(servers[0].process.id(), "VmRSS:").expect("it runs") >> 10;
    let (rate, log) = (times.len() as f64 / seconds, (recorded() - before) as f64 / 1e6 / seconds);
    say(&format!(
        "| {replicas} | {} | {tuples} | {rate:.0} | {p50:.2} ms | {p99:.2} ms | {p999:.2} ms | {log:.2} MB | {rss} MiB |",
        tenants.len()
    ));
}

/// Makes a tenant in which each of these documents has an editor.
fn prepare(server: &Server, number: usize, tuples: usize) -> Tenant<'static> {
    let tenant = Tenant::with_provider(server, Provider::shared(), &format!("size-{number}"));
    as_drive(&tenant);
    let documents: Vec<usize> = (0..tuples).collect();
    for part in documents.chunks(WRITTEN) {
        let tuple = |n: &usize| json!({"object": format!("document:d{n}"), "relation": "editor", "subject": format!("user:u{n}")});
        let write: Vec<Value> = part.iter().map(tuple).collect();
        tenant.manage("POST /api/v1/relations", &json!({"write": write})).is(200);
    }
    tenant
}

/// Sends so many checks of all tenants in turn to all replicas, and returns the times until the answers.
fn ask(servers: &[Server], tenants: &[Tenant<'_>], tuples: usize, checks: usize) -> Vec<Duration> {
    let requests: Vec<Request> = tenants
        .iter()
        .enumerate()
        .map(|(number, tenant)| {
            let document = number * 7 % tuples;
            let check =
                body(&format!("u{document}"), "read", json!({"id": format!("d{document}")}));
            let token = tenant.token("gateway", &["service"]);
            Request::new("POST /api/v1/check").token(&token).json(&check)
        })
        .collect();
    let client = &|client: usize| -> Vec<Duration> {
        let one = |number: usize| {
            let began = Instant::now();
            let server = &servers[number % servers.len()];
            let reply =
                requests[number / servers.len() % requests.len()].send(server.address).is(200);
            let took = began.elapsed();
            assert_eq!(reply.text_of("decision"), "allow");
            took
        };
        (client..checks).step_by(CLIENTS).map(one).collect()
    };
    std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS).map(|number| scope.spawn(move || client(number))).collect();
        clients
            .into_iter()
            .flat_map(|client| client.join().expect("every check is allowed"))
            .collect()
    })
}

/// Returns the bytes of the files of a folder.
fn bytes(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).expect("the folder of the log").flatten();
    files.filter_map(|file| Some(file.metadata().ok()?.len())).sum()
}
