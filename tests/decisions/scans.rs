//! Scans of the record that take long.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::{parquet_file, read, run, settings, tenant_of};
use crate::support::{MANAGER, Request};

/// More than one tenant may have at once.
const MANY: usize = 6;

#[test]
fn scans_of_the_record_leave_searches_and_checks_alone() {
    let settings = settings();
    let server = settings.start();
    let (tenant, other) = (tenant_of(&server), tenant_of(&server));
    tenant.check(&read("alice")).is(200);
    let at_rest = run(&server, &tenant, &["erase", "--subject", "nobody"]);
    assert_eq!(at_rest.code, Some(0), "all records come to rest: {}", at_rest.err);
    // The file does not answer, as a slow disk.
    let file = parquet_file(&settings.path("decisions"));
    fs::remove_file(&file).expect("removes");
    assert!(Command::new("mkfifo").arg(&file).status().expect("runs").success());
    let manager = tenant.token("boss", &[MANAGER]);
    let scans = ["stats", "stats?group_by=hour", "?rule=none"];
    let scan = |path: &str| {
        let request = Request::new(format!("GET /api/v1/decisions/{path}").replace("/?", "?"));
        request.token(&manager).open(server.address)
    };
    let hanging: Vec<_> = scans.iter().cycle().take(MANY).map(|path| scan(path)).collect();
    let question = json!({"subject": "alice", "type": "doc"});
    for tenant in [&tenant, &other] {
        tenant.manage("POST /api/v1/search/actions", &question).is(200);
        tenant.check(&read("alice")).is(200);
    }
    drop(hanging);
    // Whoever opens it lets those go that wait for it.
    drop(fs::OpenOptions::new().read(true).write(true).open(&file).expect("opens"));
}
