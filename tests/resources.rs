//! `/api/v1/resources`: the registry of resources, and the rules of their default roles.

mod default_roles;
mod deletion;

use serde_json::{Value, json};

use crate::support::{NO_ID, Reply, Tenant, is_timestamp, is_uuid_v7, names};

fn register(tenant: &Tenant<'_>, body: &Value) -> Reply {
    tenant.manage("POST /api/v1/resources", body)
}

fn register_all(tenant: &Tenant<'_>, body: &Value) -> Reply {
    tenant.manage("POST /api/v1/resources/list", body)
}

fn list(tenant: &Tenant<'_>) -> Vec<Value> {
    tenant.get("/api/v1/resources").is(200).json().as_array().unwrap().clone()
}

fn full() -> Value {
    json!({
        "name": "doc:read", "displayName": "Read a document", "serviceName": "docs",
        "defaultRoles": ["reader", "editor"],
    })
}

#[test]
fn a_registration_creates_a_full_record() {
    let tenant = Tenant::new();
    let reply = register(&tenant, &full()).is(201);
    let record = reply.json();
    assert_eq!(
        names(&record),
        [
            "created_at",
            "defaultRoles",
            "displayName",
            "id",
            "managed_by",
            "name",
            "serviceName",
            "tenant_id",
            "updated_at"
        ]
    );
    for (name, value) in full().as_object().unwrap() {
        assert_eq!(record[name], *value);
    }
    assert!(is_uuid_v7(&reply.id()), "{record}");
    assert!(is_timestamp(&reply.text_of("created_at")), "{record}");
    assert_eq!((&record["tenant_id"], &record["updated_at"]), (&json!(tenant.id), &Value::Null));
    assert_eq!(reply.revision(), 1);
    let location = reply.header("location").unwrap();
    assert!(location.starts_with('/') && location.contains(&reply.id()), "{location}");
    assert_eq!(list(&tenant), [record]);
}

#[test]
fn only_the_name_is_required() {
    let tenant = Tenant::new();
    for body in [
        json!({"name": "doc:read"}),
        json!({"name": "doc:list", "displayName": null, "serviceName": null, "defaultRoles": null}),
        json!({"name": "doc:write", "defaultRoles": []}),
    ] {
        let record = register(&tenant, &body).is(201).json();
        for (name, value) in [
            ("displayName", json!(null)),
            ("serviceName", json!(null)),
            ("defaultRoles", json!([])),
        ] {
            assert_eq!(record[name], value, "{body}");
        }
    }
}

#[test]
fn a_registration_by_the_same_name_replaces_the_record() {
    let tenant = Tenant::new();
    let before = register(&tenant, &full()).is(201).json();
    let reply = register(&tenant, &json!({"name": "doc:read", "serviceName": "other"})).is(200);
    let after = reply.json();
    assert_eq!(reply.revision(), 2);
    assert_eq!(reply.header("location"), None);
    for name in ["id", "name", "tenant_id", "created_at"] {
        assert_eq!(after[name], before[name], "{name}");
    }
    // What it leaves out becomes null or empty.
    assert_eq!(after["displayName"], Value::Null);
    assert_eq!(after["serviceName"], "other");
    assert_eq!(after["defaultRoles"], json!([]));
    assert!(is_timestamp(&reply.text_of("updated_at")));
    assert_eq!(list(&tenant), [after]);
}

#[test]
fn one_of_simultaneous_registrations_of_a_name_creates() {
    let tenant = Tenant::new();
    let replies = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| register(&tenant, &full()))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let created = replies.iter().filter(|reply| reply.status == 201).count();
    assert_eq!(created, 1);
    assert!(replies.iter().all(|reply| reply.id() == replies[0].id()));
    assert_eq!(list(&tenant).len(), 1);
}

