//! A SQLite file that is destroyed while the server runs.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::json;

use crate::support::{Provider, Request, Settings, Tenant};

/// Makes the database unreadable, while the server runs.
fn destroy_database(settings: &Settings) {
    for name in ["portcullis.db-wal", "portcullis.db-shm", "portcullis.db"] {
        let path = settings.path(name);
        let Ok(length) = std::fs::metadata(&path).map(|metadata| metadata.len()) else { continue };
        let length = usize::try_from(length).unwrap();
        let mut file = OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all(&vec![0xa5; length]).unwrap();
    }
}

#[test]
fn without_its_database_the_service_is_live_but_not_ready() {
    let settings = Settings::new(Provider::shared());
    let server = settings.start();
    Request::new("GET /healthz/ready").send(server.address).is(200);
    destroy_database(&settings);
    let degraded =
        json!({"status": "degraded", "checks": {"database": "unavailable", "casbin": "ok"}});
    // By every connection that the service has, those included that it opened before.
    for _ in 0..20 {
        Request::new("GET /healthz/ready").send(server.address).is(503).has(&degraded);
    }
    let about_it = |lines: &[String]| {
        let lines: Vec<String> =
            lines.iter().filter(|line| line.contains("readiness probe")).cloned().collect();
        (!lines.is_empty()).then_some(lines)
    };
    let lines = server.process.err.wait_for(about_it).expect("the log says why");
    assert!(lines.iter().all(|line| line.contains("error=")), "{lines:?}");
    assert!(lines.len() < 20, "not one for each probe: {lines:?}");
    let live = Request::new("GET /healthz/live").send(server.address).is(200);
    live.has(&json!({"status": "ok"}));
}

#[test]
fn without_its_database_the_service_answers_from_memory_alone() {
    let settings = Settings::new(Provider::shared());
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "t");
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let cold = Tenant::with_provider(&server, Provider::shared(), "cold");
    cold.rule("alice", "doc:read", "read", "allow");
    tenant.decide("alice", "doc:read", "read").is("allow", &rule);
    destroy_database(&settings);
    tenant.decide("alice", "doc:read", "read").is("allow", &rule);
    // The process knows that no rule names it.
    tenant.decide("alice", "invented:read", "read").is_default();
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    cold.check(&check).refused(503, "DEPENDENCY_UNAVAILABLE");
    tenant.get("/api/v1/resources").refused(503, "DEPENDENCY_UNAVAILABLE");
    let write = json!({"name": "doc:read"});
    tenant.manage("POST /api/v1/resources", &write).refused(503, "DEPENDENCY_UNAVAILABLE");
    tenant.decide("alice", "doc:read", "read").is("allow", &rule);
}

/// Moves the database away from its place, or back.
fn move_database(settings: &Settings, (from, to): (&str, &str)) {
    std::fs::rename(settings.path(from), settings.path(to)).unwrap();
}

#[test]
fn a_file_that_was_moved_away_is_missed_and_serves_again_in_its_place() {
    let settings = Settings::new(Provider::shared());
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "t");
    tenant.rule("alice", "doc:read", "read", "allow");
    move_database(&settings, ("portcullis.db", "aside.db"));
    let missing = json!({"status": "degraded", "checks": {"database": "unavailable", "casbin": "ok"},
        "reason": "the file of the database is missing"});
    Request::new("GET /healthz/ready").send(server.address).is(503).has(&missing);
    let write = json!({"name": "doc:read"});
    tenant.manage("POST /api/v1/resources", &write).refused(503, "DEPENDENCY_UNAVAILABLE");
    assert!(!settings.path("portcullis.db").exists(), "no empty database takes its place");
    move_database(&settings, ("aside.db", "portcullis.db"));
    Request::new("GET /healthz/ready").send(server.address).is(200);
    tenant.manage("POST /api/v1/resources", &write).is(201);
}

#[test]
fn an_older_file_in_the_place_of_the_database_begins_an_epoch() {
    let settings = Settings::new(Provider::shared());
    let server = settings.start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "t");
    tenant.rule("alice", "doc:read", "read", "allow");
    server.stop();
    std::fs::copy(settings.path("portcullis.db"), settings.path("copy.db")).unwrap();
    let server = settings.start();
    let bob = json!({"sub": "bob", "obj": "doc:read", "act": "read", "effect": "allow"});
    let lost =
        tenant.at(&server).manage("POST /api/v1/resources/policies", &bob).is(201).revision();
    server.stop();
    move_database(&settings, ("copy.db", "portcullis.db"));
    let server = settings.start();
    let tenant = tenant.at(&server);
    let check = json!({"subject": "bob", "resource": "doc:read", "action": "read"});
    let request = Request::new("POST /api/v1/check").token(&tenant.token("gateway", &["service"]));
    let request = request.header("x-min-policy-revision", &lost.to_string()).json(&check);
    let refused = tenant.send(&request).refused(409, "REVISION_LOST");
    assert_eq!(refused.json()["details"]["of"], "policy");
    tenant.decide("bob", "doc:read", "read").is_default();
}
