//! `/api/v1/apply` and `/api/v1/export`: the content of a tenant as a whole.

mod kills;
mod managed;
mod modules;
mod refusals;
mod types;

use serde_json::{Value, json};

use crate::support::{Reply, Tenant};

const APPLY: &str = "POST /api/v1/apply";
const PLAN: &str = "POST /api/v1/apply?dry_run=true";
const OWNER: &str = "git:github.com/acme/authz";

/// A body of [`OWNER`] with this bundle.
fn body(bundle: &Value) -> Value {
    json!({"owner": OWNER, "bundle": bundle})
}

/// The body with some members replaced or added.
fn body_with(bundle: &Value, changes: &Value) -> Value {
    let mut body = body(bundle);
    for (name, value) in changes.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    body
}

/// Applies a bundle as `boss`.
#[track_caller]
fn apply(tenant: &Tenant<'_>, bundle: &Value) -> Reply {
    tenant.manage(APPLY, &body(bundle)).is(200)
}

/// A policy that denies at a priority.
fn policy(name: &str, resource: &str, priority: i64) -> Value {
    json!({"name": name, "resource": resource, "effect": "deny", "priority": priority,
        "when": "(user.blocked == true) ?? false"})
}

/// A bundle with one object of four kinds.
fn bundle() -> Value {
    json!({
        "resources": [{"name": "wiki:read", "defaultRoles": ["reader"]}],
        "rules": [{"sub": "ann", "obj": "wiki:*", "act": "read", "effect": "allow"}],
        "policies": [policy("blocked", "wiki:*", 10)],
        "webhooks": [{"url": "https://hook.example/", "events": ["access.denied"],
            "secret": "0123456789abcdef"}],
    })
}

/// Returns action, kind and name of each change.
fn changes(answer: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |change: &Value| {
        format!("{} {} {}", text(&change["action"]), text(&change["kind"]), text(&change["name"]))
    };
    answer["changes"].as_array().into_iter().flatten().map(line).collect()
}

#[test]
fn a_plan_writes_nothing_and_an_apply_writes_it_at_once() {
    let tenant = Tenant::new();
    let planned = tenant.manage(PLAN, &body(&bundle())).is(200).json();
    let expected = [
        "create resource wiki:read",
        "create rule ann, X, wiki:*, read",
        "create policy blocked",
        "create webhook https://hook.example/",
    ]
    .map(|line| line.replace('X', &tenant.name));
    assert_eq!((changes(&planned), &planned["applied"]), (expected.to_vec(), &json!(false)));
    assert_eq!(tenant.get("/api/v1/abac/policies").is(200).json(), json!([]));
    let before = planned["revision"].as_u64().expect("a revision");
    let applied = apply(&tenant, &bundle());
    assert_eq!(applied.revision(), before + 1);
    let answer = applied.json();
    assert_eq!((changes(&answer), &answer["applied"]), (expected.to_vec(), &json!(true)));
    assert_eq!(answer["fingerprint"], planned["fingerprint"]);
    assert_eq!(
        answer["counts"],
        json!({"create": 4, "update": 0, "delete": 0, "adopt": 0, "unchanged": 0})
    );
    assert!(tenant.decide("ann", "wiki:read", "read").allowed());
    let policies = tenant.get("/api/v1/abac/policies").is(200).json();
    assert_eq!(
        (&policies[0]["managed_by"], &policies[0]["created_by"]),
        (&json!(OWNER), &json!("boss"))
    );
}

#[test]
fn a_plan_shows_the_decisions_that_it_changes() {
    let tenant = Tenant::new();
    let planned = tenant.manage(PLAN, &body(&bundle())).is(200).json();
    assert_eq!(planned["impact"], Value::Null, "nobody asked");
    let asking = body_with(&bundle(), &json!({"impact": true}));
    let impact = tenant.manage(PLAN, &asking).is(200).json()["impact"].clone();
    assert_eq!((&impact["complete"], &impact["note"]), (&json!(true), &Value::Null));
    let of = |role: &str, resource: &str| {
        let is_it = |change: &&Value| change["role"] == role && change["resource"] == resource;
        impact["changes"].as_array().into_iter().flatten().find(is_it).cloned()
    };
    let change = of("ann", "wiki:read").unwrap_or_else(|| panic!("{impact}"));
    assert_eq!(change["before"], json!({"decision": "deny"}));
    assert_eq!(change["after"]["decision"], "depends", "{change}");
    assert_eq!(change["after"]["policies"], json!(["blocked"]), "{change}");
    assert!(of("reader", "wiki:read").is_some(), "the default role: {impact}");
    assert_eq!(of("reader", "doc:read"), None);
}

#[test]
fn cases_judge_included_roles_as_checks_do() {
    let tenant = Tenant::new();
    tenant.rule("reader", "doc:read", "read", "allow");
    let check = |role: &str| json!({"subject": "ann", "resource": "doc:read", "action": "read", "attributes": {"user": {"roles": [role]}}});
    let case = json!({"name": "interns do not read", "check": check("intern"),
        "expect": {"decision": "deny", "rule": "default-deny"}});
    apply(&tenant, &json!({"settings": {"gates": {"cases": true}}, "cases": [case]}));
    let of =
        |role: &str, included: &str| json!({"roles": [{"name": role, "includes": [included]}]});
    let interns = of("intern", "reader");
    let asking = body_with(&interns, &json!({"impact": true}));
    let planned = tenant.manage(PLAN, &asking).is(200).json();
    assert_eq!(planned["tests"]["failed"][0]["case"], "interns do not read");
    assert_eq!(
        planned["impact"]["changes"],
        json!([{"role": "intern", "domain": tenant.name, "resource": "doc:read", "action": "read",
            "before": {"decision": "deny"}, "after": {"decision": "allow"}}])
    );
    tenant.manage(APPLY, &body(&interns)).refused(422, "CASES_FAILED");
    // A role is not an entity.
    let entity = json!({"entities": [{"type": "user", "id": "eve"}]});
    tenant.manage("PUT /api/v1/entities", &entity).is(200);
    for route in [PLAN, APPLY] {
        let refused = tenant.manage(route, &body(&of("lead", "eve"))).invalid();
        assert_eq!(refused.paths(), ["/bundle/roles"]);
    }
    let applied = apply(&tenant, &of("lead", "reader"));
    assert_eq!(changes(&applied.json()), ["create role lead"]);
    assert_eq!(tenant.check(&check("lead")).is(200).text_of("decision"), "allow");
    let audited = tenant.get("/api/v1/audit?action=role.created").is(200).json();
    assert_eq!(audited[0]["records"], json!(["lead"]));
    let exported = tenant.get("/api/v1/export").is(200).json();
    assert_eq!(exported["bundle"]["roles"], of("lead", "reader")["roles"]);
}

