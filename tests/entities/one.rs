//! `PUT` and `PATCH` of one entity.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::user;
use crate::support::{Reply, Tenant};

const PLAN: &str = "/api/v1/entities/document/plan";

fn put(tenant: &Tenant<'_>, body: &Value) -> Reply {
    tenant.manage(format!("PUT {PLAN}"), body)
}

fn patch(tenant: &Tenant<'_>, body: &Value) -> Reply {
    tenant.manage(format!("PATCH {PLAN}"), body)
}

/// The content of the answer's entity.
#[track_caller]
fn content(reply: Reply) -> Value {
    let mut record = reply.is(200).json();
    for name in ["type", "id", "source", "updated_at"] {
        record.as_object_mut().expect("a record").remove(name);
    }
    record
}

#[test]
fn put_replaces_one_entity_as_a_whole() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let body = json!({
        "type": "document", "id": "plan", "source": "app", "roles": ["a", "a"],
        "properties": {"readers": ["u1"], "size": 7},
    });
    let created = put(&tenant, &body).is(201);
    let tag = created.header("etag").expect("a tag").to_owned();
    let shown = tenant.get(PLAN).is(200);
    assert_eq!((shown.json(), shown.header("etag")), (created.json(), Some(&*tag)));
    assert_eq!(shown.json()["source"], "app");
    assert_eq!(shown.json()["roles"], json!(["a"]));
    let again = put(&tenant, &body).is(200);
    assert_eq!((again.json(), again.header("etag")), (created.json(), Some(&*tag)));
    // What the body leaves out is gone, the source too.
    let replaced = put(&tenant, &json!({"properties": {"size": 8}})).is(200);
    assert_ne!(replaced.header("etag"), Some(&*tag));
    assert_eq!(replaced.json()["source"], Value::Null);
    let expected = json!({"roles": [], "domain_roles": {}, "properties": {"size": 8}});
    assert_eq!(content(replaced), expected);
    // The entity of another tenant is another entity.
    put(&other, &json!({})).is(201);
    assert_eq!(content(tenant.get(PLAN)), expected);
}

#[test]
fn patch_changes_what_it_names() {
    let tenant = Tenant::new();
    let body = json!({
        "source": "hr", "roles": ["a", "b"], "domain_roles": {"ws-1": ["owner"], "ws-2": ["x"]},
        "properties": {"readers": ["u1", "u2"], "size": 7, "gone": true, "kept": "k"},
    });
    put(&tenant, &body).is(201);
    let change = json!({
        "type": "document", "id": "plan",
        "set": {"size": 8, "new": [1]}, "unset": ["gone", "absent"],
        "add": {"readers": ["u3", "u1", "u3"], "teams": ["t"], "nobody": []},
        "remove": {"readers": ["u2", "u9"], "absent-list": [1]},
        "roles": {"add": ["c", "a"], "remove": ["b"]},
        "domain_roles": {"add": {"ws-1": ["reader"], "ws-3": ["x"], "ws-4": []}, "remove": {"ws-2": ["x"]}},
    });
    let expected = json!({
        "roles": ["a", "c"],
        "domain_roles": {"ws-1": ["owner", "reader"], "ws-3": ["x"]},
        "properties": {"kept": "k", "new": [1], "readers": ["u1", "u3"], "size": 8, "teams": ["t"]},
    });
    let changed = patch(&tenant, &change);
    let tag = changed.header("etag").map(str::to_owned);
    assert_eq!(changed.json()["source"], "hr", "a change takes nothing over");
    assert_eq!(content(changed), expected);
    let again = patch(&tenant, &change);
    assert_eq!(again.header("etag").map(str::to_owned), tag, "a repeat changes nothing");
    assert_eq!(content(again), expected);
    assert_eq!(content(patch(&tenant, &json!({}))), expected);
    // The last reader goes, and the list stays: `contains` is false then, not undetermined.
    let emptied = content(patch(&tenant, &json!({"remove": {"readers": ["u1", "u3"]}})));
    assert_eq!(emptied["properties"]["readers"], json!([]));
}

