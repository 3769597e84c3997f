//! `/api/v1/resources/policies`: RBAC rules.

mod listing;
mod warnings;

use serde_json::{Value, json};

use crate::support::{MANAGER, NO_ID, Reply, Request, Tenant, is_timestamp, is_uuid_v7, names};

const RULES: &str = "/api/v1/resources/policies";

fn rule() -> Value {
    json!({"sub": "alice", "obj": "doc:read", "act": "read", "effect": "allow"})
}

/// The rule with some members replaced or added; `null` removes one.
fn rule_with(changes: &Value) -> Value {
    let mut rule = rule();
    for (name, value) in changes.as_object().unwrap() {
        rule[name] = value.clone();
    }
    rule.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    rule
}

fn create(tenant: &Tenant<'_>, body: &Value) -> Reply {
    tenant.manage(format!("POST {RULES}"), body)
}

fn update(tenant: &Tenant<'_>, body: &Value) -> Reply {
    tenant.manage(format!("PUT {RULES}"), body)
}

fn delete(tenant: &Tenant<'_>, body: &Value) -> Reply {
    tenant.manage(format!("DELETE {RULES}"), body)
}

#[test]
fn a_rule_is_created_with_a_full_record() {
    let tenant = Tenant::new();
    let reply = create(&tenant, &rule()).is(201);
    let record = reply.json();
    assert_eq!(
        names(&record),
        [
            "act",
            "created_at",
            "created_by",
            "dom",
            "effect",
            "id",
            "managed_by",
            "obj",
            "origin",
            "sub",
            "updated_at",
            "updated_by"
        ]
    );
    assert!(is_uuid_v7(&reply.id()), "{record}");
    assert!(is_timestamp(&reply.text_of("created_at")), "{record}");
    for (name, expected) in [
        ("sub", json!("alice")),
        ("dom", json!(tenant.name)),
        ("obj", json!("doc:read")),
        ("act", json!("read")),
        ("effect", json!("allow")),
        ("origin", json!("explicit")),
        ("created_by", json!("boss")),
        ("updated_by", Value::Null),
        ("updated_at", Value::Null),
    ] {
        assert_eq!(record[name], expected, "{name}");
    }
    assert_eq!(reply.revision(), 1);
    let location = reply.header("location").unwrap();
    assert!(location.starts_with('/') && location.contains(&reply.id()), "{location}");
}

#[test]
fn the_same_tuple_again_is_a_conflict() {
    let tenant = Tenant::new();
    let id = create(&tenant, &rule()).is(201).id();
    let same_domain = rule_with(&json!({"dom": tenant.name}));
    for body in [rule(), same_domain, rule_with(&json!({"effect": "deny"}))] {
        create(&tenant, &body).refused(409, "CONFLICT");
    }
    tenant.decide("alice", "doc:read", "read").is("allow", &id);
    for change in ["sub", "obj", "act", "dom"] {
        let body = rule_with(&json!({change: "*"}));
        create(&tenant, &body).is(201);
    }
    assert_eq!(tenant.decide("x", "y:z", "x").revision, 5, "a conflict is no commit");
}

#[test]
fn one_of_simultaneous_creations_of_a_tuple_succeeds() {
    let tenant = Tenant::new();
    let statuses = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| create(&tenant, &rule()).status)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 7, "{statuses:?}");
    assert_eq!(tenant.decide("alice", "doc:read", "read").revision, 1);
}

#[test]
fn every_missing_or_unknown_field_is_named() {
    let tenant = Tenant::new();
    for (body, missing) in [
        (json!({}), json!(["sub", "obj", "act", "effect"])),
        (
            json!({"sub": null, "obj": null, "act": null, "effect": null}),
            json!(["sub", "obj", "act", "effect"]),
        ),
        (rule_with(&json!({"effect": null})), json!(["effect"])),
        (rule_with(&json!({"sub": null})), json!(["sub"])),
        (rule_with(&json!({"obj": null, "act": null})), json!(["obj", "act"])),
    ] {
        let details = create(&tenant, &body).invalid().details();
        assert_eq!(details["missing_fields"], missing, "{body}");
    }
    for name in ["efect", "subject", "id", "origin", "tenant_id", "created_by", "priority"] {
        let details = create(&tenant, &rule_with(&json!({name: "x"}))).invalid().details();
        assert_eq!(details["unknown_fields"], json!([name]));
    }
}

