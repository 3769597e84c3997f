//! The record of decisions: which checks have one, what it holds, who sees it.

mod bounds;
mod erasures;
mod members;
mod scans;
mod stats;
mod streams;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::process::{Finished, finish, portcullis};
use crate::support::{
    MANAGER, NO_ID, Provider, Reply, Request, Server, Settings, Tenant, eventually_some,
};

const CHECK: &str = "POST /api/v1/check";

fn settings() -> Settings {
    Settings::new(Provider::shared()).recording()
}

pub(crate) fn tenant_of(server: &Server) -> Tenant<'static> {
    Tenant::with_provider(server, Provider::shared(), "acme")
}

pub(crate) fn read(subject: &str) -> Value {
    json!({"subject": subject, "resource": "doc:read", "action": "read"})
}

/// Returns the recorded decisions that `query` selects, once there are `count`.
pub(crate) fn listed(tenant: &Tenant<'_>, query: &str, count: usize) -> Vec<Value> {
    eventually_some(&format!("{count} records of `{query}`"), || {
        let records = tenant.get(&format!("/api/v1/decisions{query}")).is(200).json();
        let records = records.as_array().cloned().unwrap_or_default();
        (records.len() == count).then_some(records)
    })
}

pub(crate) fn id_of(reply: &Reply) -> Option<&str> {
    reply.header("x-decision-id")
}

/// Runs `portcullis decisions` against the server, as a manager.
pub(crate) fn run(server: &Server, tenant: &Tenant<'_>, arguments: &[&str]) -> Finished {
    let mut command = portcullis(&[&["decisions"], arguments].concat());
    let token = tenant.token("boss", &[MANAGER]);
    command.args(["--url", &format!("http://{}", server.address)]).env("TOKEN", token);
    finish(command)
}

/// Changes the setting `decision_log`.
pub(crate) fn set(tenant: &Tenant<'_>, decision_log: &Value) {
    let bundle = json!({"bundle": {"settings": {"decision_log": decision_log}}, "owner": "test"});
    tenant.manage("POST /api/v1/apply", &bundle).is(200);
}

#[test]
fn a_record_has_what_the_check_read_and_its_answer_has_its_id() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let tree = json!({"type": "AND", "children": [
        {"type": "CONDITION", "attribute": "user.level", "operator": "gte", "value": 3},
        {"type": "CONDITION", "attribute": "token.ward", "operator": "eq", "value": "er"},
    ]});
    let policy = tenant.policy("senior", "doc:read", "allow", 1, &tree);
    let token = tenant.token_with("alice", &["nurse"], &json!({"ward": "er", "shift": "night"}));
    let body = json!({
        "subject": "alice", "resource": "doc:read", "action": "read",
        "attributes": {"user": {"level": 4, "color": "red"}, "context": {"tags": ["a", "b"]}},
    });
    let request = Request::new(CHECK).token(&token).header("x-request-id", "r-1").json(&body);
    let reply = tenant.send(&request).is(200);
    let id = id_of(&reply).expect("recorded");
    let record = listed(&tenant, "?request_id=r-1", 1).remove(0);
    assert_eq!(tenant.get(&format!("/api/v1/decisions/{id}")).is(200).json(), record);
    let expected = json!({
        "id": id, "tenant": tenant.id, "revision": reply.revision(), "entities_revision": 0, "via": "check",
        "request_id": "r-1", "subject": "alice", "domain": tenant.name, "resource": "doc:read",
        "action": "read", "attributes": body["attributes"], "token": {"ward": "er"},
        "directory": {"roles": ["nurse"]}, "decision": "allow",
        "rule": policy, "reason": reply.text_of("reason"), "undetermined": [],
        "caller": {"kind": "token", "sub": "alice", "iss": tenant.issuer},
        "time": record["time"], "us": record["us"],
    });
    let mut shown = record.clone();
    let attributes = shown["attributes"].as_object_mut().expect("an object");
    attributes.retain(|_, members| members.as_object().is_some_and(|members| !members.is_empty()));
    assert_eq!(shown, expected);
    let missing = json!({"subject": "bob", "resource": "doc:read", "action": "read"});
    let denied = tenant.check(&missing).is(200);
    let record = listed(&tenant, "?subject=bob", 1).remove(0);
    assert_eq!((&record["decision"], &record["rule"]), (&json!("deny"), &json!("default-deny")));
    assert_eq!(
        Some(&*record["id"].to_string()),
        id_of(&denied).map(|id| format!("\"{id}\"")).as_deref()
    );
}

