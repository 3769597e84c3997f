//! `/api/v1/revisions`: the history of a tenant (`docs/semantics.md`, section 16).

use serde_json::{Value, json};

use crate::support::tenant::always;
use crate::support::{NO_ID, Reply, Tenant};

fn of(reply: &Value, member: &str) -> Vec<Value> {
    reply.as_array().expect("a list").iter().map(|one| one[member].clone()).collect()
}

fn include(tenant: &Tenant<'_>, name: &str, includes: &[&str]) -> Reply {
    tenant.manage(format!("PUT /api/v1/roles/{name}"), &json!({"includes": includes}))
}

#[test]
fn each_acknowledged_write_is_a_revision_with_its_changes() {
    let tenant = Tenant::new();
    let policy = tenant.policy("p", "doc:read", "deny", 1, &always());
    let path = format!("PUT /api/v1/abac/policies/{policy}");
    tenant.manage(&path, &json!({"priority": "high"})).refused(400, "VALIDATION_ERROR");
    let update = tenant.managing(&path).json(&json!({"priority": 2}));
    tenant.send(&update.header("x-request-id", "update-1")).is(200);
    let bundle = json!({
        "owner": "git:a", "message": "two rules", "source": {"commit": "3f2c"},
        "bundle": {"rules": [
            {"sub": "ann", "obj": "doc:read", "act": "read", "effect": "allow"},
            {"sub": "bob", "obj": "doc:read", "act": "read", "effect": "allow"},
        ]},
    });
    tenant.manage("POST /api/v1/apply", &bundle).is(200);
    tenant.delete(&format!("/api/v1/abac/policies/{policy}")).is(204);

    let list = tenant.get("/api/v1/revisions").is(200).json();
    assert_eq!(of(&list, "revision"), [4, 3, 2, 1]);
    assert_eq!(of(&list, "via"), ["api", "apply", "api", "api"]);
    assert_eq!(of(&list, "count"), [1, 2, 1, 1]);
    assert_eq!(of(&list, "actor"), ["boss", "boss", "boss", "boss"]);
    assert_eq!(list[2]["request_id"], "update-1");
    assert_eq!(
        (&list[1]["message"], &list[1]["source"]["commit"]),
        (&json!("two rules"), &json!("3f2c"))
    );

    let update = tenant.get("/api/v1/revisions/2").is(200).json();
    let change = json!({
        "record": policy, "kind": "policy", "name": "p", "action": "update",
        "fields": [{"path": "/priority", "before": 1, "after": 2}],
        "words": "policy `p`: `priority` from 1 to 2",
    });
    assert_eq!((&update["changes"], &update["complete"]), (&json!([change]), &json!(true)));
    let history = tenant.get(&format!("/api/v1/abac/policies/{policy}/history")).is(200).json();
    assert_eq!(of(&history, "revision"), [4, 2, 1]);
    assert_eq!(history[1]["change"], change);
    tenant.get(&format!("/api/v1/abac/policies/{NO_ID}/history")).refused(404, "NOT_FOUND");
}

#[test]
fn a_diff_has_what_differs_in_its_direction() {
    let tenant = Tenant::new();
    for (name, includes) in
        [("a", &["x"][..]), ("b", &["x"]), ("a", &["y"]), ("b", &["y"]), ("b", &["x"])]
    {
        include(&tenant, name, includes);
    }
    let words = |path: &str| {
        let diff = tenant.get(&format!("/api/v1/revisions/{path}")).is(200).json();
        of(&diff["changes"], "words")
    };
    let [there, back] = ["[\"x\"] to [\"y\"]", "[\"y\"] to [\"x\"]"];
    assert_eq!(words("2/diff/5"), [format!("role `a`: `includes` from {there}")]);
    assert_eq!(words("5/diff/2"), [format!("role `a`: `includes` from {back}")]);
    assert_eq!(words("1/diff/2"), ["role `b` created"]);
    assert_eq!(words("2/diff/1"), ["role `b` deleted"]);
    assert_eq!(words("2/diff/2"), Vec::<Value>::new());
    for path in ["0/diff/1", "1/diff/6", "6", "x", "1/diff/-1", "18446744073709551616"] {
        tenant.get(&format!("/api/v1/revisions/{path}")).refused(404, "NOT_FOUND");
    }
}

#[test]
fn lists_and_changes_come_in_pages() {
    let tenant = Tenant::new();
    let rule = |n: u32| json!({"sub": format!("s{n}"), "obj": "doc:read", "act": "read", "effect": "allow"});
    let rules: Vec<Value> = (0..5).map(rule).collect();
    tenant.manage("POST /api/v1/apply", &json!({"owner": "o", "bundle": {"rules": rules}})).is(200);
    let (mut path, mut found) = ("/api/v1/revisions/1?limit=2".to_owned(), Vec::new());
    loop {
        let page = tenant.get(&path).is(200).json();
        found.extend(of(&page["changes"], "name"));
        assert_eq!(page["complete"], page["next"].is_null());
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/v1/revisions/1?limit=2&cursor={next}");
    }
    found.sort_by_key(Value::to_string);
    let expected: Vec<Value> =
        (0..5).map(|n| json!(format!("s{n}, {}, doc:read, read", tenant.name))).collect();
    assert_eq!(found, expected);
    include(&tenant, "a", &["b"]);
    let page = tenant.get("/api/v1/revisions?limit=1").is(200);
    assert_eq!(of(&page.json(), "revision"), [2]);
    let link = page.header("link").expect("there is more").to_owned();
    let next = link.trim_start_matches('<').split('>').next().expect("an address").to_owned();
    assert_eq!(of(&tenant.get(&next).is(200).json(), "revision"), [1]);
    tenant.get("/api/v1/revisions?cursor=x").refused(400, "BAD_REQUEST");
}

#[test]
fn settings_and_cases_are_in_the_history() {
    let tenant = Tenant::new();
    let check = json!({"subject": "ann", "resource": "doc:read", "action": "read"});
    let case = |name: &str| {
        let expect = json!({"decision": "deny", "rule": "default-deny"});
        json!({"name": name, "check": check, "expect": expect})
    };
    for (deletes, name) in [(30, "a"), (40, "b")] {
        let bundle = json!({"settings": {"max_deletes": deletes}, "cases": [case(name)]});
        tenant.manage("POST /api/v1/apply", &json!({"owner": "o", "bundle": bundle})).is(200);
    }
    let second = tenant.get("/api/v1/revisions/2").is(200).json();
    let paths = |kind: &str| {
        let changes = second["changes"].as_array().expect("a list").iter();
        let fields =
            changes.filter(|one| one["kind"] == kind).map(|one| of(&one["fields"], "path"));
        fields.flatten().collect::<Vec<_>>()
    };
    assert_eq!(paths("settings"), ["/max_deletes"]);
    assert_eq!(paths("case"), ["/cases/a", "/cases/b"]);
}
