//! `/api/v1/abac/policies`: ABAC policies.

mod datetimes;

use serde_json::{Value, json};

use crate::support::tenant::{always, condition};
use crate::support::{MANAGER, NO_ID, Reply, Request, Tenant, is_timestamp, is_uuid_v7, names};

const POLICIES: &str = "/api/v1/abac/policies";

/// A policy with nothing but what is required.
pub(crate) fn policy() -> Value {
    json!({
        "name": "office hours", "resource": "doc:read", "effect": "deny", "priority": 10,
        "rule_data": always(),
    })
}

pub(crate) fn policy_with(name: &str, value: Value) -> Value {
    let mut policy = policy();
    policy[name] = value;
    policy
}

pub(crate) fn create(tenant: &Tenant<'_>, body: &Value) -> Reply {
    tenant.manage(format!("POST {POLICIES}"), body)
}

pub(crate) fn update(tenant: &Tenant<'_>, id: &str, body: &Value) -> Reply {
    tenant.manage(format!("PUT {POLICIES}/{id}"), body)
}

pub(crate) fn show(tenant: &Tenant<'_>, id: &str) -> Reply {
    tenant.get(&format!("{POLICIES}/{id}"))
}

fn list(tenant: &Tenant<'_>, query: &str) -> Value {
    tenant.get(&format!("{POLICIES}{query}")).is(200).json()
}

#[test]
fn a_policy_is_created_with_a_full_record() {
    let tenant = Tenant::new();
    let reply = create(&tenant, &policy()).is(201);
    let record = reply.json();
    assert_eq!(
        names(&record),
        [
            "created_at",
            "created_by",
            "description",
            "effect",
            "enabled",
            "format",
            "id",
            "managed_by",
            "name",
            "priority",
            "resource",
            "rule_data",
            "tenant_id",
            "updated_at",
            "updated_by"
        ]
    );
    for (name, value) in policy().as_object().unwrap() {
        assert_eq!(record[name], *value, "{name}");
    }
    for (name, expected) in [
        ("tenant_id", json!(tenant.id)),
        ("description", Value::Null),
        ("format", json!("json")),
        ("enabled", json!(true)),
        ("created_by", json!("boss")),
        ("updated_by", Value::Null),
        ("updated_at", Value::Null),
    ] {
        assert_eq!(record[name], expected, "{name}");
    }
    assert!(is_uuid_v7(&reply.id()), "{record}");
    assert!(is_timestamp(&reply.text_of("created_at")), "{record}");
    assert_eq!(reply.revision(), 1);
    assert_eq!(reply.header("location"), Some(&*format!("{POLICIES}/{}", reply.id())));
    show(&tenant, &reply.id()).is(200).has(&record);
    assert_eq!(list(&tenant, ""), json!([record]));
}

#[test]
fn optional_members_may_be_absent_sent_or_null() {
    let tenant = Tenant::new();
    for (name, sent, stored) in [
        ("description", json!("why"), json!("why")),
        ("description", json!(""), json!("")),
        ("description", json!(null), json!(null)),
        ("format", json!("json"), json!("json")),
        ("format", json!(null), json!("json")),
        ("enabled", json!(false), json!(false)),
        ("enabled", json!(null), json!(true)),
        ("effect", json!("allow"), json!("allow")),
        ("priority", json!(0), json!(0)),
        ("priority", json!(-2_147_483_648_i64), json!(-2_147_483_648_i64)),
        ("priority", json!(2_147_483_647), json!(2_147_483_647)),
        ("resource", json!("*"), json!("*")),
        ("resource", json!("doc:*"), json!("doc:*")),
        ("resource", json!("a:b:c"), json!("a:b:c")),
    ] {
        let reply = create(&tenant, &policy_with(name, sent)).is(201);
        assert_eq!(reply.json()[name], stored, "{name}");
        assert_eq!(show(&tenant, &reply.id()).json()[name], stored, "{name}");
    }
}

#[test]
fn every_missing_or_unknown_field_is_named() {
    let tenant = Tenant::new();
    let required = ["name", "resource", "effect", "rule_data", "priority"];
    let missing = |body: &Value| {
        let details = create(&tenant, body).invalid().details();
        let mut missing: Vec<_> = details["missing_fields"].as_array().unwrap().clone();
        missing.sort_by_key(Value::to_string);
        json!(missing)
    };
    assert_eq!(missing(&json!({})), json!(["effect", "name", "priority", "resource", "rule_data"]));
    for name in required {
        assert_eq!(missing(&policy_with(name, Value::Null)), json!([name]), "null is absent");
        let mut body = policy();
        body.as_object_mut().unwrap().remove(name);
        assert_eq!(missing(&body), json!([name]));
    }
    for name in ["efect", "id", "tenant_id", "created_by", "updated_at", "deleted_at", "ruleData"] {
        let details = create(&tenant, &policy_with(name, json!("x"))).invalid().details();
        assert_eq!(details["unknown_fields"], json!([name]));
    }
    assert_eq!(list(&tenant, ""), json!([]));
}