#[test]
fn every_kind_of_check_is_recorded_and_no_other_question() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let manager = tenant.token("boss", &[MANAGER]);
    let by = |route: &str, body: &Value| {
        tenant.send(&Request::new(route).token(&manager).json(body)).is(200)
    };
    assert!(id_of(&by(CHECK, &read("alice"))).is_some());
    assert!(
        id_of(&by(
            "POST /api/v1/resources/access/check",
            &json!({"subject": "alice", "resource": "doc:read"})
        ))
        .is_some()
    );
    let items = json!({"checks": [read("alice"), read("bob"), read("carl")], "semantic": "deny_on_first_deny"});
    let batch = by("POST /api/v1/checks", &items);
    assert_eq!(id_of(&batch), None);
    let ids: Vec<Value> = batch.json()["results"]
        .as_array()
        .expect("results")
        .iter()
        .map(|item| item["decision_id"].clone())
        .collect();
    let evaluation = json!({
        "subject": {"type": "user", "id": "alice"}, "action": {"name": "read"},
        "resource": {"type": "doc", "id": "1"},
    });
    let evaluated = by("POST /access/v1/evaluation", &evaluation);
    assert_eq!(evaluated.json()["context"]["decision_id"], json!(id_of(&evaluated)));
    for (route, body) in [
        ("POST /api/v1/check?explain=true", read("alice")),
        ("POST /api/v1/search/actions", json!({"subject": "alice", "type": "doc"})),
        ("POST /api/v1/permissions", json!({"subject": "alice"})),
    ] {
        assert_eq!(id_of(&by(route, &body)), None, "{route}");
    }
    let records = listed(&tenant, "", 5);
    let vias: Vec<_> = records.iter().rev().map(|record| record["via"].clone()).collect();
    let mut sorted: Vec<String> = vias.iter().map(Value::to_string).collect();
    sorted.sort_unstable();
    assert_eq!(sorted, ["\"authzen\"", "\"batch\"", "\"batch\"", "\"check\"", "\"legacy\""]);
    // Carl is after the end.
    let mut of_batch: Vec<Value> =
        listed(&tenant, "?via=batch", 2).iter().map(|record| record["id"].clone()).collect();
    of_batch.sort_unstable_by_key(Value::to_string);
    let mut ids = ids;
    ids.sort_unstable_by_key(Value::to_string);
    assert_eq!(of_batch, ids);
    for (query, count) in [
        ("?decision=deny", 1),
        ("?subject=alice", 4),
        ("?undetermined=true", 0),
        ("?resource=doc:write", 0),
        ("?to=2020-01-01T00:00:00Z", 0),
        ("?from=2020-01-01T00:00:00Z&action=read", 5),
        (&*format!("?rule={rule}"), 4),
    ] {
        listed(&tenant, query, count);
    }
    for query in ["?decision=yes", "?via=grpc", "?undetermined=1", "?from=2020", "?limit=0"] {
        tenant.get(&format!("/api/v1/decisions{query}")).refused(400, "BAD_REQUEST");
    }
    let page = tenant.get("/api/v1/decisions?limit=2").is(200);
    let next = page.next_page().expect("there is more");
    assert_eq!(tenant.get(next).is(200).json()[0], records[2]);
}

