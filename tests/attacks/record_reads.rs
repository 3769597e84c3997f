//! Attacks by reading the record of decisions: scans, streams, large records, replays, invented names, erasures.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cost::{Figure, memory};
use crate::plans::{large_tree, p99};
use crate::reports::{beside, during, idle_after};
use crate::support::{MANAGER, Provider, Request, Server, Settings, Tenant, eventually};

const BAR_OF_OTHERS: Duration = Duration::from_millis(50);
/// The attributes of a large record, and the bytes of each.
const ATTRIBUTES: usize = 12;
const ATTRIBUTE_BYTES: usize = 32_000;

fn settings() -> Settings {
    Settings::new(Provider::shared()).recording()
}

fn tenants(server: &Server) -> [Tenant<'_>; 2] {
    ["quiet", "noisy"].map(|name| Tenant::with_provider(server, Provider::shared(), name))
}

fn check(subject: &str, resource: &str) -> Value {
    json!({"subject": subject, "resource": resource, "action": "read"})
}

/// Checks with attributes of 0.4 MB. Returns the ids of their records.
fn record_large(tenant: &Tenant<'_>, count: usize) -> Vec<String> {
    let text = "x".repeat(ATTRIBUTE_BYTES);
    let user: Value =
        (0..ATTRIBUTES).map(|number| (format!("a{number}"), Value::from(&*text))).collect();
    let mut body = check("alice", "doc:read");
    body["attributes"] = json!({"user": user});
    // A record that finds no room is lost, and its check is made again.
    let ask = || tenant.check(&body).is(200).header("x-decision-id").map(str::to_owned);
    let id = |_| std::iter::repeat_with(ask).flatten().next().expect("an id");
    let ids = (0..count).map(id).collect::<Vec<_>>();
    eventually("the records are there", || {
        let last = format!("/api/v1/decisions/{}", ids.last().expect("some"));
        tenant.get(&last).status == 200
    });
    ids
}

/// Attack 43: 20 connections and 8 streams of a member beside its manager.
pub(crate) fn scans_of_a_member() -> Vec<Figure> {
    const CONNECTIONS: usize = 20;
    const STREAMS: usize = 8;
    let server = settings().start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    for _ in 0..500 {
        tenant.check(&check("ann", "doc:read")).is(200);
    }
    let (member, manager) = (tenant.token("ann", &["user"]), tenant.token("boss", &[MANAGER]));
    let stream = |token: &str| Request::new("GET /api/v1/decisions/stream?seconds=60").token(token);
    let mut streams = Vec::new();
    let is_open = |request: &Request| {
        let mut first = [0; 12];
        let mut connection = request.open(server.address);
        let is_open = std::io::Read::read_exact(&mut connection, &mut first).is_ok()
            && first.ends_with(b"200");
        (connection, is_open)
    };
    streams.extend((0..STREAMS).map(|_| is_open(&stream(&member))));
    let of_member = streams.iter().filter(|(_, is_open)| *is_open).count();
    let (_own, is_open) = is_open(&stream(&manager));
    let scan = || Request::new("GET /api/v1/decisions/stats?group_by=subject").token(&member);
    let (refused, slowest) = during(&server, CONNECTIONS, scan, || {
        let (mut refused, mut slowest) = (0, Duration::ZERO);
        for _ in 0..20 {
            let began = Instant::now();
            let request = Request::new("GET /api/v1/decisions?limit=10").token(&manager);
            refused += usize::from(request.send(server.address).status != 200);
            slowest = slowest.max(began.elapsed());
        }
        (refused, slowest)
    });
    vec![
        Figure::count("streams of the member", of_member, 1),
        Figure::count("streams that the manager is refused", usize::from(!is_open), 0),
        Figure::count("lists that the manager is refused", refused, 0),
        Figure::time("a list of the manager, slowest", slowest, Duration::from_secs(6)),
    ]
}

/// Attack 44: 48 reads of large records by id at once.
pub(crate) fn large_records_by_id() -> Vec<Figure> {
    const READERS: usize = 48;
    let server = settings().start();
    let [quiet, noisy] = tenants(&server);
    quiet.rule("alice", "*", "read", "allow");
    let (ids, next) = (record_large(&noisy, READERS), AtomicUsize::new(0));
    let token = noisy.token("boss", &[MANAGER]);
    let read = || {
        let id = &ids[next.fetch_add(1, Ordering::Relaxed) % ids.len()];
        Request::new(format!("GET /api/v1/decisions/{id}")).token(&token)
    };
    costs_beside(&server, &quiet, READERS, read)
}

/// Attack 45: pages of large records.
pub(crate) fn pages_of_large_records() -> Vec<Figure> {
    const READERS: usize = 8;
    let server = settings().start();
    let [quiet, noisy] = tenants(&server);
    quiet.rule("alice", "*", "read", "allow");
    record_large(&noisy, 200);
    let token = noisy.token("boss", &[MANAGER]);
    let read = || Request::new("GET /api/v1/decisions?limit=1000").token(&token);
    costs_beside(&server, &quiet, READERS, read)
}

/// Statistics about large records.
pub(crate) fn statistics_of_large_records() -> Vec<Figure> {
    const READERS: usize = 8;
    let server = settings().start();
    let [quiet, noisy] = tenants(&server);
    quiet.rule("alice", "*", "read", "allow");
    record_large(&noisy, 200);
    let token = noisy.token("boss", &[MANAGER]);
    let read = || Request::new("GET /api/v1/decisions/stats").token(&token);
    costs_beside(&server, &quiet, READERS, read)
}

