//! Decisions of RBAC rules.

use serde_json::json;

use crate::support::Tenant;
use crate::support::tenant::Decision;

/// A rule as `(sub, obj, act, effect)`.
type Rule<'r> = (&'r str, &'r str, &'r str, &'r str);

#[test]
fn a_rule_matches_whole_fields_and_wildcards_only() {
    let cases: [(Rule<'_>, [&str; 3], bool); 22] = [
        (("alice", "doc:read", "read", "allow"), ["alice", "doc:read", "read"], true),
        (("alice", "doc:read", "read", "allow"), ["bob", "doc:read", "read"], false),
        (("alice", "doc:read", "read", "allow"), ["Alice", "doc:read", "read"], false),
        (("alice", "doc:read", "read", "allow"), ["alice", "doc:write", "read"], false),
        (("alice", "doc:read", "read", "allow"), ["alice", "doc:read", "write"], false),
        (("alice", "doc:read", "read", "allow"), ["alice ", "doc:read", "read"], false),
        (("*", "doc:read", "read", "allow"), ["anybody", "doc:read", "read"], true),
        (("*", "doc:read", "read", "allow"), ["anybody", "doc:write", "read"], false),
        (("alice", "*", "read", "allow"), ["alice", "any:thing", "read"], true),
        (("alice", "*", "read", "allow"), ["bob", "any:thing", "read"], false),
        (("alice", "doc:*", "read", "allow"), ["alice", "doc:read", "read"], true),
        (("alice", "doc:*", "read", "allow"), ["alice", "doc:archive", "read"], true),
        (("alice", "doc:*", "read", "allow"), ["alice", "docs:read", "read"], false),
        (("alice", "doc:*", "read", "allow"), ["alice", "doc:v2:read", "read"], false),
        (("alice", "doc:v2:*", "read", "allow"), ["alice", "doc:v2:read", "read"], true),
        (("alice", "doc:v2:*", "read", "allow"), ["alice", "doc:read", "read"], false),
        (("alice", "doc:read", "*", "allow"), ["alice", "doc:read", "anything"], true),
        (("alice", "doc:read", "*", "allow"), ["alice", "doc:write", "anything"], false),
        (("*", "*", "*", "allow"), ["anybody", "any:thing", "anything"], true),
        (("*", "*", "*", "deny"), ["anybody", "any:thing", "anything"], false),
        // No other pattern language: these are plain characters.
        (("a.c", "doc:read", "read", "allow"), ["abc", "doc:read", "read"], false),
        (("alice", "doc:read", "re?d", "allow"), ["alice", "doc:read", "read"], false),
    ];
    for ((sub, obj, act, effect), [subject, resource, action], allowed) in cases {
        let tenant = Tenant::new();
        let rule = tenant.rule(sub, obj, act, effect);
        let decision = tenant.decide(subject, resource, action);
        match (allowed, effect) {
            (true, _) => decision.is("allow", &rule),
            (false, "deny") => decision.is("deny", &rule),
            (false, _) => decision.is_default(),
        }
    }
}

#[test]
fn a_deny_wins_over_any_number_of_allows() {
    let tenant = Tenant::new();
    let allows = [("alice", "doc:read", "read"), ("*", "*", "*"), ("alice", "doc:*", "*")];
    for (sub, obj, act) in allows {
        tenant.rule(sub, obj, act, "allow");
    }
    assert!(tenant.decide("alice", "doc:read", "read").allowed());
    let deny = tenant.rule("*", "doc:*", "read", "deny");
    tenant.decide("alice", "doc:read", "read").is("deny", &deny);
    assert!(tenant.decide("alice", "doc:read", "write").allowed(), "the deny is about reading");
}

#[test]
fn the_smallest_id_of_several_deciding_rules_is_reported() {
    let tenant = Tenant::new();
    let ids = [("*", "*"), ("alice", "doc:read"), ("alice", "doc:*")]
        .map(|(sub, obj)| tenant.rule(sub, obj, "read", "allow"));
    assert!(ids.is_sorted(), "ids are in order of creation");
    tenant.decide("alice", "doc:read", "read").is("allow", &ids[0]);
    let denies = ["doc:read", "doc:*"].map(|obj| tenant.rule("alice", obj, "*", "deny"));
    tenant.decide("alice", "doc:read", "read").is("deny", &denies[0]);
}

#[test]
fn the_callers_roles_are_principals_of_a_check_about_the_caller() {
    let tenant = Tenant::new();
    let rule = tenant.rule("editor", "doc:write", "write", "allow");
    let body =
        |subject: &str| json!({"subject": subject, "resource": "doc:write", "action": "write"});
    let alice = tenant.token("alice", &["user", "editor"]);
    Decision::new(&tenant.check_by(&alice, &body("alice"))).is("allow", &rule);
    // The subject itself is a principal, a role is none of somebody else.
    Decision::new(&tenant.check_by(&alice, &body("editor"))).is("allow", &rule);
    Decision::new(&tenant.check_by(&alice, &body("bob"))).is_default();
    let reader = tenant.token("alice", &["reader"]);
    Decision::new(&tenant.check_by(&reader, &body("alice"))).is_default();
}

#[test]
fn a_caller_cannot_claim_roles_for_itself_in_attributes() {
    let tenant = Tenant::new();
    tenant.rule("editor", "doc:write", "write", "allow");
    let alice = tenant.token("alice", &["reader"]);
    let body = json!({
        "subject": "alice", "resource": "doc:write", "action": "write",
        "attributes": {"user": {"roles": ["editor"]}},
    });
    Decision::new(&tenant.check_by(&alice, &body)).is_default();
}

#[test]
fn roles_of_another_subject_come_from_its_attributes() {
    let tenant = Tenant::new();
    let rule = tenant.rule("editor", "doc:write", "write", "allow");
    for (roles, allowed) in [
        (json!(["editor"]), true),
        (json!(["reader", "editor"]), true),
        (json!("editor"), true),
        (json!([1, "editor"]), true),
        (json!(["reader"]), false),
        (json!("editor reader"), false),
        (json!("editor,reader"), false),
        (json!([]), false),
        (json!(""), false),
        (json!(1), false),
        (json!(true), false),
    ] {
        let body = json!({
            "subject": "bob", "resource": "doc:write", "action": "write",
            "attributes": {"user": {"roles": roles}},
        });
        let decision = Decision::new(&tenant.check(&body));
        if allowed {
            decision.is("allow", &rule);
        } else {
            decision.is_default();
        }
        // Attributes of the resource are no roles.
        let elsewhere = json!({
            "subject": "bob", "resource": "doc:write", "action": "write",
            "attributes": {"resource": {"roles": roles}},
        });
        Decision::new(&tenant.check(&elsewhere)).is_default();
    }
}

#[test]
fn the_reason_names_the_rule() {
    let tenant = Tenant::new();
    tenant.rule("alice", "doc:*", "read", "deny");
    let reason = tenant.decide("alice", "doc:read", "read").reason;
    for part in ["RBAC", "alice", "doc:*", "read"] {
        assert!(reason.contains(part), "`{reason}` does not say `{part}`");
    }
}