#[test]
fn a_member_sees_the_decisions_about_itself() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    tenant.check(&read("alice")).is(200);
    let about_bob = tenant.check(&read("bob")).is(200);
    let id = id_of(&about_bob).expect("recorded");
    listed(&tenant, "", 2);
    let alice = tenant.token("alice", &["user"]);
    let get = |path: &str| tenant.send(&Request::new(format!("GET {path}")).token(&alice));
    let own = get("/api/v1/decisions").is(200).json();
    assert_eq!((own.as_array().map(Vec::len), &own[0]["subject"]), (Some(1), &json!("alice")));
    get("/api/v1/decisions?subject=bob").refused(403, "ACCESS_DENIED");
    get(&format!("/api/v1/decisions/{id}")).refused(404, "NOT_FOUND");
    tenant.get(&format!("/api/v1/decisions/{NO_ID}")).refused(404, "NOT_FOUND");
}

#[test]
fn the_terms_of_the_tenant_say_what_is_recorded() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    tenant.rule("alice", "doc:read", "read", "allow");
    set(&tenant, &json!({"mode": "off"}));
    assert_eq!(id_of(&tenant.check(&read("alice")).is(200)), None);
    set(&tenant, &json!({"allows": 0}));
    assert_eq!(id_of(&tenant.check(&read("alice")).is(200)), None);
    assert!(id_of(&tenant.check(&read("bob")).is(200)).is_some(), "a denial");
    let attributes = json!({"user.pin": "hash", "user.note": "drop", "user.level": "reads"});
    set(&tenant, &json!({"mode": "durable", "attributes": attributes}));
    let mut check = read("alice");
    check["attributes"] = json!({"user": {"pin": "1234", "note": "n", "level": 3, "kept": true}});
    let reply = tenant.check(&check).is(200);
    // It was on disk before the answer left.
    let id = id_of(&reply).expect("recorded");
    let record = tenant.get(&format!("/api/v1/decisions/{id}")).is(200).json();
    let user = &record["attributes"]["user"];
    assert_eq!(user["kept"], json!(true));
    assert!(user.get("level").is_none() && user.get("note").is_none(), "{user}");
    assert!(user["pin"].is_object() && !record.to_string().contains("1234"), "{user}");
    assert_eq!(record["dropped"], json!(["user.note"]));
}

#[test]
fn statistics_count_what_was_left_out_and_a_member_counts_its_own() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    set(&tenant, &json!({"allows": 0}));
    for subject in ["alice", "alice", "alice", "bob"] {
        tenant.check(&read(subject)).is(200);
    }
    let stats = |query: &str| tenant.get(&format!("/api/v1/decisions/stats{query}")).is(200).json();
    assert_eq!(
        stats("?group_by=action,rule"),
        json!({"complete": true, "groups": [
            {"action": "read", "rule": rule, "allow": 3, "deny": 0, "undetermined": 0},
            {"action": "read", "rule": "default-deny", "allow": 0, "deny": 1, "undetermined": 0},
        ]})
    );
    assert_eq!(
        stats("?decision=deny"),
        json!({"complete": true, "groups": [{"allow": 0, "deny": 1, "undetermined": 0}]})
    );
    listed(&tenant, "", 1);
    let alice = tenant.token("alice", &["user"]);
    let own = tenant.send(&Request::new("GET /api/v1/decisions/stats").token(&alice)).is(200);
    assert_eq!(own.json()["complete"], json!(false), "left out allows have no subject");
    for query in ["?group_by=", "?group_by=tenant", "?group_by=rule,rule", "?group=rule"] {
        let path = format!("/api/v1/decisions/stats{query}");
        tenant.get(&path).refused(400, "BAD_REQUEST");
    }
}

