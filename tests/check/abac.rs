//! Decisions of ABAC policies, alone and together with RBAC.

use serde_json::{Value, json};

use crate::support::Tenant;
use crate::support::tenant::{Decision, always, condition};

fn never() -> Value {
    json!({"type": "NOT", "child": always()})
}

/// Undetermined: nobody sends this attribute.
fn open() -> Value {
    condition("user.clearance", "gte", 3)
}

/// Policies as `(name, effect, priority, condition)`, an RBAC rule's effect or `-`, and what comes out:
/// the decision and the name of the policy, `rbac`, or `default-deny`.
type Case =
    (&'static [(&'static str, &'static str, i64, fn() -> Value)], &'static str, [&'static str; 2]);

#[test]
fn policies_and_rules_combine() {
    let cases: [Case; 28] = [
        (&[], "-", ["deny", "default-deny"]),
        (&[], "allow", ["allow", "rbac"]),
        (&[], "deny", ["deny", "rbac"]),
        (&[("a", "allow", 1, always)], "-", ["allow", "a"]),
        (&[("a", "allow", 1, never)], "-", ["deny", "default-deny"]),
        (&[("a", "allow", 1, open)], "-", ["deny", "default-deny"]),
        (&[("d", "deny", 1, always)], "-", ["deny", "d"]),
        (&[("d", "deny", 1, never)], "-", ["deny", "default-deny"]),
        (&[("d", "deny", 1, open)], "-", ["deny", "d"]),
        // An ABAC deny wins over an RBAC allow, an RBAC deny over an ABAC allow.
        (&[("d", "deny", 1, always)], "allow", ["deny", "d"]),
        (&[("d", "deny", -5, always)], "allow", ["deny", "d"]),
        (&[("d", "deny", 1, open)], "allow", ["deny", "d"]),
        (&[("d", "deny", 1, never)], "allow", ["allow", "rbac"]),
        (&[("d", "deny", 1, always)], "deny", ["deny", "d"]),
        (&[("a", "allow", 100, always)], "deny", ["deny", "rbac"]),
        // When both allow, the policy is reported; an open allow does nothing.
        (&[("a", "allow", 1, always)], "allow", ["allow", "a"]),
        (&[("a", "allow", 1, open)], "allow", ["allow", "rbac"]),
        // The highest priority decides.
        (&[("d", "deny", 1, always), ("a", "allow", 2, always)], "-", ["allow", "a"]),
        (&[("a", "allow", 1, always), ("d", "deny", 2, always)], "-", ["deny", "d"]),
        (&[("a", "allow", -2, always), ("d", "deny", -1, always)], "-", ["deny", "d"]),
        (&[("a", "allow", 9, never), ("d", "deny", 2, always)], "-", ["deny", "d"]),
        (&[("a", "allow", 9, open), ("d", "deny", 2, always)], "-", ["deny", "d"]),
        (&[("d", "deny", 9, open), ("a", "allow", 2, always)], "-", ["deny", "d"]),
        (&[("d", "deny", 1, open), ("a", "allow", 2, always)], "-", ["allow", "a"]),
        // At equal priority deny beats allow; then the smallest id is reported.
        (&[("a", "allow", 5, always), ("d", "deny", 5, always)], "-", ["deny", "d"]),
        (&[("a1", "allow", 5, always), ("a2", "allow", 5, always)], "-", ["allow", "a1"]),
        (&[("d1", "deny", 5, always), ("d2", "deny", 5, always)], "-", ["deny", "d1"]),
        (&[("d", "deny", 1, always), ("a", "allow", 2, always)], "deny", ["deny", "rbac"]),
    ];
    for (policies, rbac, [decision, by]) in cases {
        let tenant = Tenant::new();
        let create = |&(name, effect, priority, tree): &(&'static str, _, _, fn() -> Value)| {
            (name, tenant.policy(name, "doc:read", effect, priority, &tree()))
        };
        let mut ids: Vec<(&str, String)> = policies.iter().map(create).collect();
        if rbac != "-" {
            ids.push(("rbac", tenant.rule("alice", "doc:read", "read", rbac)));
        }
        ids.push(("default-deny", "default-deny".to_owned()));
        let id = &ids.iter().find(|(name, _)| *name == by).unwrap().1;
        tenant.decide("alice", "doc:read", "read").is(decision, id);
    }
}

#[test]
fn a_policy_is_about_a_resource_a_name_or_everything() {
    for (resource, matching, other) in [
        ("doc:read", &["doc:read"][..], &["doc:write", "docs:read", "doc:read:x"][..]),
        ("doc:*", &["doc:read", "doc:write"], &["docs:read", "doc:v2:read"]),
        ("doc:v2:*", &["doc:v2:read"], &["doc:read", "doc:v2"]),
        ("*", &["doc:read", "any:thing", "a:b:c"], &[]),
    ] {
        let tenant = Tenant::new();
        let id = tenant.policy("p", resource, "allow", 1, &always());
        for name in matching {
            tenant.decide("alice", name, "read").is("allow", &id);
        }
        for name in other {
            tenant.decide("alice", name, "read").is_default();
        }
    }
}

#[test]
fn a_disabled_policy_decides_nothing() {
    let tenant = Tenant::new();
    let policy = json!({
        "name": "off", "resource": "doc:read", "effect": "allow", "priority": 1, "enabled": false,
        "rule_data": always(),
    });
    tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
    tenant.decide("alice", "doc:read", "read").is_default();
}

#[test]
fn the_reason_of_an_undetermined_deny_names_the_attribute() {
    let tenant = Tenant::new();
    let tree = json!({"type": "AND", "children": [
        always(),
        condition("user.clearance", "lt", 3),
        condition("user.department", "eq", json!({"attribute": "resource.department"})),
    ]});
    let id = tenant.policy("need to know", "doc:read", "deny", 1, &tree);
    let ask = |attributes: Value| {
        let body = json!({
            "subject": "alice", "resource": "doc:read", "action": "read", "attributes": attributes,
        });
        Decision::new(&tenant.check(&body))
    };
    for (attributes, named) in [
        (json!({"user": {"department": "x"}, "resource": {"department": "x"}}), "user.clearance"),
        (json!({"user": {"clearance": 1}, "resource": {"department": "x"}}), "user.department"),
        (json!({"user": {"clearance": 1, "department": "x"}}), "resource.department"),
        // Of a type that the operator does not compare.
        (
            json!({"user": {"clearance": "1", "department": "x"}, "resource": {"department": "x"}}),
            "user.clearance",
        ),
    ] {
        let decision = ask(attributes);
        decision.is("deny", &id);
        for part in ["ABAC", "need to know", named] {
            assert!(decision.reason.contains(part), "`{}` does not say `{part}`", decision.reason);
        }
    }
    let known =
        json!({"user": {"clearance": 5, "department": "x"}, "resource": {"department": "x"}});
    ask(known).is_default();
}

#[test]
fn an_attribute_comes_from_where_its_path_says() {
    let tenant = Tenant::new();
    let id = tenant.policy("p", "doc:read", "allow", 1, &condition("user.level", "eq", 7));
    let ask = |attributes: Value| {
        let body = json!({
            "subject": "alice", "resource": "doc:read", "action": "read", "attributes": attributes,
        });
        Decision::new(&tenant.check(&body))
    };
    ask(json!({"user": {"level": 7}})).is("allow", &id);
    ask(json!({"resource": {"level": 7}})).is_default();
    ask(json!({"user": {"user.level": 7}})).is_default();
    ask(json!({})).is_default();
    // Neither a claim of the caller is an attribute of the user.
    let token = tenant.token_with("alice", &["user"], &json!({"level": 7, "user": {"level": 7}}));
    let body = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    Decision::new(&tenant.check_by(&token, &body)).is_default();
}

#[test]
fn everything_after_the_first_dot_is_the_name() {
    let tenant = Tenant::new();
    let id =
        tenant.policy("p", "doc:read", "allow", 1, &condition("user.org.unit.name", "eq", "x"));
    let body = json!({
        "subject": "alice", "resource": "doc:read", "action": "read",
        "attributes": {"user": {"org.unit.name": "x"}},
    });
    Decision::new(&tenant.check(&body)).is("allow", &id);
}

#[test]
fn claims_of_the_caller_are_token_attributes() {
    let tenant = Tenant::new();
    let claims = json!({
        "department": "x", "mfa": true, "level": 7, "groups": ["a", "b"], "a.b": "literal",
        "a": {"b": "path", "c": {"d": "deep"}}, "nothing": null,
    });
    let token = tenant.token_with("gateway", &["service"], &claims);
    let exists = |path: &str| json!({"type": "CONDITION", "attribute": path, "operator": "exists"});
    let cases = [
        (condition("token.department", "eq", "x"), true),
        (condition("token.mfa", "eq", true), true),
        (condition("token.level", "gt", 6), true),
        (condition("token.groups", "contains", "b"), true),
        (condition("token.groups", "contains", "c"), false),
        (condition("token.sub", "eq", "gateway"), true),
        (condition("token.dom", "eq", &*tenant.name), true),
        (condition("token.realm_access.roles", "contains", "service"), true),
        // First as one literal name, then as a path.
        (condition("token.a.b", "eq", "literal"), true),
        (condition("token.a.c.d", "eq", "deep"), true),
        (exists("token.nothing"), false),
        (exists("token.unknown"), false),
        (exists("token.department.x"), false),
    ];
    for (index, (tree, holds)) in cases.into_iter().enumerate() {
        let resource = format!("claim:{index}");
        let id = tenant.policy("p", &resource, "allow", 1, &tree);
        let body = json!({"subject": "alice", "resource": resource, "action": "read"});
        let decision = Decision::new(&tenant.check_by(&token, &body));
        if holds {
            decision.is("allow", &id);
        } else {
            assert!(!decision.allowed(), "{tree}: {decision:?}");
        }
    }
}

#[test]
fn the_request_itself_has_attributes() {
    let tenant = Tenant::new();
    let cases = [
        condition("request.subject", "eq", "bob"),
        condition("request.resource", "contains", "req:"),
        condition("request.action", "eq", "read"),
        condition("request.domain", "eq", &*tenant.name),
        condition("request.roles", "contains", "editor"),
        condition("request.time", "after", "2026-01-01T00:00:00Z"),
        condition("request.time", "before", "2126-01-01T00:00:00Z"),
        condition("request.subject", "eq", json!({"attribute": "resource.owner"})),
        condition("request.roles", "contains", json!({"attribute": "resource.role"})),
    ];
    for (index, tree) in cases.into_iter().enumerate() {
        let resource = format!("req:{index}");
        let id = tenant.policy("p", &resource, "allow", 1, &tree);
        let opposite = format!("not-req:{index}");
        tenant.policy("n", &opposite, "allow", 1, &json!({"type": "NOT", "child": tree}));
        let body = |resource: &str| {
            json!({
                "subject": "bob", "resource": resource, "action": "read",
                "attributes": {"user": {"roles": ["editor"]}, "resource": {"owner": "bob", "role": "editor"}},
            })
        };
        Decision::new(&tenant.check(&body(&resource))).is("allow", &id);
        Decision::new(&tenant.check(&body(&opposite))).is_default();
    }
}

#[test]
fn the_roles_of_a_request_are_those_of_the_principals_rule() {
    let tenant = Tenant::new();
    let editor = tenant.policy(
        "p",
        "doc:read",
        "allow",
        1,
        &condition("request.roles", "contains", "editor"),
    );
    let alice = tenant.token("alice", &["editor"]);
    let body = |subject: &str, attributes: Value| json!({"subject": subject, "resource": "doc:read", "action": "read", "attributes": attributes});
    Decision::new(&tenant.check_by(&alice, &body("alice", json!({})))).is("allow", &editor);
    Decision::new(&tenant.check_by(&alice, &body("bob", json!({})))).is_default();
    let supplied = json!({"user": {"roles": "editor"}});
    Decision::new(&tenant.check_by(&alice, &body("bob", supplied.clone()))).is("allow", &editor);
    let reader = tenant.token("alice", &["reader"]);
    Decision::new(&tenant.check_by(&reader, &body("alice", supplied))).is_default();
    // Without any it is an empty list, which is not the same as absent.
    let none = json!({"type": "NOT", "child": condition("request.roles", "contains", "editor")});
    let id = tenant.policy("none", "doc:list", "allow", 1, &none);
    tenant.decide("bob", "doc:list", "read").is("allow", &id);
}
