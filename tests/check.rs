//! `POST /api/v1/check`: the request, the answer, and what both say about the tenant.

mod abac;
mod explain;
mod freshness;
mod hints;
mod nulls;
mod rbac;

use serde_json::{Value, json};

use crate::support::tenant::Decision;
use crate::support::{Tenant, names};

/// A check that is in order.
fn good() -> Value {
    json!({"subject": "alice", "resource": "doc:read", "action": "read"})
}

/// The check that is in order, with one member replaced or added.
fn with(name: &str, value: impl Into<Value>) -> Value {
    let mut body = good();
    body[name] = value.into();
    body
}

#[test]
fn the_answer_has_three_fields_and_the_revision() {
    let tenant = Tenant::new();
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let reply = tenant.check(&good()).is(200);
    assert_eq!(names(&reply.json()), ["decision", "matched_rule_id", "reason"]);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let decision = Decision::new(&reply);
    decision.is("allow", &rule);
    assert_eq!(decision.revision, 1);
    assert!(decision.reason.contains("alice") && decision.reason.contains("doc:read"));
}

#[test]
fn without_any_rule_the_answer_is_deny() {
    let tenant = Tenant::new();
    let decision = tenant.decide("alice", "doc:read", "read");
    decision.is_default();
    assert_eq!(decision.revision, 0, "a tenant that has never written");
    assert!(!decision.reason.is_empty());
}

#[test]
fn every_missing_field_is_named() {
    let tenant = Tenant::new();
    for (body, missing) in [
        (json!({}), json!(["subject", "resource"])),
        (json!({"subject": "alice"}), json!(["resource"])),
        (
            json!({"subject": null, "resource": null, "action": null}),
            json!(["subject", "resource"]),
        ),
        (json!({"resource": "doc:read", "action": "read"}), json!(["subject"])),
        (json!({"subject": "alice", "action": "read"}), json!(["resource"])),
    ] {
        let details = tenant.check(&body).invalid().details();
        assert_eq!(details["missing_fields"], missing, "{body}");
        assert_eq!(details["unknown_fields"], Value::Null, "{body}");
    }
}

#[test]
fn every_unknown_field_is_named() {
    let tenant = Tenant::new();
    for (body, unknown) in [
        (with("subjekt", "alice"), json!(["subjekt"])),
        (with("Subject", "alice"), json!(["Subject"])),
        (with("context", json!({})), json!(["context"])),
        (with("attributes", json!({"token": {}})), json!(["token"])),
        (with("attributes", json!({"request": {}})), json!(["request"])),
        (with("attributes", json!({"department": "x"})), json!(["department"])),
    ] {
        assert_eq!(tenant.check(&body).invalid().details()["unknown_fields"], unknown, "{body}");
    }
    let body = json!({"subject": "alice", "efect": 1, "action": 1});
    let details = tenant.check(&body).invalid().details();
    assert_eq!(details["missing_fields"], json!(["resource"]), "all problems in one answer");
    assert_eq!(details["unknown_fields"], json!(["efect"]));
}

#[test]
fn a_field_of_the_wrong_form_is_named_by_its_path() {
    let tenant = Tenant::new();
    let long = |length: usize| "ä".repeat(length);
    for (name, value) in [
        ("subject", json!(1)),
        ("subject", json!("")),
        ("subject", json!(["alice"])),
        ("subject", json!(long(257))),
        ("action", json!(true)),
        ("action", json!("")),
        ("action", json!(long(129))),
        ("domain", json!(1)),
        ("domain", json!("")),
        ("attributes", json!([])),
        ("attributes", json!("x")),
        ("resource", json!(1)),
        ("resource", json!("doc")),
        ("resource", json!("")),
        ("resource", json!(":")),
        ("resource", json!(":read")),
        ("resource", json!("doc:")),
        ("resource", json!("d oc:read")),
        ("resource", json!("doc:re\tad")),
        ("resource", json!("doc:read\n")),
        ("resource", json!("doc:\u{2003}read")),
        ("resource", json!("doc\u{7f}:read")),
        ("resource", json!(format!("{}:r", long(255)))),
    ] {
        let body = with(name, value);
        let reply = tenant.check(&body).invalid();
        assert_eq!(reply.details()["path"], format!("/{name}"), "{body}");
        assert_eq!(reply.paths(), [format!("/{name}")], "{body}");
    }
}

#[test]
fn lengths_are_counted_in_characters() {
    let tenant = Tenant::new();
    for (name, value) in [
        ("subject", "ä".repeat(256)),
        ("action", "ä".repeat(128)),
        ("resource", format!("{}:v", "ä".repeat(254))),
        ("resource", "a:b:c:d".to_owned()),
        ("resource", "https://host/path:get".to_owned()),
        ("subject", "with space / and ☃".to_owned()),
    ] {
        tenant.check(&with(name, value)).is(200);
    }
}

#[test]
fn attributes_are_maps_of_plain_values() {
    let tenant = Tenant::new();
    let plain = json!({
        "s": "text", "empty": "", "n": 1, "f": 1.5, "b": true, "l": ["a", "b"], "m": [1, 2], "e": [],
    });
    for attributes in [
        json!({}),
        json!({"user": {}}),
        json!({"resource": {}}),
        json!({"user": plain, "resource": plain, "action": plain, "context": plain}),
    ] {
        tenant.check(&with("attributes", attributes)).is(200);
    }
    for value in [json!({}), json!({"a": 1}), json!([null]), json!([true]), json!([[1]])] {
        for kind in ["user", "resource", "action", "context"] {
            let reply = tenant.check(&with("attributes", json!({kind: {"bad": value}}))).invalid();
            let path = reply.text_of_details("path");
            assert!(path.starts_with(&format!("/attributes/{kind}/bad")), "{value}: {path}");
        }
    }
    for maps in [json!({"user": []}), json!({"user": "x"}), json!({"resource": 1})] {
        tenant.check(&with("attributes", maps)).invalid();
    }
}

#[test]
fn a_path_escapes_what_json_pointers_escape() {
    let tenant = Tenant::new();
    let body = with("attributes", json!({"user": {"a/b~c": [null]}}));
    assert_eq!(tenant.check(&body).invalid().details()["path"], "/attributes/user/a~1b~0c");
}

#[test]
fn the_domain_is_the_callers_unless_the_check_names_it() {
    let tenant = Tenant::new();
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    Decision::new(&tenant.check(&good())).is("allow", &rule);
    Decision::new(&tenant.check(&with("domain", &*tenant.name))).is("allow", &rule);
}

#[test]
fn the_revision_is_that_of_the_latest_write() {
    let tenant = Tenant::new();
    for revision in 1..=5 {
        let rule = json!({"sub": "alice", "obj": format!("doc{revision}:read"), "act": "read", "effect": "allow"});
        let written = tenant.manage("POST /api/v1/resources/policies", &rule).is(201);
        assert_eq!(written.revision(), revision);
        // Also for a resource that no rule is about.
        assert_eq!(tenant.decide("alice", "other:read", "read").revision, revision);
        assert_eq!(tenant.decide("alice", "doc1:read", "read").revision, revision);
    }
}