/// A registration, and the path of what is wrong with it, or the field that is missing or unknown.
fn bad_registrations() -> Vec<(Value, &'static str)> {
    let name = |name: &str| json!({"name": name});
    vec![
        (name(""), "/name"),
        (name("doc"), "/name"),
        (name(":read"), "/name"),
        (name("doc:"), "/name"),
        (name("d oc:read"), "/name"),
        (name("doc:re\u{a0}ad"), "/name"),
        (name("doc:\u{1}"), "/name"),
        (json!({"name": format!("{}:v", "ä".repeat(255))}), "/name"),
        (json!({"name": 1}), "/name"),
        (json!({"name": "a:b", "displayName": 1}), "/displayName"),
        (json!({"name": "a:b", "serviceName": ["x"]}), "/serviceName"),
        (json!({"name": "a:b", "defaultRoles": "reader"}), "/defaultRoles"),
        (json!({"name": "a:b", "defaultRoles": ["reader", 1]}), "/defaultRoles/1"),
        (json!({"name": "a:b", "defaultRoles": ["reader", ""]}), "/defaultRoles/1"),
        (json!({"name": "a:b", "defaultRoles": [null]}), "/defaultRoles/0"),
        (json!({"name": "a:b", "defaultRoles": ["re*"]}), "/defaultRoles/0"),
        (json!({"name": "a:b", "defaultRoles": ["x".repeat(257)]}), "/defaultRoles/0"),
    ]
}

#[test]
fn a_registration_names_what_is_wrong() {
    let tenant = Tenant::new();
    for (body, path) in bad_registrations() {
        assert_eq!(register(&tenant, &body).invalid().details()["path"], path, "{body}");
    }
    let details = register(&tenant, &json!({"displayName": "x"})).invalid().details();
    assert_eq!(details["missing_fields"], json!(["name"]));
    for name in ["display_name", "id", "roles", "tenant_id", "created_at"] {
        let details = register(&tenant, &json!({"name": "a:b", name: "x"})).invalid().details();
        assert_eq!(details["unknown_fields"], json!([name]));
    }
    assert_eq!(list(&tenant), Vec::<Value>::new());
}

#[test]
fn a_bulk_registration_answers_in_order() {
    let tenant = Tenant::new();
    let old = register(&tenant, &json!({"name": "b:x", "serviceName": "old"})).is(201);
    let registrations = json!([
        {"name": "c:x"}, {"name": "b:x", "serviceName": "new"}, {"name": "a:x", "defaultRoles": ["reader"]},
    ]);
    let reply = register_all(&tenant, &registrations).is(200);
    let records = reply.json();
    let of = |index: usize, name: &str| records[index][name].clone();
    assert_eq!(
        [0, 1, 2].map(|index| of(index, "name")),
        [json!("c:x"), json!("b:x"), json!("a:x")]
    );
    assert_eq!((of(1, "id"), of(1, "serviceName")), (json!(old.id()), json!("new")));
    assert_eq!(of(0, "updated_at"), Value::Null);
    assert_ne!(of(1, "updated_at"), Value::Null);
    assert_eq!(reply.revision(), 2, "one commit raises the revision by one, whatever it holds");
    // Lists are in order of creation.
    assert_eq!(list(&tenant), [of_all(&records, 1), of_all(&records, 0), of_all(&records, 2)]);
}

fn of_all(records: &Value, index: usize) -> Value {
    records[index].clone()
}

#[test]
fn a_bulk_registration_is_an_array_or_an_object_with_one() {
    let tenant = Tenant::new();
    let one = json!([{"name": "doc:read"}]);
    assert_eq!(register_all(&tenant, &one).is(200).json().as_array().unwrap().len(), 1);
    let object = json!({"resources": [{"name": "doc:read"}, {"name": "doc:write"}]});
    assert_eq!(register_all(&tenant, &object).is(200).json().as_array().unwrap().len(), 2);
    for empty in [json!([]), json!({"resources": []})] {
        register_all(&tenant, &empty).is(200).has(&json!([]));
    }
    let details = register_all(&tenant, &json!({})).invalid().details();
    assert_eq!(details["missing_fields"], json!(["resources"]));
    let unknown = json!({"resources": [], "resource": []});
    let details = register_all(&tenant, &unknown).invalid().details();
    assert_eq!(details["unknown_fields"], json!(["resource"]));
    for body in
        [json!({"resources": {}}), json!({"resources": null}), json!("x"), json!({"name": "a:b"})]
    {
        register_all(&tenant, &body).invalid();
    }
}

