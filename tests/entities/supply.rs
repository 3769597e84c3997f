//! The directory completes checks (`docs/semantics.md`, section 12.5).

use serde_json::{Value, json};

use super::{put, user};
use crate::support::{Reply, Request, Tenant};

/// A tenant with a rule for doctors in its own domain, one for owners of `ws-1`, and a policy about wards.
fn hospital() -> Tenant<'static> {
    let tenant = Tenant::new();
    tenant.rule("doctor", "chart:read", "read", "allow");
    tenant.rule("svc:ci", "chart:scan", "scan", "allow");
    let same_ward = json!({
        "type": "CONDITION", "attribute": "user.ward", "operator": "eq",
        "value": {"attribute": "resource.ward"},
    });
    tenant.policy("same ward", "chart:write", "allow", 1, &same_ward);
    let entities = json!([
        {"type": "user", "id": "ann", "roles": ["doctor"], "properties": {"ward": "er"}},
        {"type": "user", "id": "ben", "domain_roles": {&tenant.name: ["doctor"], "else": ["x"]}},
        {"type": "svc", "id": "ci"},
        {"type": "chart", "id": "c1", "properties": {"ward": "er"}},
        {"type": "x-ray", "id": "c1", "properties": {"ward": "icu"}},
    ]);
    put(&tenant, &entities).is(200);
    tenant
}

fn check(subject: &str, resource: &str, action: &str, attributes: Value) -> Value {
    json!({"subject": subject, "resource": resource, "action": action, "attributes": attributes})
}

#[track_caller]
fn decides(reply: &Reply, expected: &str) {
    assert_eq!(reply.clone().is(200).text_of("decision"), expected, "{}", reply.text);
}

#[test]
fn roles_and_properties_are_supplied() {
    let tenant = hospital();
    for (subject, resource, action, attributes, expected) in [
        ("ann", "chart:read", "read", json!({}), "allow"),
        ("ben", "chart:read", "read", json!({}), "allow"),
        ("eve", "chart:read", "read", json!({}), "deny"),
        ("ann", "chart:read", "read", json!({"user": {"roles": ["nurse"]}}), "deny"),
        ("ann", "chart:read", "read", json!({"user": {"roles": []}}), "deny"),
        ("svc:ci", "chart:scan", "scan", json!({}), "allow"),
        ("ci", "chart:scan", "scan", json!({}), "deny"),
        ("ann", "chart:write", "write", json!({"resource": {"id": "c1"}}), "allow"),
        ("ann", "chart:write", "write", json!({"resource": {"id": "c2"}}), "deny"),
        ("ann", "chart:write", "write", json!({"resource": {"id": "c1", "type": "x-ray"}}), "deny"),
        ("ann", "chart:write", "write", json!({"resource": {"id": "c1", "ward": "icu"}}), "deny"),
        (
            "ann",
            "chart:write",
            "write",
            json!({"user": {"ward": "icu"}, "resource": {"id": "c1"}}),
            "deny",
        ),
        ("ben", "chart:write", "write", json!({"resource": {"id": "c1"}}), "deny"),
    ] {
        let body = check(subject, resource, action, attributes);
        let reply = tenant.check(&body);
        assert_eq!(reply.is(200).text_of("decision"), expected, "{body}");
    }
}

#[test]
fn the_roles_of_a_token_are_those_of_its_subject() {
    let tenant = hospital();
    let body = check("ann", "chart:read", "read", json!({}));
    decides(&tenant.check_by(&tenant.token("ann", &["nurse"]), &body), "deny");
    let body = check("ben", "chart:read", "read", json!({}));
    // Roles in a domain are added: no token has them.
    decides(&tenant.check_by(&tenant.token("ben", &["nurse"]), &body), "allow");
    let legacy = Request::new("POST /api/v1/resources/access/check");
    let legacy = legacy.token(&tenant.token("gateway", &["service"]));
    let body = json!({"subject": "ann", "resource": "chart:read"});
    assert_eq!(tenant.send(&legacy.json(&body)).is(200).json()["allowed"], true);
}

