//! Proposals: a second manager approves what the first one applies (`docs/semantics.md`, section 10.10).

use serde_json::{Value, json};

use super::{OWNER, apply};
use crate::support::{ALL_PERMISSIONS, MANAGER, NO_ID, Reply, Request, Tenant};

/// A bundle that lets `sub` read.
fn reader(sub: &str) -> Value {
    json!({"rules": [{"sub": sub, "obj": "doc:read", "act": "read", "effect": "allow"}]})
}

/// A tenant with the gate `approval`.
fn gated() -> Tenant<'static> {
    let tenant = Tenant::new();
    apply(&tenant, "boss", &json!({"settings": {"gates": {"approval": true}}})).is(200);
    tenant
}

/// Proposes `bundle` as the manager `who`, and gives the id of the proposal.
#[track_caller]
fn propose(tenant: &Tenant<'_>, who: &str, bundle: &Value) -> String {
    let reply = apply(tenant, who, bundle).is(202);
    let proposal = reply.json()["proposal"].clone();
    assert_eq!((&proposal["state"], &proposal["owner"]), (&json!("open"), &json!(OWNER)));
    proposal["id"].as_str().expect("an id").to_owned()
}

/// Approves or rejects a proposal as the manager `who`.
fn decide(tenant: &Tenant<'_>, who: &str, verb: &str, id: &str) -> Reply {
    let token = tenant.token(who, &[MANAGER]);
    tenant.send(&Request::new(format!("POST /api/v1/proposals/{id}/{verb}")).token(&token))
}

#[test]
fn a_second_manager_approves_once() {
    let tenant = gated();
    let id = propose(&tenant, "zoe", &reader("eve"));
    tenant.decide("eve", "doc:read", "read").is_default();
    decide(&tenant, "zoe", "approve", &id).refused(403, "ACCESS_DENIED");
    tenant.decide("eve", "doc:read", "read").is_default();
    let applied = decide(&tenant, "boss", "approve", &id).is(200).json();
    assert_eq!((&applied["applied"], &applied["counts"]["create"]), (&json!(true), &json!(1)));
    assert!(tenant.decide("eve", "doc:read", "read").allowed());
    decide(&tenant, "boss", "approve", &id).refused(409, "CONFLICT");
    decide(&tenant, "boss", "reject", &id).refused(409, "CONFLICT");
    let shown = tenant.get(&format!("/api/v1/proposals/{id}")).is(200).json();
    assert_eq!(
        (&shown["state"], &shown["proposed_by"], &shown["decided_by"]),
        (&json!("approved"), &json!("zoe"), &json!("boss"))
    );
    let listed = tenant.get("/api/v1/proposals").is(200).json();
    assert_eq!(listed, json!([shown]));
}

#[test]
fn no_key_approves_and_nobody_approves_what_their_key_proposed() {
    let tenant = gated();
    let key = json!({"name": "ci", "permissions": *ALL_PERMISSIONS});
    let key = tenant.manage("POST /api/v1/service-api-keys", &key).is(201).text_of("key");
    let by_key = |route: String| Request::new(route).header("x-service-api-key", &key);
    let mut body = json!({"owner": OWNER, "bundle": reader("eve")});
    // Without a domain, a key means another one in `saas` mode.
    body["bundle"]["rules"][0]["dom"] = json!(tenant.name);
    let proposed = tenant.send(&by_key("POST /api/v1/apply".to_owned()).json(&body)).is(202).json();
    let id = proposed["proposal"]["id"].as_str().expect("an id").to_owned();
    let approve = format!("POST /api/v1/proposals/{id}/approve");
    tenant.send(&by_key(approve)).refused(401, "UNAUTHENTICATED");
    // `boss` made the key.
    decide(&tenant, "boss", "approve", &id).refused(403, "ACCESS_DENIED");
    tenant.decide("eve", "doc:read", "read").is_default();
    decide(&tenant, "zoe", "approve", &id).is(200);
    assert!(tenant.decide("eve", "doc:read", "read").allowed());
}