#[test]
fn what_kept_an_allow_from_applying_is_recorded_found_and_counted() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let policy = json!({
        "name": "own", "resource": "doc:read", "effect": "allow", "priority": 1, "format": "expression",
        "rule_data": {"expression": "user.ward == resource.ward"},
    });
    tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    let wards = |user: Value| {
        let mut check = read("bob");
        check["attributes"] = json!({"user": user, "resource": {"ward": "er"}});
        check
    };
    let unknown = tenant.check(&wards(json!({}))).is(200);
    tenant.check(&wards(json!({"ward": "icu"}))).is(200);
    listed(&tenant, "", 2);
    let found = listed(&tenant, "?undetermined=true", 1);
    assert_eq!(found[0]["id"].as_str(), id_of(&unknown));
    assert_eq!(found[0]["undetermined"], json!(["user.ward"]));
    assert_eq!(listed(&tenant, "?undetermined=false", 1)[0]["undetermined"], json!([]));
    assert_eq!(
        tenant.get("/api/v1/decisions/stats").is(200).json()["groups"],
        json!([{"allow": 0, "deny": 2, "undetermined": 1}])
    );
}

#[test]
fn commands_print_the_record() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let id = id_of(&tenant.check(&read("alice")).is(200)).expect("recorded").to_owned();
    tenant.check(&read("bob")).is(200);
    listed(&tenant, "", 2);
    let run = |arguments: &[&str]| run(&server, &tenant, arguments);
    let found = run(&["search", "--subject", "alice"]);
    assert!(
        found.code == Some(0) && found.out.trim().ends_with(&id),
        "{} {}",
        found.out,
        found.err
    );
    let part = run(&["search", "--limit", "1"]);
    assert_eq!((part.code, part.out.lines().count()), (Some(1), 1), "there is more");
    let shown = run(&["show", &id]);
    assert!(shown.code == Some(0) && shown.out.contains("\"subject\": \"alice\""));
    let refused = run(&["show", "alice"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("expected the id of a decision"), "{}", refused.err);
    let exported = run(&["export", "--decision", "deny"]).out;
    let lines: Vec<Value> =
        exported.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!((lines.len(), &lines[1]["id"]), (2, &json!(id)));
    assert!(run(&["search", "--decision", "maybe"]).code == Some(1));
    for (since, count) in [("1h", 2), ("2126-01-01T00:00:00Z", 0)] {
        let found = run(&["search", "--since", since]).out;
        assert_eq!(found.lines().count(), count, "{since}");
    }
    assert_eq!(
        run(&["tail", "--since", "soon"]).code,
        Some(2),
        "neither an instant nor a time ago"
    );
    let mut command = portcullis(&["decisions", "tail", "--since", "1h"]);
    let token = tenant.token("boss", &[MANAGER]);
    command.args(["--url", &format!("http://{}", server.address)]).env("TOKEN", token);
    let mut tail = command.stdout(Stdio::piped()).spawn().expect("runs");
    let mut lines = BufReader::new(tail.stdout.take().expect("piped")).lines();
    for subject in ["alice", "bob"] {
        let line = lines.next().expect("a line").expect("text");
        assert!(line.contains(subject), "oldest first: {line}");
    }
    tail.kill().expect("ends");
    tail.wait().expect("ended");
}