#[test]
fn one_bad_registration_refuses_them_all_and_each_is_named() {
    let tenant = Tenant::new();
    let body = json!([
        {"name": "good:x"},
        {"name": "bad"},
        {"name": "good:y", "serviceName": 1},
        {"displayName": "x"},
        {"name": "good:z", "dispalyName": "x"},
        "nonsense",
    ]);
    for (body, at) in [(body.clone(), ""), (json!({"resources": body}), "/resources")] {
        let reply = register_all(&tenant, &body).invalid();
        let paths = reply.paths();
        for path in ["/1/name", "/2/serviceName", "/3", "/4", "/5"] {
            assert!(paths.contains(&format!("{at}{path}")), "{path} is not in {paths:?}");
        }
        assert!(!paths.iter().any(|path| path.starts_with(&format!("{at}/0"))), "{paths:?}");
        assert_eq!(reply.details()["missing_fields"], json!(["name"]));
        assert_eq!(reply.details()["unknown_fields"], json!(["dispalyName"]));
    }
    for (bad, path) in bad_registrations() {
        let reply = register_all(&tenant, &json!([{"name": "good:x"}, bad])).invalid();
        assert_eq!(reply.details()["path"], format!("/1{path}"), "{bad}");
    }
    assert_eq!(list(&tenant), Vec::<Value>::new());
    assert_eq!(tenant.decide("alice", "good:x", "x").revision, 0);
}

#[test]
fn the_same_name_twice_in_one_call_is_refused() {
    let tenant = Tenant::new();
    let body = json!([{"name": "a:b"}, {"name": "c:d"}, {"name": "a:b", "serviceName": "x"}]);
    let reply = register_all(&tenant, &body).invalid();
    assert!(reply.text_of_details("path").starts_with("/2"), "{}", reply.text);
    // Names are compared character by character.
    let body =
        json!([{"name": "a:b"}, {"name": "A:b"}, {"name": "\u{e9}:b"}, {"name": "e\u{301}:b"}]);
    register_all(&tenant, &body).is(200);
    assert_eq!(list(&tenant).len(), 4);
}

#[test]
fn a_bulk_registration_has_at_most_a_thousand() {
    let tenant = Tenant::new();
    let many = |count: usize| {
        let names = (0..count).map(|number| json!({"name": format!("r{number}:read")}));
        names.collect::<Value>()
    };
    register_all(&tenant, &many(1_001)).invalid();
    assert_eq!(list(&tenant), Vec::<Value>::new());
    let reply = register_all(&tenant, &many(1_000)).is(200);
    assert_eq!(reply.revision(), 1);
    let listed = list(&tenant);
    assert_eq!(json!(listed), reply.json());
    assert_eq!(listed[999]["name"], "r999:read");
}

#[test]
fn the_rules_of_a_resource_are_all_that_can_match_it() {
    let tenant = Tenant::new();
    let resource = tenant.resource("doc:v2:read");
    let matching =
        ["doc:v2:read", "*", "doc:v2:*"].map(|obj| tenant.rule("alice", obj, "read", "deny"));
    for obj in ["doc:read", "doc:*", "doc:v2:write", "docs:v2:read", "doc:v2:read:x"] {
        tenant.rule("alice", obj, "read", "allow");
    }
    let reply = tenant.get(&format!("/api/v1/resources/{resource}/policies")).is(200);
    let listed = reply.json();
    let ids: Vec<_> = listed.as_array().unwrap().iter().map(|rule| rule["id"].clone()).collect();
    assert_eq!(json!(ids), json!(matching), "in order of creation");
    let rule =
        json!({"sub": "bob", "dom": "*", "obj": "doc:v2:read", "act": "read", "effect": "allow"});
    let created = tenant.manage("POST /api/v1/resources/policies", &rule).is(201);
    let reply = tenant.get(&format!("/api/v1/resources/{resource}/policies"));
    assert_eq!(reply.json()[3], created.json(), "the same record");
}

#[test]
fn a_resource_without_rules_has_an_empty_list_and_an_unknown_one_none() {
    let tenant = Tenant::new();
    let resource = tenant.resource("doc:read");
    tenant.get(&format!("/api/v1/resources/{resource}/policies")).is(200).has(&json!([]));
    tenant.get(&format!("/api/v1/resources/{NO_ID}/policies")).refused(404, "NOT_FOUND");
    tenant.get("/api/v1/resources/doc:read/policies").refused(404, "NOT_FOUND");
}

#[test]
fn a_check_needs_no_registered_resource() {
    let tenant = Tenant::new();
    let rule = tenant.rule("alice", "unregistered:read", "read", "allow");
    tenant.decide("alice", "unregistered:read", "read").is("allow", &rule);
}
