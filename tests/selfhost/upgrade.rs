//! Upgrades, which begin with version 0.3.0 (`docs/upgrades.md`): every record and every decision stays.
//!
//! `upgrade/` has a folder for each release, with a database of each kind that it wrote, its record of decisions, and what it
//! answered about them. The test opens a copy with this version, which migrates it, and asks the same. [`record`] writes a
//! folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use portcullis_storage::testing::{execute_unmigrated, make_outdated};
use serde_json::{Value, json};

use crate::everywhere::decisions;
use crate::setup;
use crate::support::process::{portcullis, repository};
use crate::support::resolver::{Form, RESOLVERS, guest};
use crate::support::server::ADMIN_KEY;
use crate::support::tenant::{always, condition};
use crate::support::{Operator, Provider, Receiver, Request, Server, Settings, Tenant, eventually};

/// The decisions about somebody whom no question is about.
const DECISIONS: &str = "/api/v1/decisions?subject=recorded&from=2026-01-01T00:00:00Z";
/// The tenant with every kind of record.
const TENANT: &str = "upgrade";

/// The folder of what each version has left.
fn folder() -> PathBuf {
    repository().join("tests/selfhost/upgrade")
}

/// The things that one kind of database has left: itself, its record of decisions, and the answers.
struct Files {
    database: PathBuf,
    decisions: PathBuf,
    answers: PathBuf,
}

/// The files of a version, in this set-up.
fn files(version: &str) -> Files {
    let (database, name) = if setup::is_postgres() {
        ("postgres.sql", "postgres")
    } else {
        ("database.sqlite", "sqlite")
    };
    let folder = folder().join(version);
    Files {
        database: folder.join(database),
        decisions: folder.join(format!("{name}-decisions")),
        answers: folder.join(format!("{name}.json")),
    }
}

/// The settings of both versions. The records were written long ago, and retention must not remove them.
fn settings() -> Settings {
    Settings::new(Provider::shared())
        .on_an_empty_database()
        .set("EGRESS_ALLOW_HTTP", "true")
        .set("EGRESS_ALLOW_CIDRS", "127.0.0.0/8")
        .set("WEBHOOK_RETENTION", "36500d")
        .set("AUDIT_RETENTION", "36500d")
        .recording()
}

/// Returns the settings of the operator's mode on the same database.
fn saas(settings: &Settings) -> Settings {
    settings.clone().set("MODE", "saas").set("AUTH_SERVER_URL", "").set("ADMIN_API_KEY", ADMIN_KEY)
}