#[test]
fn a_check_sees_each_write_that_was_acknowledged() {
    let tenant = hospital();
    let body = check("eve", "chart:read", "read", json!({}));
    for round in 0..5 {
        decides(&tenant.check(&body), "deny");
        put(&tenant, &json!([{"type": "user", "id": "eve", "roles": ["doctor"]}])).is(200);
        decides(&tenant.check(&body), "allow");
        if round % 2 == 0 {
            put(&tenant, &json!([user("eve")])).is(200);
        } else {
            tenant.delete("/api/v1/entities/user/eve").is(204);
        }
    }
    decides(&tenant.check(&body), "deny");
}

#[test]
fn a_batch_and_an_explanation_use_the_directory() {
    let tenant = hospital();
    let token = tenant.token("gateway", &["service"]);
    let batch = json!({"resource": "chart:read", "action": "read", "checks": [
        {"subject": "ann"}, {"subject": "eve"}, {"subject": "ben"},
    ]});
    let reply =
        tenant.send(&Request::new("POST /api/v1/checks").token(&token).json(&batch)).is(200);
    let decisions: Vec<Value> = reply.json()["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["decision"].clone())
        .collect();
    assert_eq!(decisions, ["allow", "deny", "allow"]);
    let sent = json!({"resource": {"id": "c1"}, "user": {"x": 1}});
    let body = check("ann", "chart:write", "write", sent);
    let explained = tenant.manage("POST /api/v1/check?explain=true", &body).is(200).json();
    let attributes = explained["explanation"]["attributes"].as_array().unwrap().clone();
    let sources: Vec<_> =
        attributes.iter().map(|one| (&one["attribute"], &one["source"])).collect();
    let directory = json!("directory");
    assert_eq!(sources, [(&json!("user.ward"), &directory), (&json!("resource.ward"), &directory)]);
}

#[test]
fn an_explanation_says_where_roles_come_from() {
    let tenant = hospital();
    let doctors = json!({"type": "CONDITION", "attribute": "request.roles", "operator": "contains", "value": "doctor"});
    tenant.policy("doctors", "chart:sign", "allow", 1, &doctors);
    tenant.manage("PUT /api/v1/roles/head", &json!({"includes": ["doctor"]})).is(201);
    for (subject, attributes, source, decision) in [
        ("ann", json!({}), "directory", "allow"),
        ("ann", json!({"user": {"roles": ["head"]}}), "request", "allow"),
        ("eve", json!({"user": {"roles": ["head"]}}), "request", "allow"),
        ("eve", json!({}), "request", "deny"),
    ] {
        let body = check(subject, "chart:sign", "sign", attributes);
        let explained = tenant.manage("POST /api/v1/check?explain=true", &body).is(200).json();
        let roles = &explained["explanation"]["attributes"][0];
        assert_eq!(
            (&roles["attribute"], &roles["source"]),
            (&json!("request.roles"), &json!(source)),
            "{body}"
        );
        assert_eq!(explained["decision"], decision, "{body}");
    }
}

#[test]
fn the_tenant_chooses_what_goes_first() {
    let tenant = hospital();
    let body = check("ann", "chart:read", "read", json!({"user": {"roles": ["nurse"]}}));
    decides(&tenant.check(&body), "deny");
    let apply = |wins: bool| {
        let bundle = json!({"settings": {"directory_wins": wins}});
        let body = json!({"owner": "git:settings", "bundle": bundle, "prune": false});
        tenant.manage("POST /api/v1/apply", &body).is(200);
    };
    apply(true);
    decides(&tenant.check(&body), "allow");
    let token = tenant.token("ann", &["nurse"]);
    decides(&tenant.check_by(&token, &check("ann", "chart:read", "read", json!({}))), "allow");
    apply(false);
    decides(&tenant.check(&body), "deny");
}