/// Four replays of large records.
pub(crate) fn replays_of_large_records() -> Vec<Figure> {
    const REPLAYS: usize = 4;
    let server = settings().start();
    let [quiet, noisy] = tenants(&server);
    quiet.rule("alice", "*", "read", "allow");
    record_large(&noisy, 200);
    let token = noisy.token("boss", &[MANAGER]);
    let body = json!({"candidate": {"bundle": {"policies": []}}});
    // A replay whose reports are a stream ends with it.
    let read = || {
        let request = Request::new("POST /api/v1/replays").token(&token).json(&body);
        request.header("accept", "text/event-stream")
    };
    costs_beside(&server, &quiet, REPLAYS, read)
}

fn costs_beside(
    server: &Server,
    quiet: &Tenant<'_>,
    readers: usize,
    read: impl Fn() -> Request + Sync,
) -> Vec<Figure> {
    p99(quiet);
    let (before, _) = memory(server);
    let others = beside(server, quiet, readers, read);
    let (_, most) = memory(server);
    vec![
        Figure::mib("memory, more than before", most - before, 96.0),
        Figure::time("a check of another tenant, p99", others, BAR_OF_OTHERS),
    ]
}

/// Attack 46: four replays with 48 MB of policies, and their deletion.
pub(crate) fn replays_of_large_policies() -> Vec<Figure> {
    const REPLAYS: usize = 4;
    /// Each has as many policies as the quota of a pattern allows.
    const RESOURCES: usize = 8;
    let server = settings().set("QUOTA_STORED_BYTES", "64MiB").start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "noisy");
    let resource = |number: usize| format!("large-{number}:read");
    for number in 0..200 {
        let resource = resource(number % RESOURCES);
        tenant.policy("large", &resource, "allow", 1, &large_tree(number));
    }
    let revision = tenant.check(&check("alice", &resource(0))).is(200).revision();
    for number in 0..2_000 {
        let resource = resource(number * RESOURCES / 2_000);
        tenant.check(&check(&format!("user-{number}"), &resource)).is(200);
    }
    let (_, before) = memory(&server);
    let body = json!({"candidate": {"revision": revision}});
    let begin = |_| tenant.manage("POST /api/v1/replays", &body).is(202).id();
    let ids: Vec<String> = (0..REPLAYS).map(begin).collect();
    let has_begun =
        |id: &String| tenant.get(&format!("/api/v1/replays/{id}")).is(200).json()["replayed"] != 0;
    eventually("a replay has its first report", || ids.iter().any(has_begun));
    for id in ids {
        tenant.delete(&format!("/api/v1/replays/{id}")).is(204);
    }
    let idle = idle_after(&server, Instant::now());
    let (_, most) = memory(&server);
    vec![
        Figure::mib("memory, more than a check took", most - before, 512.0),
        Figure::time("work after their deletion", idle, Duration::from_secs(2)),
    ]
}

/// Attack 47: a member invents resources, beside two that are registered.
pub(crate) fn invented_names() -> Vec<Figure> {
    const INVENTED: usize = 1_200;
    let server = settings().start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    let registered = ["doc:read", "chart:read"];
    registered.iter().for_each(|name| _ = tenant.resource(name));
    let compare = |resource: &str| {
        let mut body = check("alice", resource);
        body["expected"] = "deny".into();
        tenant.check(&body).is(200);
    };
    registered.iter().for_each(|name| compare(name));
    (0..INVENTED).for_each(|number| compare(&format!("invented-{number}:read")));
    let (mut missing, mut wrong) = (0, 0);
    for (path, rows) in [("parity", "rows"), ("decisions/stats?group_by=resource", "groups")] {
        let answer = tenant.get(&format!("/api/v1/{path}")).is(200).json();
        let rows = answer[rows].as_array().expect("a list");
        let is_missing = |name: &&&str| !rows.iter().any(|row| row["resource"] == ***name);
        missing += registered.iter().filter(is_missing).count();
        wrong += usize::from(answer["complete"] == true);
    }
    vec![
        Figure::count("registered resources that are missing", missing, 0),
        Figure::count("answers that say that they are complete", wrong, 0),
    ]
}

/// Attack 48: 200 erasures, 32 at once.
pub(crate) fn erasures() -> Vec<Figure> {
    const PERSONS: usize = 200;
    /// Fewer than the service has places for.
    const CLIENTS: usize = 32;
    let settings = settings();
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    for number in 0..PERSONS {
        tenant.check(&check(&format!("user-{number}"), "doc:read")).is(200);
    }
    tenant.delete("/api/v1/decisions?subject=nobody").is(200);
    let files = || parquet_files(&settings.path("decisions"));
    let before = files();
    let (began, next) = (Instant::now(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= PERSONS {
                        return;
                    }
                    tenant.delete(&format!("/api/v1/decisions?subject=user-{number}")).is(200);
                }
            });
        }
    });
    let took = began.elapsed();
    vec![
        Figure::count("files, more than before", files().saturating_sub(before), 24),
        Figure::time("all answers", took, Duration::from_secs(20)),
    ]
}

/// Returns the number of files of records below a folder.
fn parquet_files(folder: &Path) -> usize {
    let entries = folder.read_dir().expect("reads").map(|entry| entry.expect("an entry").path());
    let count = |path: std::path::PathBuf| match path.is_dir() {
        true => parquet_files(&path),
        false => usize::from(path.extension().is_some_and(|end| end == "parquet")),
    };
    entries.map(count).sum()
}
