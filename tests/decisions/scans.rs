//! Scans of the record that take long.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::{id_of, parquet_file, read, run, settings, tenant_of};
use crate::support::{MANAGER, Request, Server, Settings, Tenant, eventually, eventually_some};

/// More than one tenant may have at once.
const MANY: usize = 6;

/// The most scans of a tenant that run and wait.
const ALL: usize = 16;

/// Records a check, seals it, and lets its file not answer, as a slow disk. Returns the file.
fn hanging_file(settings: &Settings, server: &Server, tenant: &Tenant<'_>) -> PathBuf {
    tenant.check(&read("alice")).is(200);
    let at_rest = run(server, tenant, &["erase", "--subject", "nobody"]);
    assert_eq!(at_rest.code, Some(0), "all records are sealed: {}", at_rest.err);
    let file = parquet_file(&settings.path("decisions"));
    fs::remove_file(&file).expect("removes");
    assert!(Command::new("mkfifo").arg(&file).status().expect("runs").success());
    file
}

/// Opens `count` scans by a manager.
fn scans(server: &Server, tenant: &Tenant<'_>, count: usize) -> Vec<TcpStream> {
    let manager = tenant.token("boss", &[MANAGER]);
    let scans = ["stats", "stats?group_by=hour", "?rule=none"];
    let scan = |path: &&str| {
        let request = Request::new(format!("GET /api/v1/decisions/{path}").replace("/?", "?"));
        request.token(&manager).open(server.address)
    };
    scans.iter().cycle().take(count).map(scan).collect()
}

/// Waits until the service has answered one of `scans`: it refuses the first that it has no place for, so the places are taken.
fn one_is_refused(scans: &[TcpStream]) {
    for scan in scans {
        scan.set_nonblocking(true).expect("a socket");
    }
    let is_answered = |scan: &TcpStream| scan.peek(&mut [0]).is_ok();
    eventually("a scan is refused", || scans.iter().any(is_answered));
}

/// Whoever opens the file lets those go that wait for it.
fn let_go(file: &Path) {
    drop(fs::OpenOptions::new().read(true).write(true).open(file).expect("opens"));
}

#[test]
fn a_record_by_id_takes_a_turn_as_a_list_does() {
    let settings = settings();
    let server = settings.start();
    let tenant = tenant_of(&server);
    let file = hanging_file(&settings, &server, &tenant);
    let reply = tenant.check(&read("bob")).is(200);
    let path = format!("/api/v1/decisions/{}", id_of(&reply).expect("recorded"));
    eventually("the record is there", || tenant.get(&path).status == 200);
    let hanging = scans(&server, &tenant, ALL + 1);
    one_is_refused(&hanging);
    tenant.get(&path).refused(503, "DEPENDENCY_UNAVAILABLE");
    drop(hanging);
    let_go(&file);
}

#[test]
fn scans_of_the_record_leave_searches_and_checks_alone() {
    let settings = settings();
    let server = settings.start();
    let (tenant, other) = (tenant_of(&server), tenant_of(&server));
    let file = hanging_file(&settings, &server, &tenant);
    let hanging = scans(&server, &tenant, MANY);
    let question = json!({"subject": "alice", "type": "doc"});
    for tenant in [&tenant, &other] {
        tenant.manage("POST /api/v1/search/actions", &question).is(200);
        tenant.check(&read("alice")).is(200);
    }
    drop(hanging);
    let_go(&file);
}

/// Records a check with 0.6 MB of attributes on a service with so much memory for answers, a quarter of it for the tenant.
/// Returns the statuses of statistics and parity, and whether a replay comes to its end.
fn reads_with(answer_memory: &str) -> ([u16; 2], bool) {
    let server = settings().set("ANSWER_MEMORY", answer_memory).start();
    let tenant = tenant_of(&server);
    let text = "x".repeat(50_000);
    let user: serde_json::Map<_, _> =
        (0..12).map(|number| (format!("a{number}"), json!(text))).collect();
    let mut body = read("alice");
    body["attributes"] = json!({"user": user});
    tenant.check(&body).is(200);
    let statuses =
        ["/api/v1/decisions/stats", "/api/v1/parity"].map(|path| tenant.get(path).status);
    let replay = json!({"candidate": {"bundle": {"policies": []}}});
    let begun = tenant.manage("POST /api/v1/replays", &replay).is(202);
    let path = begun.header("location").expect("a location").to_owned();
    let is_complete = eventually_some("the replay ends", || {
        let report = tenant.get(&path).is(200).json();
        let has_failed = report.get("error").is_some();
        (has_failed || report["complete"] == true).then_some(!has_failed)
    });
    (statuses, is_complete)
}

#[test]
fn what_statistics_and_replays_read_is_charged_to_the_tenant() {
    assert_eq!(reads_with("1MiB"), ([503; 2], false));
    assert_eq!(reads_with("128MiB"), ([200; 2], true), "with plenty of memory");
}
