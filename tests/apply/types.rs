//! Types in a bundle.

use serde_json::json;

use super::{APPLY, apply, body, body_with, changes};
use crate::support::Tenant;

#[test]
fn types_are_planned_applied_exported_and_pruned_as_other_objects() {
    let tenant = Tenant::new();
    let wiki =
        json!({"type": "wiki", "properties": {"owner": {"type": "text", "from": "directory"}}});
    let user = json!({"type": "user", "about": "Staff", "properties": {"team": {"type": "text"}}});
    let answer = apply(&tenant, &json!({"types": [user, wiki]})).json();
    assert_eq!(changes(&answer), ["create type user", "create type wiki"]);
    let exported = tenant.get("/api/v1/export").is(200).json();
    assert_eq!(exported["bundle"]["types"], json!([user, wiki]));
    let again = apply(&tenant, &json!({"types": [wiki, user]})).json();
    assert_eq!((changes(&again).len(), &again["counts"]["unchanged"]), (0, &json!(2)));
    let path = "PUT /api/v1/types/wiki";
    tenant.manage(path, &json!({})).refused(409, "MANAGED");
    // A bundle without the member leaves the types as they are.
    apply(&tenant, &json!({"rules": []}));
    let changed = json!({"type": "wiki", "properties": {"owner": {"type": "list<text>"}}});
    let pruned = body_with(&json!({"types": [changed]}), &json!({"prune": true}));
    let pruned = tenant.manage(APPLY, &pruned).is(200).json();
    assert_eq!(changes(&pruned), ["update type wiki", "delete type user"]);
    assert_eq!(pruned["changes"][0]["fields"][0]["path"], "/properties");
    tenant.get("/api/v1/types/user").refused(404, "NOT_FOUND");
}

#[test]
fn a_bundle_is_compared_with_the_types_that_it_brings() {
    let tenant = Tenant::new();
    let policy = |when: &str| json!({"name": "p", "resource": "wiki:read", "effect": "deny", "priority": 1, "when": when});
    let case = |name: &str| {
        let check = json!({
            "subject": "ann", "resource": "wiki:read", "action": "read",
            "attributes": {"resource": {name: "ann"}},
        });
        json!({"name": "c", "check": check, "expect": {"decision": "deny", "rule": "default-deny"}})
    };
    let types = json!([{"type": "wiki", "properties": {"owner": {"type": "text"}}}]);
    let faulty = json!({
        "types": types, "policies": [policy("resource.ownr == request.subject")],
        "cases": [case("ownr")], "users": [],
    });
    let refused = tenant.manage(APPLY, &body(&faulty)).refused(400, "VALIDATION_ERROR");
    let cases = "/bundle/cases/0/check/attributes/resource/ownr";
    assert_eq!(refused.paths(), ["/bundle/policies/0/when", cases]);
    assert!(refused.message().contains("did you mean `resource.owner`?"), "{}", refused.text);

    // What is stored and not in the bundle is a conflict.
    let stored = json!({"policies": [policy("resource.ownr == \"x\"")], "cases": [case("ownr")], "users": []});
    apply(&tenant, &stored);
    let entity = json!({"entities": [{"type": "wiki", "id": "w", "properties": {"ownr": "ann"}}]});
    tenant.manage("PUT /api/v1/entities", &entity).is(200);
    let refused = tenant.manage(APPLY, &body(&json!({"types": types}))).refused(409, "CONFLICT");
    let details = refused.details();
    let kinds: Vec<_> = (0..2).map(|at| details["broken"][at]["kind"].clone()).collect();
    assert_eq!((kinds, &details["count"]), (vec![json!("policy"), json!("case")], &json!(2)));
    let mended = json!({
        "types": types, "policies": [policy("resource.owner == \"x\"")], "cases": [case("owner")],
    });
    let refused = tenant.manage(APPLY, &body(&mended)).refused(409, "CONFLICT");
    assert_eq!(refused.details()["broken"][0]["name"], "wiki:w");
    tenant.delete("/api/v1/entities/wiki/w").is(204);
    apply(&tenant, &mended);
}
