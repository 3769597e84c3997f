//! The upgrade of a database of version 0.1: every record and every decision stays.
//!
//! `upgrade/0.1/` has a database of each kind that version 0.1 wrote, and what version 0.1 answered about it. The test
//! opens a copy with this version, which migrates it, and asks the same. [`record`] wrote the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::setup;
use crate::support::process::repository;
use crate::support::resolver::{Form, RESOLVERS, guest};
use crate::support::server::ADMIN_KEY;
use crate::support::tenant::{always, condition};
use crate::support::{Operator, Provider, Receiver, Server, Settings, Tenant, eventually};

/// The tenant with every kind of record.
const TENANT: &str = "upgrade";

/// Returns the path of a recorded file.
fn recorded(name: &str) -> PathBuf {
    repository().join("tests/selfhost/upgrade/0.1").join(name)
}

/// The database and the answers of this set-up.
fn files() -> (PathBuf, PathBuf) {
    if setup::is_postgres() {
        (recorded("postgres.sql"), recorded("postgres.json"))
    } else {
        (recorded("database.sqlite"), recorded("sqlite.json"))
    }
}

/// The settings of both versions. The records were written long ago, and retention must not remove them.
fn settings() -> Settings {
    Settings::new(Provider::shared())
        .on_an_empty_database()
        .set("EGRESS_ALLOW_HTTP", "true")
        .set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8")
        .set("WEBHOOK_RETENTION", "36500d")
}

/// Returns the settings of the operator's mode on the same database.
fn saas(settings: &Settings) -> Settings {
    settings.clone().set("MODE", "saas").set("AUTH_SERVER_URL", "").set("ADMIN_API_KEY", ADMIN_KEY)
}

#[test]
fn a_database_of_version_0_1_keeps_every_record_and_decision() {
    let (database, answers) = files();
    let settings = settings();
    restore(&settings, &database);
    let expected: Value = serde_json::from_slice(&fs::read(answers).unwrap()).unwrap();
    let server = settings.start();
    let found = answers_of(&server);
    server.stop();
    let operator_server = saas(&settings).start();
    let found = with_tenants(found, &operator_server);
    for (question, expected) in expected.as_object().unwrap() {
        let found = &found[question];
        assert!(contains(found, expected), "{question}\n   0.1: {expected}\n   now: {found}");
    }
    // The control: a record that differs is seen.
    assert!(!contains(&json!([{"id": "a", "new": 1}]), &json!([{"id": "b"}])));
}

/// Whether `found` has all that `expected` has. A later version may add members to objects, and nothing else.
fn contains(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => expected
            .iter()
            .all(|(name, expected)| found.get(name).is_some_and(|found| contains(found, expected))),
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| contains(found, expected))
        }
        (found, expected) => found == expected,
    }
}

/// Copies a recorded database to where `settings` have theirs.
fn restore(settings: &Settings, recorded: &Path) {
    match settings.database() {
        Some(database) => {
            database.sql(&fs::read_to_string(recorded).unwrap());
        }
        None => {
            fs::copy(recorded, settings.path("portcullis.db")).unwrap();
        }
    }
}

/// Asks for every record of the tenant, and for decisions.
fn answers_of(server: &Server) -> Value {
    let tenant = Tenant::with_provider(server, Provider::shared(), TENANT);
    let mut answers = json!({});
    eventually("the resolvers are ready", || {
        let resolvers = tenant.get("/api/v1/resolvers").is(200).json();
        resolvers.as_array().unwrap().iter().all(|resolver| resolver["state"] == "ready")
    });
    for path in [
        "/api/v1/resources",
        "/api/v1/abac/policies",
        "/api/v1/service-api-keys",
        "/api/v1/webhooks",
        "/api/v1/resolvers",
    ] {
        let records = tenant.get(path).is(200).json();
        if path == "/api/v1/webhooks" {
            for webhook in records.as_array().unwrap() {
                let path = format!("{path}/{}/deliveries", webhook["id"].as_str().unwrap());
                answers[&path] = tenant.get(&path).is(200).json();
            }
        }
        answers[path] = records;
    }
    for subject in ["alice", "bob", "carol", "editor", "mallory"] {
        for resource in ["chart:read", "chart:write", "invoice:read", "report:read", "nowhere:read"]
        {
            for action in ["read", "write", "delete"] {
                let body = json!({
                    "subject": subject, "resource": resource, "action": action,
                    "attributes": {
                        "user": {"roles": if subject == "editor" { json!(["editor"]) } else { json!([]) }, "level": subject.len()},
                        "resource": {"owner": "alice", "tags": ["a", "b"], "network": "10.1.2.3"},
                    },
                });
                answers[&format!("{subject} {action} {resource}")] =
                    tenant.check(&body).is(200).json();
            }
        }
    }
    answers
}