#[test]
fn commands_erase_and_verify_the_record() {
    let settings = settings();
    let server = settings.start();
    let tenant = tenant_of(&server);
    for subject in ["ann", "bob", "ann"] {
        tenant.check(&read(subject)).is(200);
    }
    listed(&tenant, "", 3);
    let erase = || run(&server, &tenant, &["erase", "--subject", "ann"]);
    for expected in ["erased 2 decisions", "erased 0 decisions"] {
        let erased = erase();
        assert_eq!((erased.code, erased.out.trim()), (Some(0), expected), "{}", erased.err);
    }
    tenant.check(&read("carl")).is(200);
    assert_eq!(erase().code, Some(0), "all records are sealed");
    let verify = || settings.run(&["decisions", "verify"]);
    let whole = verify();
    assert_eq!(whole.code, Some(0), "{}{}", whole.out, whole.err);
    assert!(
        whole.out.contains("2 records") && whole.out.contains("the record is whole"),
        "{}",
        whole.out
    );
    let file = parquet_file(&settings.path("decisions"));
    let written = std::fs::read(&file).expect("reads");
    std::fs::write(&file, [&written[..40], b"?", &written[41..]].concat()).expect("writes");
    let changed = verify();
    assert!(changed.code == Some(1) && changed.out.contains("wrong: "), "{}", changed.out);
    std::fs::remove_file(&file).expect("removes");
    let missing = verify();
    assert!(missing.code == Some(1) && missing.out.contains("is missing"), "{}", missing.out);
    let misspelt = settings.path("decisoins");
    let elsewhere =
        settings.clone().set("DECISION_LOG_URL", format!("file://{}", misspelt.display()));
    let absent = elsewhere.run(&["decisions", "verify"]);
    assert_eq!((absent.code, &*absent.out), (Some(2), ""), "{}", absent.err);
    assert!(absent.err.contains("there is no folder `") && !misspelt.exists(), "{}", absent.err);
    let without = settings.clone().set("DECISION_LOG_URL", "").run(&["decisions", "verify"]);
    assert!(without.code == Some(2) && without.err.contains("DECISION_LOG_URL"), "{}", without.err);
}

/// Returns some sealed file.
fn parquet_file(folder: &Path) -> PathBuf {
    let entries = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    let first = paths.into_iter().next().expect("a file");
    if first.is_dir() { parquet_file(&first) } else { first }
}

#[test]
fn records_outlive_the_process_and_the_log_may_be_off() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    tenant.check(&read("alice")).is(200);
    let before = listed(&tenant, "", 1);
    let server = server.crash_and_restart();
    let tenant = tenant.at(&server);
    assert_eq!(listed(&tenant, "", 1), before);
    let shared = Tenant::new();
    assert_eq!(id_of(&shared.check(&read("alice")).is(200)), None);
    shared.get("/api/v1/decisions").refused(409, "CONFLICT");
}

#[test]
fn an_erased_person_is_in_no_record_and_the_others_are() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    for subject in ["ann", "bob", "ann"] {
        tenant.check(&read(subject)).is(200);
    }
    listed(&tenant, "", 3);
    let erased =
        |route: &str| tenant.manage(format!("DELETE /api/v1/decisions{route}"), &json!(null));
    erased("").is(400);
    assert_eq!(erased("?subject=ann").is(200).json(), json!({"erased": 2}));
    assert_eq!(erased("?subject=ann").is(200).json(), json!({"erased": 0}));
    let records = listed(&tenant, "", 1);
    assert_eq!(records[0]["subject"], "bob");
    // A later check is recorded.
    tenant.check(&read("ann")).is(200);
    listed(&tenant, "?subject=ann", 1);
    let log =
        tenant.manage("GET /api/v1/audit?action=decisions.erased", &json!(null)).is(200).json();
    assert!(!log.to_string().contains("ann"), "{log}");
}