/// Field, value, and whether a rule may have it.
fn field_values() -> Vec<(&'static str, Value, bool)> {
    let long = |length: usize| json!("ä".repeat(length));
    vec![
        ("sub", long(256), true),
        ("sub", long(257), false),
        ("sub", json!(""), false),
        ("sub", json!(1), false),
        ("sub", json!("*"), true),
        ("sub", json!("ali*"), false),
        ("sub", json!("**"), false),
        ("sub", json!("* "), false),
        ("act", long(128), true),
        ("act", long(129), false),
        ("act", json!(""), false),
        ("act", json!("*"), true),
        ("act", json!("re*d"), false),
        ("act", json!(["read"]), false),
        ("dom", json!("*"), true),
        ("dom", json!("x*"), false),
        ("dom", json!(""), false),
        ("dom", json!(5), false),
        ("obj", json!("*"), true),
        ("obj", json!("doc:*"), true),
        ("obj", json!("a:b:c"), true),
        ("obj", json!("a:b:*"), true),
        ("obj", json!(format!("{}:v", "ä".repeat(254))), true),
        ("obj", json!(format!("{}:v", "ä".repeat(255))), false),
        ("obj", json!("doc"), false),
        ("obj", json!(""), false),
        ("obj", json!(":read"), false),
        ("obj", json!("doc:"), false),
        ("obj", json!("do c:read"), false),
        ("obj", json!("*:*"), false),
        ("obj", json!("*:read"), false),
        ("obj", json!("d*c:read"), false),
        ("obj", json!("doc:re*"), false),
        ("obj", json!("doc:**"), false),
        ("obj", json!("**"), false),
        ("obj", json!(true), false),
        ("effect", json!("deny"), true),
        ("effect", json!("Allow"), false),
        ("effect", json!("permit"), false),
        ("effect", json!(""), false),
        ("effect", json!(true), false),
    ]
}

#[test]
fn fields_have_a_form() {
    let tenant = Tenant::new();
    for (number, (name, value, good)) in field_values().into_iter().enumerate() {
        // Another tuple each time, in whatever field is not under test.
        let other = if name == "sub" { "act" } else { "sub" };
        let body = rule_with(&json!({other: format!("n{number}"), name: value}));
        let reply = create(&tenant, &body);
        if good {
            assert_eq!(reply.is(201).json()[name], value);
        } else {
            assert_eq!(reply.invalid().details()["path"], format!("/{name}"), "{body}");
        }
    }
}

#[test]
fn an_update_by_id_checks_the_same_forms() {
    let tenant = Tenant::new();
    for (number, (name, value, good)) in field_values().into_iter().enumerate() {
        let other = if name == "sub" { "act" } else { "sub" };
        let id = create(&tenant, &rule_with(&json!({other: format!("n{number}")}))).is(201).id();
        let body = json!({"id": id, name: value});
        let reply = update(&tenant, &body);
        if good {
            assert_eq!(reply.is(200).json()[name], value);
        } else {
            assert_eq!(reply.invalid().details()["path"], format!("/{name}"), "{body}");
        }
    }
}

#[test]
fn an_update_by_id_changes_any_field() {
    let tenant = Tenant::new();
    let before = create(&tenant, &rule()).is(201).json();
    let changes =
        [("sub", "bob"), ("obj", "doc:*"), ("act", "*"), ("dom", "*"), ("effect", "deny")];
    let mut expected = before.clone();
    for (number, (name, value)) in changes.into_iter().enumerate() {
        let request = Request::new(format!("PUT {RULES}"))
            .token(&tenant.token("second boss", &[MANAGER]))
            .json(&json!({"id": before["id"], name: value}));
        let reply = tenant.send(&request).is(200);
        let record = reply.json();
        assert_eq!(reply.revision(), 2 + number as u64);
        assert!(is_timestamp(&reply.text_of("updated_at")));
        expected[name] = json!(value);
        expected["updated_at"] = record["updated_at"].clone();
        expected["updated_by"] = json!("second boss");
        assert_eq!(record, expected);
    }
    let rule = tenant.decide("bob", "doc:x", "anything").rule;
    assert_eq!(json!(rule), before["id"]);
}

#[test]
fn an_update_by_tuple_changes_the_effect() {
    let tenant = Tenant::new();
    let id = create(&tenant, &rule()).is(201).id();
    let reply = update(&tenant, &rule_with(&json!({"effect": "deny"}))).is(200);
    assert_eq!((reply.id(), reply.text_of("effect")), (id.clone(), "deny".to_owned()));
    assert_eq!((reply.revision(), reply.text_of("updated_by")), (2, "boss".to_owned()));
    let named = rule_with(&json!({"dom": tenant.name}));
    assert_eq!(update(&tenant, &named).is(200).text_of("effect"), "allow");
    for other in
        [json!({"sub": "bob"}), json!({"obj": "doc:*"}), json!({"act": "*"}), json!({"dom": "*"})]
    {
        update(&tenant, &rule_with(&other)).refused(404, "NOT_FOUND");
    }
    tenant.decide("alice", "doc:read", "read").is("allow", &id);
}

#[test]
fn an_update_of_nothing_is_refused() {
    let tenant = Tenant::new();
    update(&tenant, &rule()).refused(404, "NOT_FOUND");
    update(&tenant, &json!({"id": NO_ID, "effect": "deny"})).refused(404, "NOT_FOUND");
    let details = update(&tenant, &json!({})).invalid().details();
    assert_eq!(details["missing_fields"], json!(["sub", "obj", "act", "effect"]));
    for id in [json!("x"), json!(1), json!("")] {
        update(&tenant, &json!({"id": id, "effect": "deny"})).invalid();
    }
}

