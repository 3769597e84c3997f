//! `?explain=true`: every candidate, each part of its condition, and where values come from.

use serde_json::{Value, json};

use crate::support::client::Reply;
use crate::support::tenant::condition;
use crate::support::{Request, Tenant};

fn explain(tenant: &Tenant, token: &str, body: &Value) -> Reply {
    let request = Request::new("POST /api/v1/check?explain=true").token(token).json(body);
    tenant.send(&request)
}

fn check() -> Value {
    json!({
        "subject": "alice", "resource": "doc:read", "action": "read",
        "attributes": {"user": {"department": "sales", "roles": ["clerk"]}},
    })
}

#[test]
fn an_explanation_shows_every_candidate_and_what_decided() {
    let tenant = Tenant::new();
    let rule = tenant.rule("clerk", "doc:*", "read", "allow");
    tenant.rule("nobody", "doc:read", "read", "deny");
    let tree = json!({"type": "AND", "children": [
        {"type": "CONDITION", "attribute": "user.clearance", "operator": "lt", "value": 3},
        {"type": "NOT", "child": condition("user.department", "eq", "legal")},
        {"type": "CONDITION", "attribute": "token.sub", "operator": "in", "value": ["boss", 1]},
    ]});
    let deny = tenant.policy("low clearance", "doc:read", "deny", 5, &tree);
    let same = json!({"type": "CONDITION", "attribute": "request.subject", "operator": "eq",
        "value": {"attribute": "user.manager"}, "if_missing": true});
    let allow = tenant.policy("managers", "*", "allow", 1, &same);
    let boss = tenant.token("boss", &["admin"]);
    let reply = explain(&tenant, &boss, &check()).is(200);
    let answer = reply.json();
    assert_eq!(answer["decision"], "deny");
    assert_eq!(answer["matched_rule_id"], deny.as_str());
    let missing = "attribute `user.clearance` is missing";
    assert_eq!(
        answer["explanation"],
        json!({
            "revision": 4,
            "policies": [
                {
                    "id": deny, "name": "low clearance", "effect": "deny", "priority": 5,
                    "applies": true, "decides": true, "outcome": "undetermined",
                    "condition": {"type": "AND", "outcome": "undetermined", "expression":
                            "user.clearance < 3 && !(user.department == \"legal\") && token.sub in [\"boss\", 1]",
                        "children": [
                        {"type": "CONDITION", "outcome": "undetermined", "because": missing,
                            "expression": "user.clearance < 3",
                            "attribute": "user.clearance", "operator": "lt", "value": 3},
                        {"type": "NOT", "outcome": "true", "expression": "!(user.department == \"legal\")", "child":
                            {"type": "CONDITION", "outcome": "false", "attribute": "user.department",
                                "expression": "user.department == \"legal\"",
                                "operator": "eq", "value": "legal", "actual": "sales"}},
                        {"type": "CONDITION", "outcome": "true", "attribute": "token.sub",
                            "expression": "token.sub in [\"boss\", 1]",
                            "operator": "in", "value": ["boss", 1], "actual": "boss"},
                    ]},
                },
                {
                    "id": allow, "name": "managers", "effect": "allow", "priority": 1,
                    "applies": false, "decides": false, "outcome": "undetermined",
                    "condition": {"type": "CONDITION", "outcome": "undetermined",
                        "because": "attribute `user.manager` is missing",
                        "expression": "(request.subject == user.manager) ?? true",
                        "attribute": "request.subject", "operator": "eq",
                        "value": {"attribute": "user.manager"}, "if_missing": true, "actual": "alice"},
                },
            ],
            "rules": [{"id": rule, "sub": "clerk", "dom": tenant.name, "obj": "doc:*", "act": "read",
                "effect": "allow", "decides": false}],
            "attributes": [
                {"attribute": "user.clearance", "source": "request"},
                {"attribute": "user.department", "source": "request", "value": "sales"},
                {"attribute": "token.sub", "source": "token", "value": "boss"},
                {"attribute": "request.subject", "source": "request", "value": "alice"},
                {"attribute": "user.manager", "source": "request"},
            ],
            "resolvers": [],
            "would_allow": [
                {"changes": [{"attribute": "user.clearance", "from": null, "to": 3}]},
                {"changes": [{"attribute": "user.department", "from": "sales", "to": "legal"}]},
            ],
            "would_allow_complete": true,
            "hints": [],
        })
    );
}

#[test]
fn changes_that_would_allow_do_and_leave_the_token_alone() {
    let tenant = Tenant::new();
    let owner = condition("resource.state", "eq", "published");
    let member = condition("user.team", "eq", "red");
    let tree = json!({"type": "AND", "children": [owner, member]});
    tenant.policy("published", "doc:read", "allow", 1, &tree);
    let boss = tenant.token("boss", &["admin"]);
    let mut body = check();
    let denied = explain(&tenant, &boss, &body).is(200).json();
    let sets = &denied["explanation"]["would_allow"];
    assert_eq!(sets.as_array().unwrap().len(), 1, "{sets}");
    for change in sets[0]["changes"].as_array().unwrap() {
        let path = change["attribute"].as_str().unwrap();
        let (kind, name) = path.split_once('.').unwrap();
        body["attributes"][kind][name] = change["to"].clone();
    }
    let allowed = explain(&tenant, &boss, &body).is(200).json();
    assert_eq!(allowed["decision"], "allow");
    assert_eq!(allowed["explanation"].get("would_allow"), None, "of a denial alone");
    // What a token has, no request changes.
    tenant.policy("nobody", "doc:read", "deny", 9, &condition("token.sub", "eq", "boss"));
    let denied = explain(&tenant, &boss, &body).is(200).json();
    assert_eq!(denied["explanation"]["would_allow"], json!([]));
    assert_eq!(denied["explanation"]["would_allow_complete"], true);
}