#[test]
fn null_is_not_stored_and_removes() {
    let tenant = Tenant::new();
    let body = json!({"properties": {"size": 7, "state": "open", "gone": null}});
    let created = put(&tenant, &body).is(201).json();
    assert_eq!(created["properties"], json!({"size": 7, "state": "open"}));
    let changed = content(patch(&tenant, &json!({"set": {"state": null, "none": null, "new": 1}})));
    assert_eq!(changed["properties"], json!({"size": 7, "new": 1}));
    let listed =
        json!({"entities": [{"type": "document", "id": "plan", "properties": {"size": null}}]});
    tenant.manage("PUT /api/v1/entities", &listed).is(200);
    assert_eq!(content(tenant.get(PLAN))["properties"], json!({}));
    // A repeat changes nothing.
    let again = tenant.manage("PUT /api/v1/entities", &listed).is(200).json();
    assert_eq!((&again["written"], &again["unchanged"]), (&json!(0), &json!(1)));
}

#[test]
fn numbers_of_lists_are_equal_by_value() {
    let tenant = Tenant::new();
    put(&tenant, &json!({"properties": {"codes": [1, "1", 2.5]}})).is(201);
    let body = r#"{"add": {"codes": [1.0, 3e0]}, "remove": {"codes": [25e-1]}}"#;
    let request = tenant.managing(format!("PATCH {PLAN}")).body("application/json", body);
    assert_eq!(content(tenant.send(&request))["properties"]["codes"], json!([1, "1", 3]));
}

#[test]
fn a_faulty_write_of_one_entity_is_a_400_with_its_place() {
    let tenant = Tenant::new();
    tenant.manage("PUT /api/v1/entities/user/ann", &json!({"roles": ["doctor"]})).is(201);
    put(&tenant, &json!({"properties": {"size": 7, "readers": []}})).is(201);
    let many: Vec<String> = (0..101).map(|number| format!("r{number}")).collect();
    let long = "x".repeat(16_384);
    for (route, body, path) in [
        ("PUT /api/v1/entities/user/doctor", json!({}), "/id"),
        ("PUT /api/v1/entities/a:b/x", json!({}), "/type"),
        ("PUT /api/v1/entities/user/bob", json!({"type": "svc"}), "/type"),
        ("PUT /api/v1/entities/user/bob", json!({"id": "ann"}), "/id"),
        ("PUT /api/v1/entities/user/bob", json!({"roles": ["ann"]}), ""),
        ("PUT /api/v1/entities/user/bob", json!({"roles": many}), "/roles"),
        ("PUT /api/v1/entities/user/bob", json!({"properties": {"a": [null]}}), "/properties/a"),
        ("PUT /api/v1/entities/user/bob", json!({"propertis": {}}), ""),
        ("PATCH", json!({"id": "other"}), "/id"),
        ("PATCH", json!({"add": {"size": ["u1"]}}), "/add/size"),
        ("PATCH", json!({"remove": {"size": ["u1"]}}), "/remove/size"),
        ("PATCH", json!({"add": {"readers": [true]}}), "/add/readers/0"),
        (
            "PATCH",
            json!({"add": {"readers": ["a", "b"]}, "remove": {"readers": ["c", "b"]}}),
            "/remove/readers/1",
        ),
        ("PATCH", json!({"set": {"a": 1}, "unset": ["b", "a"]}), "/unset/1"),
        ("PATCH", json!({"set": {"a": null}, "unset": ["b", "a"]}), "/unset/1"),
        ("PATCH", json!({"set": {"a": ["x"]}, "add": {"a": ["y"]}}), "/add/a"),
        ("PATCH", json!({"unset": ["a"], "remove": {"a": ["y"]}}), "/remove/a"),
        ("PATCH", json!({"roles": {"add": ["a"], "remove": ["a"]}}), "/roles/remove/0"),
        (
            "PATCH",
            json!({"domain_roles": {"add": {"w/1": ["a"]}, "remove": {"w/1": ["a"]}}}),
            "/domain_roles/remove/w~11/0",
        ),
        ("PATCH", json!({"roles": {"add": many}}), "/roles/add"),
        ("PATCH", json!({"domain_roles": {"add": {"d": many}}}), "/domain_roles/add/d"),
        ("PATCH", json!({"roles": {"add": ["ann"]}}), ""),
        ("PATCH", json!({"set": {"roles": ["x"]}}), "/set/roles"),
        ("PATCH", json!({"add": {"roles": ["x"]}}), "/add/roles"),
        ("PATCH", json!({"unset": many}), "/unset"),
        ("PATCH", json!({"set": {"a": long}}), ""),
        ("PATCH", json!({"readers": ["u1"]}), ""),
    ] {
        let route = if route == "PATCH" { format!("PATCH {PLAN}") } else { route.to_owned() };
        let refused = tenant.manage(&*route, &body).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.details()["path"], path, "{route} {body}: {}", refused.text);
    }
    let rest = json!({"roles": [], "domain_roles": {}, "properties": {"size": 7, "readers": []}});
    assert_eq!(content(tenant.get(PLAN)), rest);
    let absent = tenant.manage("PATCH /api/v1/entities/document/none", &json!({}));
    absent.refused(404, "NOT_FOUND");
}