#[test]
fn the_same_bundle_changes_nothing() {
    let tenant = Tenant::new();
    let first = apply(&tenant, &bundle());
    let again = apply(&tenant, &bundle());
    assert_eq!(again.revision(), first.revision());
    let answer = again.json();
    assert_eq!((changes(&answer), &answer["counts"]["unchanged"]), (vec![], &json!(4)));
    // What the export says is what is there.
    let exported = tenant.get("/api/v1/export").is(200).json();
    let again = apply(&tenant, &exported["bundle"]);
    assert_eq!((changes(&again.json()), again.revision()), (vec![], first.revision()));
}

#[test]
fn an_export_is_a_bundle_without_ids_and_secrets() {
    let tenant = Tenant::new();
    tenant.rule("eve", "doc:read", "read", "deny");
    apply(&tenant, &bundle());
    let reply = tenant.get("/api/v1/export").is(200);
    let exported = reply.json();
    assert_eq!(exported["revision"], reply.revision());
    let bundle = &exported["bundle"];
    assert_eq!(bundle["resources"], json!([{"name": "wiki:read", "defaultRoles": ["reader"]}]));
    assert_eq!(
        bundle["rules"],
        json!([
            {"sub": "eve", "obj": "doc:read", "act": "read", "effect": "deny"},
            {"sub": "ann", "obj": "wiki:*", "act": "read", "effect": "allow"},
        ])
    );
    assert_eq!(bundle["policies"], json!([policy("blocked", "wiki:*", 10)]));
    assert_eq!(
        bundle["webhooks"],
        json!([{"url": "https://hook.example/", "events": ["access.denied"], "secret": null}])
    );
    assert_eq!(reply.text, tenant.get("/api/v1/export").text);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let own = tenant.get(&format!("/api/v1/export?owner={OWNER}")).is(200).json();
    assert_eq!(own["bundle"]["rules"].as_array().map(Vec::len), Some(1));
    tenant.get("/api/v1/export?owner=a%20b").refused(400, "BAD_REQUEST");
}

#[test]
fn an_object_without_owner_is_adopted_and_keeps_its_id() {
    let tenant = Tenant::new();
    let rule = tenant.rule("ann", "wiki:*", "read", "allow");
    let answer = apply(&tenant, &json!({"rules": bundle()["rules"]})).json();
    let name = format!("ann, {}, wiki:*, read", tenant.name);
    assert_eq!(
        answer["changes"],
        json!([{"kind": "rule", "name": name, "action": "adopt",
            "fields": [{"path": "/managed_by", "before": null, "after": OWNER}]}])
    );
    let shown = tenant.get(&format!("/api/v1/resources/policies?id={rule}")).is(200).json();
    assert_eq!((&shown["managed_by"], &shown["created_by"]), (&json!(OWNER), &json!("boss")));
}

#[test]
fn prune_takes_what_the_owner_has_and_nothing_else() {
    let tenant = Tenant::new();
    tenant.rule("eve", "doc:read", "read", "deny");
    apply(&tenant, &bundle());
    let none = json!({"rules": []});
    let kept = tenant.manage(APPLY, &body_with(&none, &json!({"prune": false}))).is(200).json();
    assert_eq!(changes(&kept), [""; 0]);
    let answer = apply(&tenant, &none).json();
    assert_eq!(changes(&answer), [format!("delete rule ann, {}, wiki:*, read", tenant.name)]);
    let rules = tenant.get("/api/v1/resources/policies").is(200).json();
    let subjects: Vec<_> = rules.as_array().into_iter().flatten().map(|one| &one["sub"]).collect();
    assert_eq!(subjects, ["eve", "reader"]);
}

#[test]
fn each_change_has_its_audit_record() {
    let tenant = Tenant::new();
    apply(&tenant, &bundle());
    let records = tenant.get("/api/v1/audit?actor=boss").is(200).json();
    let records = records.as_array().into_iter().flatten();
    let mut actions: Vec<_> = records.map(|one| one["action"].as_str().unwrap_or("")).collect();
    actions.sort_unstable();
    let expected = ["policy.created", "resource.registered", "rule.created", "webhook.created"];
    assert_eq!(actions, expected);
}

#[test]
fn doubts_have_their_place_in_the_body() {
    let tenant = Tenant::new();
    let mut doubtful = bundle();
    doubtful["policies"] = json!([policy("blocked", "wki:*", 10)]);
    let answer = apply(&tenant, &doubtful).json();
    let warnings = answer["warnings"].as_array().cloned().unwrap_or_default();
    let places: Vec<_> = warnings.iter().map(|one| (&one["code"], &one["path"])).collect();
    assert_eq!(places, [(&json!("UNREGISTERED"), &json!("/bundle/policies/0/resource"))]);
}