#[test]
fn only_a_manager_is_given_an_explanation() {
    let tenant = Tenant::new();
    let member = tenant.token("alice", &["clerk"]);
    explain(&tenant, &member, &check()).refused(403, "ACCESS_DENIED");
    let named = tenant.token_with("gateway", &["service"], &json!({"adm": tenant.name}));
    explain(&tenant, &named, &check()).is(200);
    for query in ["explain=false", "explain", "explain=yes"] {
        let request = Request::new(format!("POST /api/v1/check?{query}"));
        let reply = tenant.send(&request.token(&member).json(&check()));
        if query == "explain=false" {
            assert_eq!(reply.is(200).json().get("explanation"), None);
        } else {
            reply.refused(400, "BAD_REQUEST");
        }
    }
}

#[test]
fn a_text_that_is_too_long_for_a_pattern_is_a_cause() {
    let tenant = Tenant::new();
    let slow = condition("user.text", "matches", "[ab]*a[ab]{2000}");
    let deny = tenant.policy("slow", "doc:read", "deny", 1, &slow);
    let body = |length: usize| {
        json!({
            "subject": "alice", "resource": "doc:read", "action": "read",
            "attributes": {"user": {"text": "a".repeat(length)}},
        })
    };
    let boss = tenant.token("boss", &["admin"]);
    let cause = "attribute `user.text` is too long to be compared";
    for (length, outcome, because) in
        [(1_000, "false", None), (3_000, "true", None), (1_000_000, "undetermined", Some(cause))]
    {
        let answer = explain(&tenant, &boss, &body(length)).is(200).json();
        let policy = &answer["explanation"]["policies"][0];
        assert_eq!(policy["outcome"], outcome, "{length}");
        assert_eq!(policy["condition"].get("because").and_then(Value::as_str), because, "{length}");
        assert_eq!(answer["matched_rule_id"] == deny.as_str(), outcome != "false", "{length}");
    }
}

#[test]
fn every_format_is_explained_by_expressions() {
    let tenant = Tenant::new();
    let policy = |format: &str, data: Value| {
        tenant.manage("POST /api/v1/abac/policies", &json!({
            "name": format, "resource": "doc:read", "effect": "deny", "priority": 1, "format": format, "rule_data": data,
        })).is(201);
    };
    policy("json", condition("user.department", "eq", "sales"));
    policy("expression", json!({"expression": "!(user.department=='sales')"}));
    policy(
        "casbin",
        json!({"matcher": "r.sub.department == 'sales' && regexMatch(r.sub.department, 'a')"}),
    );
    let boss = tenant.token("boss", &["admin"]);
    let answer = explain(&tenant, &boss, &check()).is(200).json();
    let conditions: Vec<Value> = answer["explanation"]["policies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|policy| policy["condition"].clone())
        .collect();
    assert_eq!(conditions[0]["expression"], "user.department == \"sales\"");
    assert_eq!(conditions[1]["expression"], "!(user.department == \"sales\")");
    // No expression stands for a search, and none for what is around it.
    assert_eq!(conditions[2].get("expression"), None);
    assert_eq!(conditions[2]["children"][0]["expression"], "user.department == \"sales\"");
    assert_eq!(conditions[2]["children"][1].get("expression"), None);
}

#[test]
fn a_resource_that_is_not_registered_is_named_with_the_nearest_that_is() {
    let tenant = Tenant::new();
    let boss = tenant.token("boss", &["admin"]);
    let nothing = "no RBAC rule and no ABAC policy allows it";
    let reason = |path: &str, resource: &str| {
        let body = json!({"subject": "alice", "resource": resource, "action": "read"});
        let answer = tenant.send(&Request::new(path).token(&boss).json(&body)).is(200).json();
        assert_eq!(answer["decision"], "deny");
        answer["reason"].as_str().expect("a reason").to_owned()
    };
    let explained = "POST /api/v1/check?explain=true";
    // There is nothing to compare with.
    assert_eq!(reason(explained, "doc:raed"), nothing);
    tenant.manage("POST /api/v1/resources", &json!({"name": "doc:read"})).is(201);
    tenant.rule("clerk", "doc:write", "write", "allow");
    let doubt = "the resource `doc:raed` is not registered, and no rule or policy names it";
    let expected = format!("{nothing}; {doubt}; did you mean `doc:read`?");
    assert_eq!(reason(explained, "doc:raed"), expected);
    // Others are told nothing about names, and a rule that names the resource is enough.
    assert_eq!(reason("POST /api/v1/check", "doc:raed"), nothing);
    for known in ["doc:read", "doc:write"] {
        assert_eq!(reason(explained, known), nothing);
    }
}