#[test]
fn an_update_onto_a_tuple_that_exists_is_a_conflict() {
    let tenant = Tenant::new();
    let id = create(&tenant, &rule()).is(201).id();
    create(&tenant, &rule_with(&json!({"sub": "bob", "effect": "deny"}))).is(201);
    update(&tenant, &json!({"id": id, "sub": "bob"})).refused(409, "CONFLICT");
    tenant.decide("alice", "doc:read", "read").is("allow", &id);
    // Its own tuple is no conflict.
    update(&tenant, &json!({"id": id, "sub": "alice", "effect": "deny"})).is(200);
}

#[test]
fn null_is_refused_in_an_update() {
    let tenant = Tenant::new();
    let id = create(&tenant, &rule()).is(201).id();
    for name in ["sub", "dom", "obj", "act", "effect"] {
        let reply = update(&tenant, &json!({"id": id, name: null})).invalid();
        assert_eq!(reply.details()["path"], format!("/{name}"));
    }
    let mut body = rule();
    body["id"] = Value::Null;
    update(&tenant, &body).invalid();
}

#[test]
fn null_is_refused_in_an_update_by_tuple_too() {
    let tenant = Tenant::new();
    create(&tenant, &rule()).is(201);
    let mut body = rule();
    body["dom"] = Value::Null;
    update(&tenant, &body).invalid();
}

#[test]
fn an_empty_update_changes_nothing() {
    let tenant = Tenant::new();
    let before = create(&tenant, &rule()).is(201).json();
    let reply = update(&tenant, &json!({"id": before["id"]})).is(200);
    assert_eq!(reply.revision(), 1);
    assert_eq!(reply.json(), before);
}

#[test]
fn an_update_with_unknown_fields_is_refused() {
    let tenant = Tenant::new();
    let id = create(&tenant, &rule()).is(201).id();
    for name in ["efect", "origin", "created_by", "tenant_id"] {
        let by_id = json!({"id": id, name: "deny"});
        for body in [by_id, rule_with(&json!({name: "deny"}))] {
            let details = update(&tenant, &body).invalid().details();
            assert_eq!(details["unknown_fields"], json!([name]));
        }
    }
}

#[test]
fn a_rule_is_deleted_by_id_by_tuple_or_by_query() {
    let tenant = Tenant::new();
    let tuple = json!({"sub": "alice", "obj": "doc:read", "act": "read"});
    let by_id = |id: &str| delete(&tenant, &json!({"id": id}));
    let by_tuple = |_: &str| delete(&tenant, &tuple);
    let by_query = |id: &str| tenant.delete(&format!("{RULES}?id={id}"));
    let ways: [&dyn Fn(&str) -> Reply; 3] = [&by_id, &by_tuple, &by_query];
    for (number, way) in ways.into_iter().enumerate() {
        let id = create(&tenant, &rule()).is(201).id();
        let reply = way(&id).is(204);
        assert_eq!(reply.text, "");
        assert_eq!(reply.revision(), 2 * (number as u64 + 1));
        tenant.decide("alice", "doc:read", "read").is_default();
        way(&id).refused(404, "NOT_FOUND");
    }
    let id = create(&tenant, &rule()).is(201).id();
    for other in ["sub", "obj", "act", "dom"] {
        let mut body = tuple.clone();
        body[other] = json!("*");
        delete(&tenant, &body).refused(404, "NOT_FOUND");
    }
    by_id(NO_ID).refused(404, "NOT_FOUND");
    tenant.decide("alice", "doc:read", "read").is("allow", &id);
}

#[test]
fn a_deletion_names_one_rule() {
    let tenant = Tenant::new();
    let id = create(&tenant, &rule()).is(201).id();
    let mut both = rule();
    both["id"] = json!(id);
    delete(&tenant, &both).is(400);
    delete(&tenant, &json!({"id": id, "sub": "alice"})).is(400);
    tenant.manage(format!("DELETE {RULES}?id={id}"), &json!({"id": id})).is(400);
    for body in
        [json!({}), json!({"sub": "alice"}), json!({"id": "x"}), json!({"id": 1}), json!([])]
    {
        delete(&tenant, &body).invalid();
    }
    tenant.delete(RULES).refused(400, "BAD_REQUEST");
    delete(&tenant, &json!({"id": id, "force": true})).invalid();
    tenant.decide("alice", "doc:read", "read").is("allow", &id);
}

#[test]
fn every_commit_raises_the_revision_by_one() {
    let tenant = Tenant::new();
    let create =
        |number: usize| create(&tenant, &rule_with(&json!({"sub": format!("user-{number}")})));
    let mut revisions = std::thread::scope(|scope| {
        let writer = |start: usize| {
            move || (start..start + 10).map(|n| create(n).is(201).revision()).collect::<Vec<_>>()
        };
        let writers: Vec<_> = (0..4).map(|n| scope.spawn(writer(n * 10))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    revisions.sort_unstable();
    assert_eq!(revisions, (1..=40).collect::<Vec<_>>());
}
