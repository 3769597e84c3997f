//! The AuthZEN API: the fixture of the conformance suite, the vectors of the interop scenarios, and what PDPs trip over.

mod credentials;
mod discovery;
mod document;
mod reasons;
mod search;
mod vectors;

use serde_json::{Value, json};

use crate::support::{Reply, Request, Tenant};

const EVALUATION: &str = "POST /access/v1/evaluation";
const EVALUATIONS: &str = "POST /access/v1/evaluations";

/// The requests of the fixture and their answers.
const FIXTURE: &str = include_str!("authzen/fixture.json");

/// Creates an expression policy.
#[track_caller]
fn policy(tenant: &Tenant<'_>, resource: &str, effect: &str, priority: i64, when: &str) {
    let policy = json!({
        "name": format!("{resource} {effect} {priority}"), "resource": resource, "effect": effect,
        "priority": priority, "format": "expression", "rule_data": {"expression": when},
    });
    tenant.manage("POST /api/v1/abac/policies", &policy).is(201);
}

/// Returns a tenant with the policies of the fixture. `archived` is the condition of the deny about archived records.
fn fixture(archived: &str) -> Tenant<'static> {
    let tenant = Tenant::new();
    let people = r#"request.subject in ["alice", "bob"]"#;
    policy(&tenant, "record:read", "allow", 1, people);
    policy(&tenant, "record:write", "allow", 1, r#"request.subject == "alice""#);
    policy(&tenant, "record:write", "deny", 10, archived);
    let admin = r#"user.role == "admin" && resource.status == "archived""#;
    policy(&tenant, "record:write", "allow", 20, admin);
    let soft = r#"request.subject == "alice" && action.soft == true"#;
    policy(&tenant, "record:delete", "allow", 1, soft);
    tenant
}

const ARCHIVED: &str = r#"(resource.status == "archived") ?? false"#;

/// Sends a request of a gateway.
#[track_caller]
fn send(tenant: &Tenant<'_>, route: &str, body: &Value) -> Reply {
    let token = tenant.token("gateway", &["service"]);
    tenant.send(&Request::new(route).token(&token).json(body))
}

/// Asks for one decision about the entities by type and id.
#[track_caller]
fn decide(tenant: &Tenant<'_>, subject: [&str; 2], action: &str, resource: Value) -> bool {
    let body = json!({
        "subject": {"type": subject[0], "id": subject[1]}, "action": {"name": action}, "resource": resource,
    });
    let answer = send(tenant, EVALUATION, &body).is(200).json();
    answer["decision"].as_bool().expect("a decision")
}

fn record(id: &str) -> Value {
    json!({"type": "record", "id": id})
}

#[test]
fn the_fixture_is_answered() {
    let tenant = fixture(ARCHIVED);
    let token = tenant.token("gateway", &["service"]);
    let fixture: Value = serde_json::from_str(FIXTURE).expect("JSON");
    let mut count = 0;
    for (cases, route) in [("evaluation", EVALUATION), ("evaluations", EVALUATIONS)] {
        for case in fixture[cases].as_array().expect("cases") {
            let content_type = case["type"].as_str().unwrap_or("application/json");
            let body = case["body"].as_str().expect("a body");
            let request = Request::new(route).token(&token).body(content_type, body);
            let reply = tenant.send(&request);
            assert_eq!(json!(reply.status), case["status"], "{}: {}", case["name"], reply.text);
            if let Some(answer) = case.get("answer") {
                assert_eq!(reply.json(), *answer, "{}", case["name"]);
            }
            count += 1;
        }
    }
    assert_eq!(count, 62);
}

