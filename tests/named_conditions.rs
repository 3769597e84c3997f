//! `/api/v1/conditions`: conditions that policies use by name (`docs/semantics.md`, section 4.11).

use serde_json::{Value, json};

use crate::support::{Reply, Tenant};

const APPLY: &str = "POST /api/v1/apply";
const PLAN: &str = "POST /api/v1/apply?dry_run=true";
const OWNER: &str = "git:github.com/acme/authz";

fn put(tenant: &Tenant<'_>, name: &str, when: &str) -> Reply {
    tenant.manage(format!("PUT /api/v1/conditions/{name}"), &json!({"when": when}))
}

fn policy(tenant: &Tenant<'_>, name: &str, when: &str) -> Reply {
    let body = json!({
        "name": name, "resource": "ticket:read", "effect": "allow", "priority": 1,
        "format": "expression", "rule_data": {"expression": when},
    });
    tenant.manage("POST /api/v1/abac/policies", &body)
}

fn check(user: &Value) -> Value {
    json!({"subject": "ann", "resource": "ticket:read", "action": "read",
        "attributes": {"user": user, "resource": {"team": "blue"}}})
}

#[track_caller]
fn decides(tenant: &Tenant<'_>, user: &Value, decision: &str) {
    assert_eq!(tenant.check(&check(user)).is(200).text_of("decision"), decision);
}

/// Returns the kind and name of each object that a change would break.
fn broken(reply: &Reply) -> Vec<String> {
    let details = reply.details();
    let all = details["broken"].as_array().cloned().unwrap_or_default();
    let text = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_owned();
    all.iter().map(|one| format!("{} {}", text(one, "kind"), text(one, "name"))).collect()
}

#[test]
fn a_condition_is_stored_shown_and_deleted() {
    let tenant = Tenant::new();
    let path = "/api/v1/conditions/on_team";
    tenant.get(path).refused(404, "NOT_FOUND");
    let created = put(&tenant, "on_team", "user.team == resource.team").is(201);
    assert_eq!(created.revision(), 1);
    assert_eq!(created.json()["when"], "user.team == resource.team");
    assert_eq!(put(&tenant, "on_team", "user.team == resource.team").is(200).revision(), 1);
    let tree = json!({"about": "Grown up", "when":
        {"type": "CONDITION", "attribute": "user.age", "operator": "gte", "value": 18}});
    let second = tenant.manage("PUT /api/v1/conditions/adult", &tree).is(201).json();
    assert_eq!((&second["when"], &second["about"]), (&tree["when"], &tree["about"]));
    let listed = tenant.get("/api/v1/conditions").is(200).json();
    let listed: Vec<&Value> = listed.as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(listed, ["adult", "on_team"]);
    let tag = tenant.get(path).is(200).header("etag").unwrap().to_owned();
    let change = || tenant.managing(format!("PUT {path}")).json(&json!({"when": "user.a"}));
    tenant.send(&change().header("if-match", "\"other\"")).refused(412, "PRECONDITION_FAILED");
    tenant.send(&change().header("if-match", &tag)).is(200);
    assert_eq!(tenant.delete(path).is(204).revision(), 4);
    tenant.delete(path).refused(404, "NOT_FOUND");
    let audit = |action: &str| {
        let listed = tenant.get(&format!("/api/v1/audit?action=condition.{action}")).is(200).json();
        listed[0].clone()
    };
    assert_eq!(audit("updated")["before"]["when"], "user.team == resource.team");
    assert_eq!(audit("updated")["after"]["when"], "user.a");
    assert_eq!(
        (&audit("deleted")["records"], &audit("deleted")["after"]),
        (&json!(["on_team"]), &Value::Null)
    );
    let named = json!({"name": "other", "when": "user.a"});
    let refused = tenant.manage(format!("PUT {path}"), &named).invalid();
    assert_eq!(refused.paths(), ["/name"]);
    put(&tenant, "no-word", "user.a").refused(404, "NOT_FOUND");
}

#[test]
fn a_change_of_a_condition_changes_each_policy_that_uses_it() {
    let tenant = Tenant::new();
    put(&tenant, "on_team", "user.team == resource.team").is(201);
    put(&tenant, "senior", "condition.on_team && user.level >= 3").is(201);
    policy(&tenant, "seniors", "condition.senior").is(201);
    let (blue, red) = (json!({"team": "blue", "level": 3}), json!({"team": "red", "level": 3}));
    decides(&tenant, &blue, "allow");
    decides(&tenant, &red, "deny");
    put(&tenant, "on_team", "user.team == \"red\"").is(200);
    decides(&tenant, &blue, "deny");
    decides(&tenant, &red, "allow");
    let explained = tenant.manage("POST /api/v1/check?explain=true", &check(&red)).is(200).json();
    let node = &explained["explanation"]["policies"][0]["condition"];
    assert_eq!((&node["type"], &node["name"]), (&json!("NAMED"), &json!("senior")));
    assert_eq!(
        (&node["outcome"], &node["expression"]),
        (&json!("true"), &json!("condition.senior"))
    );
    let inner = &node["child"]["children"][0];
    assert_eq!((&inner["name"], &inner["child"]["actual"]), (&json!("on_team"), &json!("red")));
}