#[test]
fn what_each_version_wrote_keeps_every_record_and_decision() {
    let versions: Vec<_> =
        fs::read_dir(folder()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(versions.iter().any(|version| version == "0.3.0"), "{versions:?}");
    for version in versions {
        keeps(version.to_str().unwrap());
    }
    // The control: a record that differs is seen.
    assert!(!contains(&json!([{"id": "a", "new": 1}]), &json!([{"id": "b"}])));
}

#[test]
fn a_database_from_before_the_first_release_is_refused_with_the_way_out() {
    let settings = settings();
    let url = settings.database().map(|database| database.url().to_owned());
    let url = url.unwrap_or_else(|| file_of(&settings));
    tokio::runtime::Runtime::new().unwrap().block_on(make_outdated(&url));
    for arguments in [
        &["serve"][..],
        &["migrate"],
        &["doctor"],
        &["tenants", "list"],
        &["keys", "list", "--tenant", TENANT],
        &["audit"],
        &["secrets", "reencrypt"],
    ] {
        let done = settings.run(arguments);
        assert_eq!(done.code, Some(1), "{arguments:?}: {done:?}");
        for words in [
            "before the release of version 0.3.0",
            "`portcullis export`",
            "an empty database",
            "`portcullis apply`",
        ] {
            assert!(format!("{done:?}").contains(words), "{arguments:?}: {words}: {done:?}");
        }
    }
}

/// A look with the new version must leave the way back to the old one.
#[test]
fn a_command_leaves_a_database_of_an_older_version_as_it_is() {
    let settings = settings();
    let Files { database, decisions, .. } = files("0.3.0");
    restore(&settings, &database);
    copy_folder(&decisions, &settings.path("decisions"));
    for arguments in [
        &["tenants", "list"][..],
        &["tenants", "suspend", TENANT],
        &["keys", "list", "--tenant", TENANT],
        &["keys", "create", "--tenant", TENANT, "--name", "k"],
        &["keys", "create", "--tenant", "new", "--name", "k", "--create-tenant"],
        &["console", "link", "--tenant", TENANT, "--as", "ann"],
        &["audit"],
        &["decisions", "verify"],
        &["secrets", "reencrypt"],
    ] {
        let done = settings.run(arguments);
        assert!(done.code.is_some_and(|code| code != 0), "{arguments:?}: {done:?}");
        let reason = "older than this version of Portcullis; `portcullis migrate` updates it";
        assert!(done.err.contains(reason), "{arguments:?}: {done:?}");
    }
    assert_eq!(settings.run(&["migrate"]).code, Some(0));
    let listed = settings.run(&["tenants", "list"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.out.contains(TENANT), "{listed:?}");
}

/// The URL of the SQLite file of `settings`.
fn file_of(settings: &Settings) -> String {
    format!("sqlite://{}", settings.path("portcullis.db").display())
}

/// Adds to the database of version 0.3.0 what it stored for a declared date-time and policies that order it: it took them.
fn store_orders(settings: &Settings) {
    let mut order = condition("resource.expires_at", "lt", "2026-06-01T00:00:00Z");
    order["if_missing"] = json!(false);
    let policy = |number: u128, name: &str, effect: &str, tree: &Value| {
        let id = uuid::Uuid::from_u128(number);
        let id = match settings.database() {
            Some(_) => format!("CAST('{id}' AS UUID)"),
            None => format!("X'{}'", id.simple()),
        };
        format!(
            "INSERT INTO abac_policies (tenant_id, id, name, resource, effect, format, rule_data, priority, enabled, \
            created_by, created_at) SELECT tenant_id, {id}, '{name}', 'sheet:read', '{effect}', format, '{tree}', 1, \
            enabled, created_by, created_at FROM abac_policies WHERE name = 'always';"
        )
    };
    let declared =
        json!({"properties": {"owner": {"type": "text"}, "expires_at": {"type": "datetime"}}});
    let statements = [
        format!("UPDATE types SET definition = '{declared}' WHERE name = 'sheet';"),
        policy(1, "shared", "allow", &always()),
        policy(2, "expired", "deny", &order),
    ]
    .concat();
    match settings.database() {
        Some(database) => drop(database.sql(&statements)),
        None => {
            let url = file_of(settings);
            let run = execute_unmigrated(&url, &statements);
            tokio::runtime::Runtime::new().unwrap().block_on(run);
        }
    }
}

#[test]
fn a_stored_order_of_declared_date_times_is_undetermined_and_told() {
    let settings = settings();
    restore(&settings, &files("0.3.0").database);
    store_orders(&settings);
    let server = settings.start();
    let said = server.process.err.wait_for(|lines| {
        lines.iter().find(|line| line.contains("by the order of texts")).cloned()
    });
    let said = said.expect("a line of the log");
    assert!(said.contains("count=1") && said.contains("policy=\"expired\""), "{said}");
    let metrics = Request::new("GET /metrics").send(server.address).is(200).text;
    assert!(metrics.contains("\nportcullis_datetimes_as_texts 1\n"), "{metrics}");

    let tenant = Tenant::with_provider(&server, Provider::shared(), TENANT);
    let decides = |expires_at: Value| {
        let check = json!({
            "subject": "alice", "resource": "sheet:read", "action": "read",
            "attributes": {"resource": {"expires_at": expires_at}},
        });
        tenant.check(&check).is(200).text_of("decision")
    };
    let [past, future] = ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"].map(|at| json!(at));
    // A deny that is undetermined denies everybody but whom `if_missing` lets pass.
    assert_eq!([&past, &future].map(|at| decides(at.clone())), ["deny", "deny"]);
    assert_eq!(decides(Value::Null), "allow");

    let path = format!("PUT /api/v1/abac/policies/{}", uuid::Uuid::from_u128(2));
    tenant.manage(&path, &json!({"priority": 2})).is(200);
    let mut order = condition("resource.expires_at", "lt", "2026-06-01T00:00:00Z");
    let refused =
        tenant.manage(&path, &json!({"rule_data": order})).refused(400, "VALIDATION_ERROR");
    assert!(refused.text.contains("before"), "{}", refused.text);
    (order["operator"], order["if_missing"]) = (json!("before"), json!(false));
    tenant.manage(&path, &json!({"rule_data": order})).is(200);
    assert_eq!([&past, &future].map(|at| decides(at.clone())), ["deny", "allow"]);
}

/// Asserts that what a version wrote is here still.
#[track_caller]
fn keeps(version: &str) {
    let (files, settings) = (files(version), settings());
    restore(&settings, &files.database);
    copy_folder(&files.decisions, &settings.path("decisions"));
    let expected: Value = serde_json::from_slice(&fs::read(files.answers).unwrap()).unwrap();
    let server = settings.start();
    let found = answers_of(&server);
    server.stop();
    let operator_server = saas(&settings).start();
    let found = with_tenants(found, &operator_server);
    for (question, expected) in expected.as_object().unwrap() {
        let found = &found[question];
        assert!(contains(found, expected), "{question}\n   {version}: {expected}\n   now: {found}");
    }
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

/// Copies the files of a folder and of those below.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
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
        "/api/v1/roles",
        "/api/v1/types",
        "/api/v1/entities",
        "/api/v1/relations",
        "/api/v1/revisions",
        DECISIONS,
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
    for subject in ["alice", "bob", "carol", "dora", "editor", "mallory"] {
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

/// Writes what the binary of this version leaves:
///
/// `TEST_SETUP=selfhost_sqlite,selfhost_postgres cargo test -p portcullis-server --test blackbox -- --ignored upgrade::record`.
/// `pg_dump` must be installed.
#[test]
#[ignore = "writes the files of a release"]
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
    let Files { database, decisions, answers: file } = files(env!("CARGO_PKG_VERSION"));
    if decisions.exists() {
        fs::remove_dir_all(&decisions).unwrap();
    }
    copy_folder(&settings.path("decisions"), &decisions);
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
    let webhook = json!({"url": receiver.url("/hook"), "events": events, "secret": "a-secret-of-version-0.3.0"});
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
    fill_directory(tenant);
    decisions::set(tenant, &json!({"mode": "durable", "keep": "3650d"}));
    tenant.decide("nobody", "nowhere:read", "read").is_default();
    for resource in ["chart:read", "invoice:read"] {
        tenant.decide("recorded", resource, "read");
    }
    let deliveries = format!("/api/v1/webhooks/{webhook}/deliveries");
    // The events of one queue are delivered in order, so that the last of each queue is enough.
    eventually("every event is delivered", || {
        let list = tenant.get(&deliveries).is(200).json();
        let of = |kind: &str| {
            let of_kind =
                |item: &&Value| item["event_type"] == kind && item["state"] == "delivered";
            list.as_array().unwrap().iter().filter(of_kind).count()
        };
        of("service_api_key.revoked") == 1 && of("access.denied") == 3
    });
}

/// Creates types, roles, entities and a relation.
fn fill_directory(tenant: &Tenant<'_>) {
    let text =
        json!({"properties": {"owner": {"type": "text"}}, "relations": {"viewer": "[user]"}});
    tenant.manage("PUT /api/v1/types/sheet", &text).is(201);
    tenant.manage("PUT /api/v1/roles/senior", &json!({"includes": ["editor"]})).is(201);
    let dora = json!({"roles": ["senior"], "properties": {"level": 9}});
    tenant.manage("PUT /api/v1/entities/user/dora", &dora).is(201);
    let sheet = json!({"properties": {"owner": "dora"}});
    tenant.manage("PUT /api/v1/entities/sheet/first", &sheet).is(201);
    let tuple = json!({"object": "sheet:first", "relation": "viewer", "subject": "user:dora"});
    tenant.manage("POST /api/v1/relations", &json!({"write": [tuple]})).is(200);
}

/// The binary of an earlier release, which serves beside this one; without `PORTCULLIS_BEFORE` this one stands for both.
fn before() -> Command {
    let mut command = portcullis(&["serve"]);
    if let Some(binary) = std::env::var_os("PORTCULLIS_BEFORE") {
        command = Command::new(binary);
        command.arg("serve").env_clear();
    }
    command
}

#[test]
fn two_versions_serve_one_postgresql_and_read_what_the_other_wrote() {
    if !setup::is_postgres() {
        return;
    }
    let settings = settings();
    let old = settings.start_by(before());
    let of_old = Tenant::with_provider(&old, Provider::shared(), TENANT);
    fill(&of_old);
    // The start of the new version migrates the database under the old one.
    let new = settings.clone().set("DECISION_LOG_URL", "").start();
    let of_new = of_old.at(&new);
    for (writer, reader, subject) in [(&of_old, &of_new, "ada"), (&of_new, &of_old, "ben")] {
        writer.decide(subject, "chart:read", "read").is_default();
        reader.decide(subject, "chart:read", "read").is_default();
        writer.rule(subject, "chart:read", "read", "allow");
        let sheet = format!("/api/v1/entities/sheet/of-{subject}");
        writer.manage(format!("PUT {sheet}"), &json!({"properties": {"owner": subject}})).is(201);
        eventually("the other version has the rule", || {
            reader.decide(subject, "chart:read", "read").allowed()
        });
        eventually("the other version has the entity", || reader.get(&sheet).status == 200);
        for path in ["/api/v1/abac/policies", "/api/v1/entities", "/api/v1/webhooks"] {
            assert_eq!(reader.get(path).is(200).json(), writer.get(path).is(200).json(), "{path}");
        }
    }
    new.stop();
    of_old.decide("ben", "chart:read", "read");
    old.stop();
}
