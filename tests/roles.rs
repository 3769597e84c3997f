//! `/api/v1/roles`: roles that include other roles (`docs/semantics.md`, section 11.8).

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