/// A request of the standard leaves properties out. A deny that reads one would apply then.
#[test]
fn a_deny_without_if_missing_denies_what_says_nothing() {
    let tenant = fixture(r#"resource.status == "archived""#);
    assert!(!decide(&tenant, ["user", "alice"], "write", record("record-1")));
    let active = json!({"type": "record", "id": "record-1", "properties": {"status": "active"}});
    assert!(decide(&tenant, ["user", "alice"], "write", active));
}

#[test]
fn an_incomplete_evaluation_is_a_denial_of_its_own() {
    let tenant = fixture(ARCHIVED);
    let body = |semantic: &str| {
        json!({
            "subject": {"type": "user", "id": "alice"}, "action": {"name": "read"},
            "evaluations": [{"resource": record("record-1")}, {}, {"resource": 7}, {"resource": record("record-2")}],
            "options": {"evaluations_semantic": semantic},
        })
    };
    let answer = send(&tenant, EVALUATIONS, &body("execute_all")).is(200).json();
    let decisions: Vec<_> = answer["evaluations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["decision"])
        .collect();
    assert_eq!(decisions, [true, false, false, true]);
    let error = &answer["evaluations"][1]["context"]["error"];
    assert_eq!(error["status"], 400);
    let expected = "at `/evaluations/1`: field `resource` is missing";
    assert_eq!(error["message"], expected);
    assert!(answer["evaluations"][0].get("context").is_none());
    // A fault is a denial, which ends a batch that ends at the first denial.
    let answer = send(&tenant, EVALUATIONS, &body("deny_on_first_deny")).is(200).json();
    assert_eq!(answer["evaluations"].as_array().map(Vec::len), Some(2));
    // It may be the only one.
    let only = json!({"subject": {"type": "user", "id": "alice"}, "evaluations": [{}]});
    let answer = send(&tenant, EVALUATIONS, &only).is(200).json();
    assert_eq!(answer["evaluations"][0]["decision"], false);
}

#[test]
fn attributes_come_from_the_request_and_stand_for_nothing_else() {
    let tenant = Tenant::new();
    for (verb, when) in [
        ("id", r#"resource.id == "record-1""#),
        ("type", r#"resource.type == "record""#),
        ("null", "exists(resource.status)"),
        ("path", r#"user.address.city == "Ulm""#),
        ("object", r#"exists(user.address) && !((user.address == "Ulm") ?? true)"#),
        ("list", r#"exists(context.list) && !(context.list contains "a")"#),
        ("kind", r#"user.type == "service" && request.subject == "service:alice""#),
        ("context", r#"context.ip == "::1" && action.mode == "fast""#),
    ] {
        policy(&tenant, &format!("record:{verb}"), "allow", 1, when);
    }
    let ask = |verb: &str, subject: Value, properties: Value, context: Value| {
        let body = json!({
            "subject": subject, "action": {"name": verb, "properties": {"mode": "fast"}},
            "resource": {"type": "record", "id": "record-1", "properties": properties}, "context": context,
        });
        send(&tenant, EVALUATION, &body).is(200).json()["decision"] == true
    };
    let alice =
        |properties: Value| json!({"type": "user", "id": "alice", "properties": properties});
    // No property stands for the id or the type.
    let other = json!({"id": "record-2", "type": "spaceship"});
    assert!(ask("id", alice(json!({})), other.clone(), json!({})));
    assert!(ask("type", alice(json!({})), other, json!({})));
    assert!(!ask("null", alice(json!({})), json!({"status": null}), json!({})));
    assert!(ask("null", alice(json!({})), json!({"status": false}), json!({})));
    let address = alice(json!({"address": {"city": "Ulm"}}));
    assert!(ask("path", address.clone(), json!({}), json!({})));
    // An object is present, and equals nothing: the allow stays undetermined.
    assert!(!ask("object", address, json!({}), json!({})));
    assert!(!ask("list", alice(json!({})), json!({}), json!({"list": [{"a": 1}]})));
    assert!(ask("list", alice(json!({})), json!({}), json!({"list": ["b"]})));
    assert!(ask("kind", json!({"type": "service", "id": "alice"}), json!({}), json!({})));
    assert!(!ask("kind", alice(json!({})), json!({}), json!({})));
    assert!(ask("context", alice(json!({})), json!({}), json!({"ip": "::1"})));
    assert!(!ask("context", alice(json!({})), json!({}), json!({"ip": "::2"})));
}

/// `CVE-2026-34972`: items that look alike were decided as one.
#[test]
fn evaluations_that_differ_in_anything_are_decided_apart() {
    let tenant = Tenant::new();
    let all = r#"user.a == 1 && resource.b == 1 && action.c == 1 && context.d == 1"#;
    policy(&tenant, "record:read", "allow", 1, all);
    let item = |values: [u8; 4]| {
        let [a, b, c, d] = values;
        json!({
            "subject": {"type": "user", "id": "alice", "properties": {"a": a}},
            "resource": {"type": "record", "id": "r", "properties": {"b": b}},
            "action": {"name": "read", "properties": {"c": c}}, "context": {"d": d},
        })
    };
    let values =
        [[1, 1, 1, 1], [2, 1, 1, 1], [1, 2, 1, 1], [1, 1, 2, 1], [1, 1, 1, 2], [1, 1, 1, 1]];
    let body = json!({"evaluations": values.map(item)});
    let answer = send(&tenant, EVALUATIONS, &body).is(200).json();
    let decisions = answer["evaluations"].as_array().expect("a list").iter();
    let decisions: Vec<_> = decisions.map(|one| one["decision"] == true).collect();
    assert_eq!(decisions, [true, false, false, false, false, true]);
}

/// A single evaluation has no options in the standard. Of these, `reasons` alone is known.
#[test]
fn options_of_a_single_evaluation_are_ignored() {
    let tenant = fixture(ARCHIVED);
    let ask = |route: &str, options: Value| {
        let mut body = json!({"subject": {"type": "user", "id": "alice"}, "action": {"name": "read"}, "resource": record("record-1")});
        body["options"] = options;
        send(&tenant, route, &body)
    };
    for options in [
        json!("fast"),
        json!(7),
        json!(["execute_all"]),
        json!({"evaluations_semantic": "any"}),
        json!({"evaluations_semantic": 7, "reasons": "yes", "future": {}}),
    ] {
        assert_eq!(ask(EVALUATION, options).is(200).json(), json!({"decision": true}));
    }
    let mixed = json!({"evaluations_semantic": "any", "reasons": true});
    assert_eq!(
        ask(EVALUATION, mixed.clone()).is(200).json()["context"],
        json!({"policy_revision": 5})
    );
    ask(EVALUATIONS, mixed).refused(400, "VALIDATION_ERROR");
}

#[test]
fn an_evaluation_in_a_foreign_domain_is_a_denial_of_its_own() {
    let tenant = fixture(ARCHIVED);
    let at = |domain: &str| json!({"resource": record("record-1"), "context": {"domain": domain}});
    let own = tenant.name.as_str();
    let body = |items: Value, semantic: &str| {
        json!({
            "subject": {"type": "user", "id": "alice"}, "action": {"name": "read"}, "evaluations": items,
            "options": {"evaluations_semantic": semantic},
        })
    };
    let decided = |reply: Reply| {
        let answer = reply.is(200).json();
        let each = answer["evaluations"].as_array().expect("a list").clone();
        each.iter()
            .map(|one| json!([one["decision"], one["context"]["error"]["status"]]))
            .collect::<Vec<_>>()
    };
    let (allowed, foreign) = (json!([true, null]), json!([false, 403]));
    // A key has one domain in both modes.
    let key = json!({"name": "gateway", "permissions": ["access:evaluate"], "domain": crate::setup::is_saas().then_some(own)});
    let key = tenant.manage("POST /api/v1/service-api-keys", &key).is(201).text_of("key");
    let ask = |body: &Value| tenant.send(&Request::new(EVALUATIONS).token(&key).json(body));
    for items in [
        json!([at(own), at("elsewhere"), at(own)]),
        json!([at("elsewhere"), {"resource": record("record-1")}]),
    ] {
        let expected = items.as_array().into_iter().flatten();
        let expected: Vec<_> = expected
            .map(|item| if item["context"]["domain"] == "elsewhere" { &foreign } else { &allowed })
            .cloned()
            .collect();
        assert_eq!(decided(ask(&body(items, "execute_all"))), expected);
    }
    let items = json!([at(own), at("elsewhere"), at(own)]);
    assert_eq!(
        decided(ask(&body(items.clone(), "deny_on_first_deny"))),
        [allowed.clone(), foreign.clone()]
    );
    let all = body(json!([at("elsewhere"), at("*")]), "execute_all");
    assert_eq!(decided(ask(&all)), [foreign.clone(), foreign.clone()]);
    // So does a member in `selfhost` mode, where another domain is another tenant; a reason says so.
    if !crate::setup::is_saas() {
        let answer = send(&tenant, EVALUATIONS, &body(items.clone(), "execute_all")).is(200).json();
        let error = &answer["evaluations"][1]["context"]["error"];
        assert!(
            error["message"].as_str().is_some_and(|why| why.contains("`elsewhere`")),
            "{error}"
        );
        assert_eq!(
            decided(send(&tenant, EVALUATIONS, &body(items, "execute_all"))),
            [allowed.clone(), foreign, allowed]
        );
    }
}

#[test]
fn the_domain_of_the_context_is_the_domain_of_the_check() {
    let tenant = Tenant::new();
    tenant.rule("alice", "record:read", "read", "allow");
    let ask = |domain: Value| {
        let body = json!({
            "subject": {"type": "user", "id": "alice"}, "action": {"name": "read"},
            "resource": record("record-1"), "context": {"domain": domain},
        });
        send(&tenant, EVALUATION, &body)
    };
    assert_eq!(ask(json!(tenant.name)).is(200).json(), json!({"decision": true}));
    ask(json!(7)).is(400);
    let elsewhere = ask(json!("elsewhere"));
    if crate::setup::is_saas() {
        assert_eq!(elsewhere.is(200).json(), json!({"decision": false}));
    } else {
        elsewhere.is(403);
    }
}
