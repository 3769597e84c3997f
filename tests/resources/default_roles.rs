//! `defaultRoles`: only the difference to what was registered before makes and removes rules.

use serde_json::{Value, json};

use super::register;
use crate::support::Tenant;
use crate::support::tenant::Decision;

const RULES: &str = "/api/v1/resources/policies";

/// Registers `doc:read` with these default roles.
#[track_caller]
fn with_roles(tenant: &Tenant<'_>, roles: &[&str]) -> Value {
    let reply = register(tenant, &json!({"name": "doc:read", "defaultRoles": roles}));
    assert!(matches!(reply.status, 200 | 201), "{}", reply.text);
    reply.json()
}

/// Every rule of `doc:read` as `(sub, effect, origin)`.
fn rules(tenant: &Tenant<'_>) -> Vec<(String, String, String)> {
    let resources = tenant.get("/api/v1/resources").is(200).json();
    let find = |resource: &&Value| resource["name"] == "doc:read";
    let id = resources.as_array().unwrap().iter().find(find).unwrap()["id"].clone();
    let path = format!("/api/v1/resources/{}/policies", id.as_str().unwrap());
    let text = |rule: &Value, name: &str| rule[name].as_str().unwrap().to_owned();
    let row = |rule: &Value| (text(rule, "sub"), text(rule, "effect"), text(rule, "origin"));
    tenant.get(&path).is(200).json().as_array().unwrap().iter().map(row).collect()
}

#[track_caller]
fn has_rules(tenant: &Tenant<'_>, expected: &[(&str, &str, &str)]) {
    let rules = rules(tenant);
    let rules: Vec<_> =
        rules.iter().map(|(sub, effect, origin)| (&**sub, &**effect, &**origin)).collect();
    assert_eq!(rules, expected);
}

const READER: (&str, &str, &str) = ("reader", "allow", "default_role");
const EDITOR: (&str, &str, &str) = ("editor", "allow", "default_role");

#[test]
fn a_default_role_makes_an_allow_rule_for_the_verb() {
    let tenant = Tenant::new();
    with_roles(&tenant, &["reader", "editor"]);
    has_rules(&tenant, &[READER, EDITOR]);
    for (role, action, allowed) in [
        ("reader", "read", true),
        ("editor", "read", true),
        ("reader", "write", false),
        ("x", "read", false),
    ] {
        let body = json!({
            "subject": "bob", "resource": "doc:read", "action": action,
            "attributes": {"user": {"roles": [role]}},
        });
        assert_eq!(Decision::new(&tenant.check(&body)).allowed(), allowed, "{role} {action}");
    }
    let found = tenant.get("/api/v1/resources").json()[0]["id"].as_str().unwrap().to_owned();
    let rule = tenant.get(&format!("/api/v1/resources/{found}/policies")).json()[0].clone();
    assert_eq!((&rule["dom"], &rule["act"]), (&json!(tenant.name), &json!("read")));
    assert_eq!(rule["created_by"], "boss");
}

#[test]
fn a_role_twice_counts_once() {
    let tenant = Tenant::new();
    let record = with_roles(&tenant, &["reader", "editor", "reader"]);
    assert_eq!(record["defaultRoles"], json!(["reader", "editor"]));
    has_rules(&tenant, &[READER, EDITOR]);
}

#[test]
fn the_same_registration_again_changes_no_rule() {
    let tenant = Tenant::new();
    with_roles(&tenant, &["reader", "editor"]);
    let before = rules(&tenant);
    for roles in [["reader", "editor"], ["editor", "reader"]] {
        with_roles(&tenant, &roles);
        assert_eq!(rules(&tenant), before);
    }
}

#[test]
fn a_role_that_is_no_longer_listed_loses_its_rule() {
    let tenant = Tenant::new();
    with_roles(&tenant, &["reader", "editor"]);
    with_roles(&tenant, &["editor"]);
    has_rules(&tenant, &[EDITOR]);
    register(&tenant, &json!({"name": "doc:read"})).is(200);
    has_rules(&tenant, &[]);
    with_roles(&tenant, &["reader"]);
    has_rules(&tenant, &[READER]);
}