#[test]
fn a_write_of_one_entity_keeps_its_precondition() {
    let tenant = Tenant::new();
    let send = |method: &str, headers: &[(&str, &str)]| {
        let mut request = tenant.managing(format!("{method} {PLAN}")).json(&json!({}));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        tenant.send(&request)
    };
    let none = [("if-none-match", "*")];
    for condition in ["*", "\"x\""] {
        send("PUT", &[("if-match", condition)]).refused(412, "PRECONDITION_FAILED");
        send("PATCH", &[("if-match", condition)]).refused(404, "NOT_FOUND");
    }
    send("PATCH", &none).refused(404, "NOT_FOUND");
    let tag = send("PUT", &none).is(201).header("etag").expect("a tag").to_owned();
    for method in ["PUT", "PATCH"] {
        send(method, &none).refused(412, "PRECONDITION_FAILED");
        send(method, &[none[0], ("if-match", "*")]).refused(412, "PRECONDITION_FAILED");
        send(method, &[("if-none-match", &*tag)]).refused(400, "BAD_REQUEST");
        send(method, &[("if-match", "\"x\"")]).refused(412, "PRECONDITION_FAILED");
        send(method, &[("if-match", &*tag)]).is(200);
        send(method, &[("if-match", "*")]).is(200);
    }
}

#[test]
fn a_changed_entity_stays_in_the_sync_that_named_it() {
    let tenant = Tenant::new();
    let sync = |body: Value| super::sync(&tenant, &body).is(200).json();
    sync(json!({"source": "hr", "entities": [user("a"), user("b")], "finish": true}));
    let begun = sync(json!({"source": "hr", "entities": [user("a")]}));
    for id in ["a", "b"] {
        let path = format!("PATCH /api/v1/entities/user/{id}");
        tenant.manage(path, &json!({"set": {"team": "red"}})).is(200);
    }
    let end = sync(json!({"source": "hr", "sync": begun["sync"], "finish": true}));
    assert_eq!((&end["deleted"], super::ids(&tenant, "")), (&json!(1), vec!["a".to_owned()]));
}

/// As many clients as tenants may have requests that wait for their turn to write.
const CLIENTS: usize = 50;
const SHARES: usize = 1_000;

#[test]
fn shares_at_the_same_time_lose_none() {
    let tenant = Tenant::new();
    put(&tenant, &json!({"properties": {"readers": []}})).is(201);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= SHARES {
                        return;
                    }
                    let body = json!({"add": {"readers": [format!("u{number}")]}});
                    // A service that has no room says so, and a client tries again.
                    while patch(&tenant, &body).status == 503 {}
                }
            });
        }
    });
    let shown = content(tenant.get(PLAN));
    let readers = shown["properties"]["readers"].as_array().expect("a list");
    let readers: BTreeSet<&str> = readers.iter().filter_map(Value::as_str).collect();
    assert_eq!(readers.len(), SHARES);
}
