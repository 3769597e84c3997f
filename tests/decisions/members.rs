//! The inputs that a record shows, and to whom.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::streams::{STREAM, open};
use super::{id_of, listed, read, set, settings, tenant_of};
use crate::support::{Request, Tenant};

const READ: &str = "GET /api/v1/decisions";

/// A tenant whose policy reads what a request, a token and the directory say of a nurse.
fn with_nurse(tenant: &Tenant<'_>) {
    let nurse =
        json!({"type": "user", "id": "nina", "properties": {"grade": 7}, "roles": ["nurse"]});
    tenant.manage("PUT /api/v1/entities", &json!({"entities": [nurse]})).is(200);
    let when = "user.grade > 5 && token.unit == 'icu' && context.shift == 'late' && request.roles contains 'nurse'";
    let policy = json!({"name": "late", "resource": "doc:read", "effect": "allow", "priority": 0, "when": when});
    let body = json!({"owner": "test", "bundle": {"policies": [policy]}});
    tenant.manage("POST /api/v1/apply", &body).is(200);
}

#[test]
fn a_member_sees_what_its_own_credential_sent() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    with_nurse(&tenant);
    let own = tenant.token_with("nina", &[], &json!({"unit": "icu"}));
    let mut lines = open(&server, &Request::new(STREAM).token(&own));
    let mut check = read("nina");
    check["attributes"] = json!({"context": {"shift": "late"}});
    check["expected"] = json!("allow");
    tenant.check_by(&own, &check).is(200);
    tenant
        .check_by(&tenant.token_with("gateway", &["service"], &json!({"unit": "hidden"})), &check)
        .is(200);
    // A manager sees everything.
    let whole = listed(&tenant, "", 2);
    for (record, unit) in whole.iter().zip(["hidden", "icu"]) {
        assert_eq!(record["directory"]["user"]["grade"], 7, "{record}");
        assert_eq!(record["token"], json!({"unit": unit}));
        assert_eq!(record["attributes"]["context"]["shift"], "late");
    }
    let get =
        |path: &str| tenant.send(&Request::new(format!("{READ}{path}")).token(&own)).is(200).json();
    let seen = get("");
    for (place, whole) in whole.iter().enumerate() {
        let is_own = place == 1;
        let mut expected = whole.clone();
        let members = expected.as_object_mut().expect("an object");
        members
            .retain(|name, _| !["directory", "relations", "resolved", "shadow"].contains(&&**name));
        if !is_own {
            members.retain(|name, _| !["caller", "token", "expected"].contains(&&**name));
            members.insert("attributes".to_owned(), json!({}));
        }
        assert_eq!(seen[place], expected);
        let id = whole["id"].as_str().expect("an id");
        assert_eq!(get(&format!("/{id}")), expected);
    }
    let mut streamed = lines.by_ref().map_while(Result::ok);
    for place in [1, 0] {
        let line = streamed.find(|line| line.starts_with("data:")).expect("the stream goes on");
        let record: Value = serde_json::from_str(&line["data:".len()..]).expect("JSON");
        assert_eq!(record, seen[place]);
    }
}

#[test]
fn the_roles_of_the_directory_are_left_out_and_the_record_is_not_replayable() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    with_nurse(&tenant);
    let gateway = tenant.token_with("gateway", &["service"], &json!({"unit": "icu"}));
    let mut check = read("nina");
    check["attributes"] = json!({"context": {"shift": "late"}});
    let explained = |attributes: Value| {
        set(&tenant, &json!({"mode": "durable", "attributes": attributes}));
        let reply = tenant.check_by(&gateway, &check).is(200);
        let id = id_of(&reply).expect("recorded");
        tenant.get(&format!("/api/v1/decisions/{id}?explain=true")).is(200).json()
    };
    let whole = explained(json!({}));
    assert_eq!((&whole["reproduced"], whole.get("not_replayable")), (&json!(true), None));
    for (attributes, lacking) in [
        (json!({"user.roles": "drop"}), "user.roles"),
        (json!({"user.roles": "hash"}), "user.roles"),
        (json!({"user.grade": "drop"}), "user.grade"),
        (json!({"context.shift": "hash"}), "context.shift"),
    ] {
        let record = explained(attributes);
        assert_eq!(record["reproduced"], Value::Null, "{record}");
        assert_eq!(record["not_replayable"], json!([lacking]));
        assert_eq!(record["explanation"].get("would_allow"), None);
        assert_eq!(record["directory"].to_string().contains("\"nurse\""), lacking != "user.roles");
    }
}