#[test]
fn a_fault_of_a_name_has_its_place() {
    let tenant = Tenant::new();
    put(&tenant, "on_team", "user.team == resource.team").is(201);
    let refused = policy(&tenant, "p", "user.a && condition.on_tem").invalid();
    assert_eq!(refused.paths(), ["/rule_data/expression"]);
    assert!(refused.message().contains("did you mean `condition.on_team`?"), "{}", refused.text);
    assert_eq!(refused.details()["token"], "condition.on_tem");
    let refused = put(&tenant, "on_team", "user.a || condition.on_team").invalid();
    assert_eq!(refused.paths(), ["/when"]);
    assert!(refused.message().contains("`on_team` uses `on_team`"), "{}", refused.text);
    let named = json!({"when": {"type": "NOT", "child": {"type": "NAMED", "name": "nowhere"}}});
    let refused = tenant.manage("PUT /api/v1/conditions/lost", &named).invalid();
    assert_eq!(refused.paths(), ["/when/child/name"]);
    let properties = json!({"properties": {"size": {"type": "number"}}});
    tenant.manage("PUT /api/v1/types/ticket", &properties).is(201);
    let refused = policy(&tenant, "p", "condition.on_team").invalid();
    assert!(
        refused.message().contains("`resource.team` in `condition.on_team`"),
        "{}",
        refused.text
    );
}

#[test]
fn names_that_double_forty_times_cost_nothing() {
    let tenant = Tenant::new();
    put(&tenant, "c0", "user.a == 1").is(201);
    for number in 1..=40 {
        let before = number - 1;
        let when = format!("condition.c{before} && condition.c{before}");
        put(&tenant, &format!("c{number}"), &when).is(201);
    }
    policy(&tenant, "small", "condition.c8").is(201);
    let refused = policy(&tenant, "large", "condition.c40").invalid();
    assert!(refused.message().contains("at most 1000 nodes"), "{}", refused.text);
    // A change that makes the policy too large breaks it.
    let refused = put(&tenant, "c0", "user.a == 1 && user.b == 2").refused(409, "CONFLICT");
    assert_eq!(broken(&refused), ["policy small"]);
}

#[test]
fn what_a_change_would_break_is_listed() {
    let tenant = Tenant::new();
    put(&tenant, "on_team", "user.team == resource.team").is(201);
    put(&tenant, "senior", "condition.on_team && user.level >= 3").is(201);
    policy(&tenant, "agents", "any(user.teams, item == \"x\" && condition.on_team)").is(201);
    let refused = tenant.delete("/api/v1/conditions/on_team").refused(409, "CONFLICT");
    assert_eq!(broken(&refused), ["condition senior", "policy agents"]);
    let list = put(&tenant, "on_team", "any(user.teams, item == resource.team)");
    assert_eq!(broken(&list.refused(409, "CONFLICT")), ["policy agents"]);
    // A type that the condition does not fit breaks the policy, too.
    let properties = json!({"properties": {"size": {"type": "number"}}});
    let refused = tenant.manage("PUT /api/v1/types/ticket", &properties);
    assert_eq!(broken(&refused.refused(409, "CONFLICT")), ["policy agents"]);
    decides(&tenant, &json!({"team": "blue", "teams": ["x"]}), "allow");
}

/// A condition that only a disabled policy reads may go; an export has the policy nevertheless.
#[test]
fn an_export_of_a_disabled_policy_without_its_condition_is_applied() {
    let tenant = Tenant::new();
    put(&tenant, "zed", "user.z == 1").is(201);
    let declared = json!({"properties": {"secret": {"type": "boolean"}, "n": {"type": "number"}}});
    tenant.manage("PUT /api/v1/types/doc", &declared).is(201);
    let create = |name: &str, rule_data: Value| {
        let policy = json!({"name": name, "resource": "doc:read", "effect": "deny", "priority": 1,
            "enabled": false, "rule_data": rule_data});
        tenant.manage("POST /api/v1/abac/policies", &policy).is(201).text_of("id").to_owned()
    };
    let ids = [
        create("named", json!({"type": "NAMED", "name": "zed"})),
        create(
            "declared",
            json!({"type": "CONDITION", "attribute": "resource.secret",
            "operator": "eq", "value": true}),
        ),
    ];
    tenant.delete("/api/v1/conditions/zed").is(204);
    let fewer = json!({"properties": {"n": {"type": "number"}}});
    tenant.manage("PUT /api/v1/types/doc", &fewer).is(200);
    let mut bundle = tenant.get("/api/v1/export").is(200).json()["bundle"].clone();
    let apply = |bundle: &Value| {
        tenant.manage("POST /api/v1/apply", &json!({"owner": "git:a", "bundle": bundle}))
    };
    let applied = apply(&bundle).is(200).json();
    assert_eq!(applied["counts"]["update"], 0, "{applied}");
    // It is judged when it is enabled.
    for id in ids {
        let path = format!("PUT /api/v1/abac/policies/{id}?force=true");
        tenant.manage(&path, &json!({"enabled": true})).is(400);
    }
    bundle["policies"].as_array_mut().unwrap().iter_mut().for_each(|policy| {
        policy.as_object_mut().unwrap().remove("enabled");
    });
    let refused = apply(&bundle).is(400).text;
    assert!(refused.contains("/bundle/policies/1") && refused.contains("`zed`"), "{refused}");
}