#[test]
fn registering_again_does_not_resurrect_a_removed_rule() {
    let tenant = Tenant::new();
    with_roles(&tenant, &["reader"]);
    let rule = json!({"sub": "reader", "obj": "doc:read", "act": "read"});
    tenant.manage(format!("DELETE {RULES}"), &rule).is(204);
    with_roles(&tenant, &["reader"]);
    has_rules(&tenant, &[]);
    with_roles(&tenant, &["reader", "editor"]);
    has_rules(&tenant, &[EDITOR]);
    let bulk = json!([{"name": "doc:read", "defaultRoles": ["reader", "editor"]}]);
    tenant.manage("POST /api/v1/resources/list", &bulk).is(200);
    has_rules(&tenant, &[EDITOR]);
    // Listed anew after it was dropped, it is newly listed.
    with_roles(&tenant, &["editor"]);
    with_roles(&tenant, &["reader", "editor"]);
    has_rules(&tenant, &[EDITOR, READER]);
}

#[test]
fn registering_again_does_not_overwrite_a_changed_rule() {
    let changed = ("reader", "deny", "explicit");
    let tenant = Tenant::new();
    with_roles(&tenant, &["reader"]);
    let rule = json!({"sub": "reader", "obj": "doc:read", "act": "read", "effect": "deny"});
    let reply = tenant.manage(format!("PUT {RULES}"), &rule).is(200);
    assert_eq!(reply.text_of("origin"), "explicit", "an update makes it the operator's own");
    with_roles(&tenant, &["reader"]);
    has_rules(&tenant, &[changed]);
    with_roles(&tenant, &["reader", "editor"]);
    has_rules(&tenant, &[changed, EDITOR]);
    // It survives the role that made it.
    with_roles(&tenant, &[]);
    has_rules(&tenant, &[changed]);
    with_roles(&tenant, &["reader"]);
    has_rules(&tenant, &[changed]);
}

#[test]
fn a_rule_that_was_moved_away_stays_away() {
    let tenant = Tenant::new();
    with_roles(&tenant, &["reader"]);
    let decision = tenant.check(&json!({
        "subject": "bob", "resource": "doc:read", "action": "read",
        "attributes": {"user": {"roles": ["reader"]}},
    }));
    let id = Decision::new(&decision).rule;
    tenant.manage(format!("PUT {RULES}"), &json!({"id": id, "sub": "writer"})).is(200);
    with_roles(&tenant, &["reader"]);
    has_rules(&tenant, &[("writer", "allow", "explicit")]);
    with_roles(&tenant, &[]);
    has_rules(&tenant, &[("writer", "allow", "explicit")]);
}

#[test]
fn a_rule_that_was_there_before_is_nobodys_default() {
    let own = ("reader", "deny", "explicit");
    let tenant = Tenant::new();
    tenant.rule("reader", "doc:read", "read", "deny");
    with_roles(&tenant, &["reader", "editor"]);
    has_rules(&tenant, &[own, EDITOR]);
    with_roles(&tenant, &[]);
    has_rules(&tenant, &[own]);
}

#[test]
fn rules_beside_the_default_ones_are_kept() {
    let tenant = Tenant::new();
    with_roles(&tenant, &["reader"]);
    tenant.rule("reader", "doc:*", "read", "deny");
    tenant.rule("reader", "doc:read", "write", "allow");
    with_roles(&tenant, &[]);
    has_rules(&tenant, &[("reader", "deny", "explicit"), ("reader", "allow", "explicit")]);
}

#[test]
fn an_empty_update_leaves_a_default_rule_a_default_rule() {
    let tenant = Tenant::new();
    with_roles(&tenant, &["reader"]);
    let id = tenant.get("/api/v1/resources").json()[0]["id"].as_str().unwrap().to_owned();
    let rule = tenant.get(&format!("/api/v1/resources/{id}/policies")).json()[0].clone();
    tenant.manage(format!("PUT {RULES}"), &json!({"id": rule["id"]})).is(200).has(&rule);
    with_roles(&tenant, &[]);
    has_rules(&tenant, &[]);
}