/// A field, and values that it cannot have.
fn bad_fields() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("name", vec![json!(""), json!(1), json!(["x"])]),
        ("description", vec![json!(1), json!({})]),
        ("effect", vec![json!("Allow"), json!("permit"), json!(true), json!("")]),
        ("format", vec![json!("yaml"), json!("JSON"), json!("Casbin"), json!(1), json!("")]),
        ("enabled", vec![json!("true"), json!(1)]),
        (
            "priority",
            vec![
                json!("10"),
                json!(1.5),
                json!(2_147_483_648_i64),
                json!(-2_147_483_649_i64),
                json!(true),
            ],
        ),
        (
            "resource",
            vec![
                json!("doc"),
                json!(""),
                json!("*:read"),
                json!("doc:re*"),
                json!("d oc:x"),
                json!(1),
            ],
        ),
        ("rule_data", vec![json!("x"), json!([]), json!(1), json!(true)]),
    ]
}

#[test]
fn a_field_of_the_wrong_form_is_named_by_its_path() {
    let tenant = Tenant::new();
    let id = create(&tenant, &policy()).is(201).id();
    for (name, values) in bad_fields() {
        for value in values {
            let reply = create(&tenant, &policy_with(name, value.clone())).invalid();
            assert_eq!(reply.details()["path"], format!("/{name}"), "{name}: {value}");
            let reply = update(&tenant, &id, &json!({name: value})).invalid();
            assert_eq!(reply.details()["path"], format!("/{name}"), "{name}: {value}");
        }
    }
    assert_eq!(tenant.decide("alice", "doc:read", "read").revision, 1);
}

#[test]
fn an_update_changes_what_it_says() {
    let tenant = Tenant::new();
    let mut expected = create(&tenant, &policy()).is(201).json();
    let id = expected["id"].as_str().unwrap().to_owned();
    let changes = [
        ("name", json!("new name")),
        ("description", json!("because")),
        ("effect", json!("allow")),
        ("priority", json!(-3)),
        ("enabled", json!(false)),
        ("rule_data", condition("user.x", "eq", 1)),
        ("description", json!(null)),
    ];
    for (number, (name, value)) in changes.into_iter().enumerate() {
        let request = Request::new(format!("PUT {POLICIES}/{id}"))
            .token(&tenant.token("second boss", &[MANAGER]))
            .json(&json!({name: value}));
        let reply = tenant.send(&request).is(200);
        assert_eq!(reply.revision(), 2 + number as u64);
        assert!(is_timestamp(&reply.text_of("updated_at")));
        expected[name] = value;
        expected["updated_by"] = json!("second boss");
        expected["updated_at"] = reply.json()["updated_at"].clone();
        assert_eq!(reply.json(), expected);
        assert_eq!(show(&tenant, &id).json(), expected);
    }
    let several = json!({"name": "last", "enabled": true, "format": "json", "description": "x"});
    let reply = update(&tenant, &id, &several).is(200);
    for (name, value) in several.as_object().unwrap() {
        assert_eq!(reply.json()[name], *value);
    }
}

#[test]
fn an_empty_update_changes_nothing() {
    let tenant = Tenant::new();
    let before = create(&tenant, &policy()).is(201);
    let reply = update(&tenant, &before.id(), &json!({})).is(200);
    assert_eq!(reply.revision(), 1);
    assert_eq!(reply.json(), before.json());
}

#[test]
fn the_resource_of_a_policy_never_changes() {
    let tenant = Tenant::new();
    let id = create(&tenant, &policy()).is(201).id();
    update(&tenant, &id, &json!({"resource": "doc:read", "priority": 1})).is(200);
    for other in ["doc:write", "doc:*", "*"] {
        let reply = update(&tenant, &id, &json!({"resource": other, "priority": 2})).invalid();
        assert_eq!(reply.details()["path"], "/resource");
    }
    let record = show(&tenant, &id).json();
    assert_eq!((&record["resource"], &record["priority"]), (&json!("doc:read"), &json!(1)));
}