#[test]
fn an_apply_plans_conditions_as_roles() {
    let tenant = Tenant::new();
    let bundle = |when: &str| {
        json!({
            "conditions": [{"name": "on_team", "when": when}],
            "policies": [{"name": "agents", "resource": "ticket:read", "effect": "allow", "priority": 1,
                "when": "condition.on_team"}],
        })
    };
    let body = |bundle: &Value| json!({"owner": OWNER, "bundle": bundle, "allow_deletes": true});
    let first = bundle("user.team == resource.team");
    let planned = tenant.manage(PLAN, &body(&first)).is(200).json();
    let kinds: Vec<&Value> =
        planned["changes"].as_array().unwrap().iter().map(|change| &change["kind"]).collect();
    assert_eq!(kinds, ["condition", "policy"]);
    tenant.manage(APPLY, &body(&first)).is(200);
    decides(&tenant, &json!({"team": "blue"}), "allow");
    let exported = tenant.get("/api/v1/export").is(200).json();
    assert_eq!(exported["bundle"]["conditions"], first["conditions"]);
    put(&tenant, "on_team", "user.x").refused(409, "MANAGED");
    // A faulty name of the bundle has its place.
    let unknown = bundle("condition.nowhere");
    let refused = tenant.manage(APPLY, &body(&unknown)).invalid();
    assert_eq!(refused.paths(), ["/bundle/conditions/0/when", "/bundle/policies/0/when"]);
    // A policy of the API uses the condition: it cannot go.
    policy(&tenant, "by-hand", "!condition.on_team").is(201);
    let without = json!({"conditions": [], "policies": []});
    let refused = tenant.manage(APPLY, &body(&without)).refused(409, "CONFLICT");
    assert_eq!(broken(&refused), ["policy by-hand"]);
    // The impact of a change is that on the policies that use the condition, although their texts stay.
    let asking = json!({"owner": OWNER, "bundle": bundle("user.team == \"red\""), "impact": true});
    let impact = tenant.manage(PLAN, &asking).is(200).json()["impact"]["changes"].clone();
    let texts = |side: &str| impact[0][side]["condition"].as_str().unwrap_or_default().to_owned();
    assert_eq!(impact[0]["resource"], "ticket:read", "{impact}");
    assert!(texts("before").contains("user.team == resource.team"), "{impact}");
    assert!(texts("after").contains("user.team == \"red\""), "{impact}");
    // A change shows in the plan, and the cases of the gate see it.
    let case = json!({"name": "blue reads", "check": check(&json!({"team": "blue"})),
        "expect": {"decision": "allow", "rule": "agents"}});
    let mut gated = first.clone();
    gated["settings"] = json!({"gates": {"cases": true}});
    gated["cases"] = json!([case]);
    tenant.manage(APPLY, &body(&gated)).is(200);
    let change = json!({"when": "user.team == \"red\""});
    let forced = tenant.manage("PUT /api/v1/conditions/on_team?force=true", &change);
    forced.refused(422, "CASES_FAILED");
    decides(&tenant, &json!({"team": "blue"}), "allow");
}

#[test]
fn a_revision_is_restored_with_its_conditions() {
    let tenant = Tenant::new();
    put(&tenant, "on_team", "user.team == resource.team").is(201);
    policy(&tenant, "agents", "condition.on_team").is(201);
    put(&tenant, "on_team", "user.team == \"red\"").is(200);
    decides(&tenant, &json!({"team": "blue"}), "deny");
    let changes = tenant.get("/api/v1/revisions/3").is(200).json();
    assert!(changes.to_string().contains("condition"), "{changes}");
    let restored = tenant.manage("POST /api/v1/revisions/2/restore", &json!({})).is(200).json();
    // The condition is written back, and the policy stays.
    assert_eq!(restored["counts"]["update"], 1);
    assert_eq!(restored["counts"]["unchanged"], 1);
    decides(&tenant, &json!({"team": "blue"}), "allow");
    let shown = tenant.get("/api/v1/conditions/on_team").is(200).json();
    assert_eq!(shown["when"], "user.team == resource.team");
}