#[test]
fn a_record_has_the_way_to_what_is_behind_references() {
    let server = settings().start();
    let tenant = tenant_of(&server);
    let declare = |name: &str, properties: Value| {
        let path = format!("PUT /api/v1/types/{name}");
        tenant.manage(path, &json!({"properties": properties})).is(201);
    };
    declare("user", json!({"level": {"type": "number"}}));
    declare("ticket", json!({"owner": {"type": "ref<user>"}}));
    declare("doc", json!({"ticket": {"type": "ref<ticket>"}}));
    let entities = json!([
        {"type": "user", "id": "bob", "properties": {"level": 3}},
        {"type": "ticket", "id": "t1", "properties": {"owner": "bob"}},
        {"type": "doc", "id": "d1", "properties": {"ticket": "t1"}},
    ]);
    tenant.manage("PUT /api/v1/entities", &json!({"entities": entities})).is(200);
    let policy = json!({
        "name": "p", "resource": "doc:read", "effect": "allow", "priority": 0,
        "when": "resource.ticket.owner.level == 3",
    });
    let body = json!({"owner": "test", "bundle": {"policies": [policy]}});
    tenant.manage("POST /api/v1/apply", &body).is(200);
    let mut check = read("nina");
    check["attributes"] = json!({"resource": {"id": "d1"}});
    let gateway = tenant.token("gateway", &["service"]);
    let recorded = |attributes: Value| {
        set(&tenant, &json!({"mode": "durable", "attributes": attributes}));
        let reply = tenant.check_by(&gateway, &check).is(200);
        let id = id_of(&reply).expect("recorded");
        // What is behind the reference now does not matter.
        let moved = json!([{"type": "user", "id": "bob", "properties": {"level": 1}}]);
        tenant.manage("PUT /api/v1/entities", &json!({"entities": moved})).is(200);
        let record = tenant.get(&format!("/api/v1/decisions/{id}?explain=true")).is(200).json();
        let back = json!([{"type": "user", "id": "bob", "properties": {"level": 3}}]);
        tenant.manage("PUT /api/v1/entities", &json!({"entities": back})).is(200);
        record
    };
    let record = recorded(json!({}));
    let way = json!({"ticket": "t1", "ticket.owner": "bob", "ticket.owner.level": 3});
    assert_eq!((&record["decision"], &record["directory"]["resource"]), (&json!("allow"), &way));
    assert_eq!(record["reproduced"], true);
    let explained = &record["explanation"]["attributes"][0];
    assert_eq!((&explained["value"], &explained["source"]), (&json!(3), &json!("directory")));
    assert_eq!(explained["via"][1]["entity"], "user:bob", "{explained}");
    let record = recorded(json!({"resource.ticket.owner.level": "drop"}));
    assert_eq!(record["not_replayable"], json!(["resource.ticket.owner.level"]), "{record}");
    assert_eq!(record["directory"]["resource"], json!({"ticket": "t1", "ticket.owner": "bob"}));
}

/// Returns `folder` and everything in it.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut all = vec![folder.to_owned()];
    for path in entries {
        if path.is_dir() { all.extend(below(&path)) } else { all.push(path) }
    }
    all
}

#[test]
fn others_have_no_access_to_the_files_of_the_record() {
    let settings = settings();
    let [rest, buffer] = ["decisions", "buffer"].map(|name| settings.path(name));
    let settings = settings.set("DECISION_LOG_BUFFER", buffer.display().to_string());
    // Files of before, which everybody could read.
    let old = rest.join("tenant=acme/date=2026-01-01");
    fs::create_dir_all(&old).expect("is made");
    fs::write(old.join("old.parquet"), "old").expect("is written");
    fs::set_permissions(&rest, fs::Permissions::from_mode(0o775)).expect("is set");
    let server = settings.start();
    let tenant = tenant_of(&server);
    tenant.check(&read("ann")).is(200);
    listed(&tenant, "", 1);
    let modes = |folder: &Path| {
        let mode = |path: PathBuf| {
            let mode = fs::metadata(&path).expect("is there").permissions().mode() & 0o777;
            (path, mode)
        };
        below(folder).into_iter().map(mode).collect::<Vec<_>>()
    };
    let of_buffer = modes(&buffer);
    assert!(of_buffer.len() >= 4, "{of_buffer:?}");
    tenant.manage("DELETE /api/v1/decisions?subject=bob", &json!(null)).is(200);
    let at_rest = modes(&rest);
    assert!(at_rest.len() >= 6, "{at_rest:?}");
    for (path, mode) in of_buffer.into_iter().chain(modes(&buffer)).chain(at_rest) {
        assert_eq!(mode & 0o007, 0, "{} has {mode:o}", path.display());
        assert_eq!(mode & 0o040, 0o040, "the group reads {}: {mode:o}", path.display());
    }
    let mode = fs::metadata(&rest).expect("is there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o770, "the group's access stays");
}