#[test]
fn null_clears_the_description_and_nothing_else() {
    let tenant = Tenant::new();
    let id = create(&tenant, &policy_with("description", json!("why"))).is(201).id();
    let reply = update(&tenant, &id, &json!({"description": null})).is(200);
    assert_eq!(reply.json()["description"], Value::Null);
    for name in ["name", "resource", "effect", "format", "rule_data", "priority", "enabled"] {
        let reply = update(&tenant, &id, &json!({name: null})).invalid();
        assert_eq!(reply.details()["path"], format!("/{name}"));
    }
}

#[test]
fn an_update_with_unknown_fields_is_refused() {
    let tenant = Tenant::new();
    let id = create(&tenant, &policy()).is(201).id();
    for name in
        ["id", "tenant_id", "created_by", "created_at", "updated_at", "deleted_at", "enabeld"]
    {
        let details = update(&tenant, &id, &json!({name: "x"})).invalid().details();
        assert_eq!(details["unknown_fields"], json!([name]));
    }
}

#[test]
fn a_deleted_policy_is_gone_for_everybody() {
    let tenant = Tenant::new();
    let id = create(&tenant, &policy()).is(201).id();
    let kept = create(&tenant, &policy_with("name", json!("kept"))).is(201).json();
    let reply = tenant.delete(&format!("{POLICIES}/{id}")).is(204);
    assert_eq!((&*reply.text, reply.revision()), ("", 3));
    show(&tenant, &id).refused(404, "NOT_FOUND");
    update(&tenant, &id, &json!({"enabled": true})).refused(404, "NOT_FOUND");
    tenant.delete(&format!("{POLICIES}/{id}")).refused(404, "NOT_FOUND");
    for query in ["", "?effect=deny", "?resource=doc:read"] {
        assert_eq!(list(&tenant, query), json!([kept]));
    }
    tenant.decide("alice", "doc:read", "read").is("deny", kept["id"].as_str().unwrap());
}

#[test]
fn an_unknown_policy_is_not_found() {
    let tenant = Tenant::new();
    show(&tenant, NO_ID).refused(404, "NOT_FOUND");
    update(&tenant, NO_ID, &json!({"enabled": true})).refused(404, "NOT_FOUND");
    update(&tenant, NO_ID, &json!({})).refused(404, "NOT_FOUND");
    tenant.delete(&format!("{POLICIES}/{NO_ID}")).refused(404, "NOT_FOUND");
}

#[test]
fn a_list_is_filtered_by_resource_effect_and_name() {
    let tenant = Tenant::new();
    let mut all = vec![];
    for resource in ["doc:read", "doc:*", "*", "doc:write"] {
        for effect in ["allow", "deny"] {
            let mut body = policy_with("resource", json!(resource));
            body["effect"] = json!(effect);
            body["name"] = json!(format!("Own {resource} 100%_{effect}"));
            all.push(create(&tenant, &body).is(201).json());
        }
    }
    let of =
        |indices: &[usize]| json!(indices.iter().map(|index| &all[*index]).collect::<Vec<_>>());
    for (query, indices) in [
        ("", &[0, 1, 2, 3, 4, 5, 6, 7][..]),
        ("?effect=allow", &[0, 2, 4, 6]),
        ("?effect=deny", &[1, 3, 5, 7]),
        // Character by character: a pattern is only itself.
        ("?resource=doc:read", &[0, 1]),
        ("?resource=doc%3Aread", &[0, 1]),
        ("?resource=doc:*", &[2, 3]),
        ("?resource=*", &[4, 5]),
        ("?resource=doc:write&effect=deny", &[7]),
        ("?effect=deny&resource=doc:write", &[7]),
        ("?resource=DOC:read", &[]),
        ("?resource=doc:", &[]),
        ("?q=own+DOC:R", &[0, 1]),
        ("?q=100%25_allow&resource=*", &[4]),
        ("?q=_deny&effect=deny", &[1, 3, 5, 7]),
        ("?q=own%25allow", &[]),
        ("?q=", &[0, 1, 2, 3, 4, 5, 6, 7]),
    ] {
        assert_eq!(list(&tenant, query), of(indices), "{query}");
    }
    for effect in ["maybe", "Allow", "", "allow,deny"] {
        tenant.get(&format!("{POLICIES}?effect={effect}")).is(400);
    }
}

#[test]
fn names_need_not_be_unique_and_text_is_kept_as_sent() {
    let tenant = Tenant::new();
    let name = " \u{202e}naïve \"name\" \\ / e\u{301} \u{1f512} ";
    for _ in 0..2 {
        let reply = create(&tenant, &policy_with("name", json!(name))).is(201);
        assert_eq!(show(&tenant, &reply.id()).text_of("name"), name);
    }
    assert_eq!(list(&tenant, "").as_array().unwrap().len(), 2);
}
