//! `POST /api/v1/resources/access/check`: RBAC alone, for the Java client library's interceptor.

use serde_json::{Value, json};

use crate::support::tenant::always;
use crate::support::{Reply, Request, Tenant, names};

fn ask_as(tenant: &Tenant<'_>, token: &str, body: &Value) -> Reply {
    let request = Request::new("POST /api/v1/resources/access/check").token(token);
    tenant.send(&request.json(body))
}

/// Asks as alice, who is an editor.
fn ask(tenant: &Tenant<'_>, body: &Value) -> Reply {
    ask_as(tenant, &tenant.token("alice", &["editor"]), body)
}

#[track_caller]
fn decided(reply: Reply, decision: &str, rule: &str) -> Reply {
    let reply = reply.is(200);
    let body = reply.json();
    assert_eq!(names(&body), ["allowed", "decision", "matched_rule_id", "reason"]);
    assert_eq!(body["allowed"], decision == "allow", "{body}");
    assert_eq!((&body["decision"], &body["matched_rule_id"]), (&json!(decision), &json!(rule)));
    assert!(body["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    reply
}

#[test]
fn the_resource_alone_asks_about_the_caller_and_the_verb() {
    let tenant = Tenant::new();
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let reply = decided(ask(&tenant, &json!({"resource": "doc:read"})), "allow", &rule);
    assert_eq!(reply.revision(), 1);
    decided(ask(&tenant, &json!({"resource": "doc:write"})), "deny", "default-deny");
    let explicit = json!({
        "resource": "doc:read", "action": "read", "subject": "alice", "domain": tenant.name,
    });
    decided(ask(&tenant, &explicit), "allow", &rule);
    let nulls = json!({"resource": "doc:read", "action": null, "subject": null, "domain": null});
    decided(ask(&tenant, &nulls), "allow", &rule);
}

#[test]
fn each_default_can_be_overridden() {
    let tenant = Tenant::new();
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let print = tenant.rule("bob", "doc:read", "print", "deny");
    for (body, decision, id) in [
        (json!({"resource": "doc:read", "action": "print"}), "deny", "default-deny"),
        (json!({"resource": "doc:read", "subject": "bob"}), "deny", "default-deny"),
        (json!({"resource": "doc:read", "subject": "bob", "action": "print"}), "deny", &*print),
        (json!({"resource": "doc:write", "action": "read"}), "deny", "default-deny"),
        (json!({"resource": "doc:read", "action": "read"}), "allow", &*rule),
    ] {
        decided(ask(&tenant, &body), decision, id);
    }
    // The verb is what stands after the last colon.
    let nested = tenant.rule("alice", "doc:v2:read", "read", "allow");
    decided(ask(&tenant, &json!({"resource": "doc:v2:read"})), "allow", &nested);
}

#[test]
fn the_callers_roles_count_for_the_caller_alone() {
    let tenant = Tenant::new();
    let rule = tenant.rule("editor", "doc:write", "write", "allow");
    let body = json!({"resource": "doc:write"});
    decided(ask(&tenant, &body), "allow", &rule);
    decided(ask_as(&tenant, &tenant.token("alice", &["reader"]), &body), "deny", "default-deny");
    let other = json!({"resource": "doc:write", "subject": "bob"});
    decided(ask(&tenant, &other), "deny", "default-deny");
}

#[test]
fn policies_have_no_say() {
    let tenant = Tenant::new();
    tenant.policy("allow all", "*", "allow", 9, &always());
    decided(ask(&tenant, &json!({"resource": "doc:read"})), "deny", "default-deny");
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    tenant.policy("deny all", "*", "deny", 99, &always());
    decided(ask(&tenant, &json!({"resource": "doc:read"})), "allow", &rule);
}

#[test]
fn every_fault_of_the_body_is_named() {
    let tenant = Tenant::new();
    let details = ask(&tenant, &json!({})).invalid().details();
    assert_eq!(details["missing_fields"], json!(["resource"]));
    let details = ask(&tenant, &json!({"resource": "a:b", "attributes": {}})).invalid().details();
    assert_eq!(details["unknown_fields"], json!(["attributes"]));
    for (body, path) in [
        (json!({"resource": "doc"}), "/resource"),
        (json!({"resource": 1}), "/resource"),
        (json!({"resource": "a:b", "action": ""}), "/action"),
        (json!({"resource": "a:b", "action": "x".repeat(129)}), "/action"),
        (json!({"resource": "a:b", "subject": ["alice"]}), "/subject"),
        (json!({"resource": "a:b", "subject": "x".repeat(257)}), "/subject"),
        (json!({"resource": "a:b", "domain": {}}), "/domain"),
    ] {
        assert_eq!(ask(&tenant, &body).invalid().details()["path"], path, "{body}");
    }
}