/// Adds the operator's records.
fn with_tenants(mut answers: Value, server: &Server) -> Value {
    let operator = Operator::new(server);
    let tenants = operator.get("/admin/tenants").is(200).json();
    for tenant in tenants.as_array().unwrap() {
        let path = format!("/admin/tenants/{}/identity-providers", tenant["id"].as_str().unwrap());
        answers[&path] = operator.get(&path).is(200).json();
    }
    answers["/admin/tenants"] = tenants;
    answers
}

/// Writes the fixture, with the binary of the old version:
///
/// `PORTCULLIS_BIN=<portcullis 0.1> cargo test -p portcullis-server --test blackbox -- --ignored upgrade::record`.
/// `pg_dump` must be installed.
#[test]
#[ignore = "writes the fixture of a released version"]
fn record() {
    let settings = settings();
    let operator_server = saas(&settings).start();
    let operator = Operator::new(&operator_server);
    let id = operator.tenant("acme");
    operator.know(&id, &Operator::provider("https://id.example/acme"));
    operator_server.stop();

    let server = settings.start();
    fill(&Tenant::with_provider(&server, Provider::shared(), TENANT));
    server.stop();
    let (database, file) = files();
    fs::create_dir_all(database.parent().unwrap()).unwrap();
    match settings.database() {
        Some(of) => fs::write(database, dump(of.url())).unwrap(),
        None => {
            fs::copy(settings.path("portcullis.db"), database).unwrap();
        }
    }

    // The questions cause events, so that they come after the copy.
    let server = settings.start();
    let answers = answers_of(&server);
    server.stop();
    let operator_server = saas(&settings).start();
    let answers = with_tenants(answers, &operator_server);
    operator_server.stop();
    fs::write(file, format!("{answers:#}\n")).unwrap();
}

/// Returns the statements that build the database, without the commands of `psql`.
fn dump(url: &str) -> String {
    let url = url.replace("portcullis@", "postgres@");
    let done = Command::new("pg_dump").args(["--inserts", "--no-comments", &url]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().filter(|line| !line.starts_with('\\')).flat_map(|line| [line, "\n"]).collect()
}

/// Creates every kind of record, and events of every kind.
fn fill(tenant: &Tenant<'_>) {
    let receiver = Receiver::start();
    let events: Vec<&str> = crate::support::EVENTS.to_vec();
    let webhook = json!({"url": receiver.url("/hook"), "events": events, "secret": "a-secret-of-version-0.1"});
    let webhook = tenant.manage("POST /api/v1/webhooks", &webhook).is(201).id();

    for resource in [
        json!({"name": "chart:read", "displayName": "Read a chart", "defaultRoles": ["editor"]}),
        json!({"name": "invoice:read", "serviceName": "bills"}),
    ] {
        let reply = tenant.manage("POST /api/v1/resources", &resource);
        assert_eq!(reply.status, 201, "{}", reply.text);
    }
    tenant.rule("alice", "chart:read", "read", "allow");
    tenant.rule("*", "chart:write", "delete", "deny");
    tenant.rule("bob", "*", "*", "allow");
    tenant.rule("carol", "invoice:*", "*", "allow");
    tenant.policy("always", "report:read", "allow", 1, &always());
    tenant.policy("owner", "chart:write", "allow", 5, &condition("resource.owner", "eq", "alice"));
    let tree = json!({"type": "AND", "children": [
        condition("user.level", "gte", 5),
        {"type": "NOT", "child": condition("resource.network", "ip_in", json!(["10.0.0.0/8"]))},
    ]});
    tenant.policy("outside", "report:read", "deny", 10, &tree);
    let tree = json!({"type": "OR", "children": [
        condition("request.subject", "matches", "^mal"),
        condition("resource.missing", "eq", "x"),
    ]});
    tenant.policy("unknown", "invoice:*", "deny", 3, &tree);
    for permissions in [json!(["policies:read"]), json!(["resources:write", "webhooks:read"])] {
        let key = json!({"name": "deploy", "permissions": permissions});
        let id = tenant.manage("POST /api/v1/service-api-keys", &key).is(201).id();
        if permissions.as_array().unwrap().len() > 1 {
            tenant.delete(&format!("/api/v1/service-api-keys/{id}")).is(204);
        }
    }
    let manifest = json!({
        "namespace": "dir", "config": {"department": "obstetrics"}, "secrets": {"token": "hidden"},
    });
    let form = Form::new(&manifest, &guest("directory"));
    tenant.upload(format!("POST {RESOLVERS}"), &form).is(201);
    tenant.decide("nobody", "nowhere:read", "read").is_default();
    let deliveries = format!("/api/v1/webhooks/{webhook}/deliveries");
    eventually("every event is delivered", || {
        let list = tenant.get(&deliveries).is(200).json();
        let kinds: std::collections::BTreeSet<&str> = list
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|item| item["event_type"].as_str())
            .collect();
        kinds.len() == 6
    });
}