#[test]
fn parity_counts_where_checks_agree_with_another_system() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    // Allows are left out, but for those that another system decided, too.
    set(&tenant, &json!({"allows": 0}));
    let manager = tenant.token("boss", &[MANAGER]);
    let by = |route: &str, body: &Value| {
        tenant.send(&Request::new(route).token(&manager).json(body)).is(200)
    };
    let expecting = |subject: &str, expected: &str| {
        let mut body = read(subject);
        body["expected"] = json!(expected);
        body
    };
    let legacy = json!({"subject": "alice", "resource": "doc:read", "expected": "deny"});
    let batch = json!({"expected": "allow", "checks": [read("alice"), expecting("bob", "deny")]});
    let evaluation = |expected: &str| {
        json!({
            "subject": {"type": "user", "id": "bob"}, "action": {"name": "read"},
            "resource": {"type": "doc", "id": "1"}, "expected": expected,
        })
    };
    by(CHECK, &read("alice"));
    assert_eq!(by(CHECK, &expecting("alice", "deny")).json()["decision"], "allow");
    let denied = by(CHECK, &expecting("bob", "allow"));
    by("POST /api/v1/resources/access/check", &legacy);
    by("POST /api/v1/checks", &batch);
    by("POST /access/v1/evaluation", &evaluation("allow"));
    let evaluations = json!({"expected": "deny", "evaluations": [evaluation("allow"), {"subject": {"id": "carl"}}],
        "subject": {"type": "user"}, "action": {"name": "read"}, "resource": {"type": "doc", "id": "1"}});
    by("POST /access/v1/evaluations", &evaluations);
    // An explained check is not recorded, and takes the same body.
    by("POST /api/v1/check?explain=true", &expecting("bob", "allow"));

    let records = listed(&tenant, "", 8);
    assert!(records.iter().all(|record| record["expected"].is_string()), "{records:?}");
    let parity = tenant.get("/api/v1/parity").is(200).json();
    assert_eq!(parity["complete"], true);
    let rows = parity["rows"].as_array().expect("rows");
    let [row] = &rows[..] else { panic!("one row: {parity}") };
    assert_eq!((&row["resource"], &row["action"]), (&json!("doc:read"), &json!("read")));
    // Alike are both items of the batch and the last evaluation.
    assert_eq!((&row["agree"], &row["differ"]), (&json!(3), &json!(5)), "{parity}");
    let groups = row["groups"].as_array().expect("groups");
    let shown = |group: &Value| {
        ["expected", "decision", "rule", "count"].map(|member| group[member].clone())
    };
    assert_eq!(shown(&groups[0]), [json!("allow"), json!("deny"), json!("default-deny"), json!(3)]);
    assert_eq!(shown(&groups[1]), [json!("deny"), json!("allow"), json!(rule), json!(2)]);
    let samples = groups[0]["samples"].as_array().expect("samples");
    assert!(samples.contains(&json!(id_of(&denied).expect("recorded"))), "{parity}");
    let of_bob = tenant.get("/api/v1/parity?subject=bob").is(200).json();
    assert_eq!(of_bob["rows"][0]["differ"], 3, "{of_bob}");
    assert_eq!(row.get("at"), None);
    for (period, kept, rest) in [("hour", 13, ":00:00.000Z"), ("day", 10, "T00:00:00.000Z")] {
        let by_period = tenant.get(&format!("/api/v1/parity?group_by={period}")).is(200).json();
        let rows = by_period["rows"].as_array().expect("rows");
        let start =
            |record: &Value| format!("{}{rest}", &record["time"].as_str().expect("a time")[..kept]);
        let mut starts: Vec<String> = records.iter().map(start).collect();
        starts.sort();
        starts.dedup();
        let seen: Vec<&str> = rows.iter().filter_map(|row| row["at"].as_str()).collect();
        assert_eq!(seen, starts, "{by_period}");
        let sum = |name: &str| rows.iter().filter_map(|row| row[name].as_u64()).sum::<u64>();
        assert_eq!((sum("agree"), sum("differ")), (3, 5), "{by_period}");
    }
    tenant.get("/api/v1/parity?group_by=week").refused(400, "BAD_REQUEST");

    for (route, mut body) in [
        (CHECK, read("alice")),
        ("POST /api/v1/resources/access/check", legacy),
        ("POST /api/v1/checks", batch),
        ("POST /access/v1/evaluation", evaluation("allow")),
    ] {
        for wrong in [json!("ALLOW"), json!(true)] {
            body["expected"] = wrong;
            let refused = tenant.send(&Request::new(route).token(&manager).json(&body)).is(400);
            assert!(refused.text.contains("at `/expected`: expected"), "{}", refused.text);
        }
    }
    Tenant::new().get("/api/v1/parity").refused(409, "CONFLICT");
}
