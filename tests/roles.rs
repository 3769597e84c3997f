//! `/api/v1/roles`: roles that include other roles (`docs/semantics.md`, section 12.8).

use serde_json::{Value, json};

use crate::support::{Reply, Tenant};

fn include(tenant: &Tenant<'_>, name: &str, includes: &[&str]) -> Reply {
    tenant.manage(format!("PUT /api/v1/roles/{name}"), &json!({"includes": includes}))
}

#[test]
fn a_role_is_written_shown_and_deleted() {
    let tenant = Tenant::new();
    let created = include(&tenant, "head%20nurse", &["nurse", "nurse"]).is(201);
    assert_eq!(created.revision(), 1);
    assert_eq!(created.json()["name"], "head nurse");
    assert_eq!(created.json()["includes"], json!(["nurse"]));
    assert_eq!(include(&tenant, "head%20nurse", &["nurse"]).is(200).revision(), 1);
    assert_eq!(include(&tenant, "head%20nurse", &["nurse", "staff"]).is(200).revision(), 2);
    include(&tenant, "a", &["b"]).is(201);
    let listed = tenant.get("/api/v1/roles").is(200).json();
    let listed: Vec<&Value> = listed.as_array().unwrap().iter().map(|role| &role["name"]).collect();
    assert_eq!(listed, ["a", "head nurse"]);
    let path = "/api/v1/roles/head%20nurse";
    let tag = tenant.get(path).is(200).header("etag").unwrap().to_owned();
    let change = || tenant.managing(format!("PUT {path}")).json(&json!({"includes": ["x"]}));
    tenant.send(&change().header("if-match", "\"other\"")).refused(412, "PRECONDITION_FAILED");
    tenant.send(&change().header("if-match", &tag)).is(200);
    assert_eq!(tenant.delete(path).is(204).revision(), 5);
    tenant.get(path).refused(404, "NOT_FOUND");
    tenant.delete(path).refused(404, "NOT_FOUND");
}

#[test]
fn a_role_that_would_include_itself_is_refused() {
    let tenant = Tenant::new();
    include(&tenant, "a", &["b"]).is(201);
    include(&tenant, "b", &["c"]).is(201);
    for (name, includes) in [("c", &["x", "a"][..]), ("d", &["d"]), ("b", &["a"])] {
        let refused = include(&tenant, name, includes).refused(400, "VALIDATION_ERROR");
        assert_eq!(refused.details()["path"], "/includes", "{name}");
    }
    include(&tenant, "c", &[]).refused(400, "VALIDATION_ERROR");
    let entity = json!({"entities": [{"type": "user", "id": "ann"}]});
    tenant.manage("PUT /api/v1/entities", &entity).is(200);
    include(&tenant, "c", &["ann"]).refused(400, "VALIDATION_ERROR");
    let named = json!({"entities": [{"type": "user", "id": "c"}]});
    tenant.manage("PUT /api/v1/entities", &named).refused(400, "VALIDATION_ERROR");
}

#[test]
fn a_subject_with_a_role_has_its_included_roles() {
    let tenant = Tenant::new();
    tenant.rule("reader", "doc:read", "read", "allow");
    let decide = |roles: &[&str]| {
        let attributes = json!({"user": {"roles": roles}});
        let body = json!({"subject": "ann", "resource": "doc:read", "action": "read", "attributes": attributes});
        tenant.check(&body).is(200).text_of("decision")
    };
    assert_eq!(decide(&["head"]), "deny");
    include(&tenant, "editor", &["reader"]).is(201);
    include(&tenant, "head", &["editor", "staff"]).is(201);
    assert_eq!(decide(&["head"]), "allow");
    assert_eq!(decide(&["staff"]), "deny");
    // Roles of tokens and of the directory include others alike.
    let body = json!({"subject": "eve", "resource": "doc:read", "action": "read"});
    let by_token = |roles: &[&str]| {
        tenant.check_by(&tenant.token("eve", roles), &body).is(200).text_of("decision")
    };
    assert_eq!(by_token(&["head"]), "allow");
    assert_eq!(by_token(&["staff"]), "deny");
    let entity = json!({"entities": [{"type": "user", "id": "eve", "roles": ["head"]}]});
    tenant.manage("PUT /api/v1/entities", &entity).is(200);
    assert_eq!(tenant.check(&body).is(200).text_of("decision"), "allow");
    // A policy sees them, too.
    let reads = json!({"type": "CONDITION", "attribute": "request.roles", "operator": "contains", "value": "reader"});
    tenant.policy("readers print", "doc:print", "allow", 1, &reads);
    let print = json!({"subject": "eve", "resource": "doc:print", "action": "print"});
    assert_eq!(tenant.check(&print).is(200).text_of("decision"), "allow");
    tenant.delete("/api/v1/roles/editor").is(204);
    assert_eq!(tenant.check(&body).is(200).text_of("decision"), "deny");
}