#[test]
fn an_approval_is_of_the_content_that_was_seen() {
    let tenant = gated();
    let mut stricter = reader("eve");
    stricter["rules"][0]["effect"] = json!("deny");
    let first = propose(&tenant, "zoe", &stricter);
    let second = propose(&tenant, "zoe", &reader("eve"));
    decide(&tenant, "boss", "approve", &first).is(200);
    decide(&tenant, "boss", "approve", &second).refused(409, "PLAN_STALE");
    assert!(!tenant.decide("eve", "doc:read", "read").allowed());
    let shown = tenant.get(&format!("/api/v1/proposals/{second}")).is(200);
    assert_eq!(shown.text_of("state"), "open");
}

#[test]
fn a_condition_behind_a_proposal_does_not_change_unseen() {
    let tenant = Tenant::new();
    let condition = "PUT /api/v1/conditions/oncall";
    tenant.manage(condition, &json!({"when": "user.q == \"reviewed\""})).is(201);
    tenant.manage("PUT /api/v1/conditions/nested", &json!({"when": "condition.oncall"})).is(201);
    apply(&tenant, "boss", &json!({"settings": {"gates": {"approval": true}}})).is(200);
    let policy = json!({"name": "on call", "resource": "doc:read", "effect": "allow", "priority": 1,
        "when": "condition.nested"});
    let first = propose(&tenant, "zoe", &json!({"policies": [policy]}));
    // No policy uses it yet.
    let other = json!({"when": "user.q == \"evil\""});
    tenant.manage(condition, &other).refused(409, "APPROVAL_REQUIRED");
    tenant.delete("/api/v1/conditions/nested").refused(409, "APPROVAL_REQUIRED");
    let second = json!({"name": "oncall", "when": other["when"]});
    let second = propose(&tenant, "zoe", &json!({"conditions": [second]}));
    decide(&tenant, "boss", "approve", &second).is(200);
    decide(&tenant, "boss", "approve", &first).refused(409, "PLAN_STALE");
}

#[test]
fn a_rejected_proposal_is_gone() {
    let tenant = gated();
    let id = propose(&tenant, "zoe", &reader("eve"));
    // The proposer may take it back.
    assert_eq!(decide(&tenant, "zoe", "reject", &id).is(200).text_of("state"), "rejected");
    decide(&tenant, "boss", "approve", &id).refused(409, "CONFLICT");
    tenant.decide("eve", "doc:read", "read").is_default();
    for verb in ["approve", "reject"] {
        decide(&tenant, "boss", verb, NO_ID).refused(404, "NOT_FOUND");
    }
}

#[test]
fn the_gate_opens_with_approval_and_then_nobody_is_asked() {
    let tenant = gated();
    let id = propose(&tenant, "zoe", &json!({"settings": {"gates": {}}}));
    apply(&tenant, "zoe", &reader("eve")).is(202);
    decide(&tenant, "boss", "approve", &id).is(200);
    apply(&tenant, "zoe", &reader("eve")).is(200);
    assert!(tenant.decide("eve", "doc:read", "read").allowed());
}

#[test]
fn an_apply_that_changes_nothing_makes_no_proposal() {
    let tenant = gated();
    let same = json!({"settings": {"gates": {"approval": true}}});
    apply(&tenant, "zoe", &same).is(200);
    assert_eq!(tenant.get("/api/v1/proposals").is(200).json(), json!([]));
}

#[test]
fn cases_that_fail_make_no_proposal() {
    let tenant = Tenant::new();
    let case = json!({
        "name": "eve does not read",
        "check": {"subject": "eve", "resource": "doc:read", "action": "read"},
        "expect": {"decision": "deny", "rule": "default-deny"},
    });
    let gates = json!({"cases": true, "approval": true});
    apply(&tenant, "boss", &json!({"cases": [case], "settings": {"gates": gates}})).is(200);
    apply(&tenant, "zoe", &reader("eve")).refused(422, "CASES_FAILED");
    propose(&tenant, "zoe", &reader("bob"));
}
