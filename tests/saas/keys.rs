//! The bootstrap key, which a new tenant starts with.

use serde_json::json;

use crate::support::{Operator, Reply, Request, Server, Tenant};

/// A request with a service key.
fn with_key(server: &Server, route: &str, key: &str, body: &serde_json::Value) -> Reply {
    Request::new(route).header("x-service-api-key", key).json(body).send(server.address)
}

#[test]
fn the_bootstrap_key_manages_and_can_be_revoked() {
    let server = Server::shared();
    let operator = Operator::new(&server);
    let created = operator.create("the-bootstrapped").is(201);
    let key = created.text_of("bootstrapKey");
    let list = "GET /api/v1/resources";
    with_key(&server, "POST /api/v1/resources", &key, &json!({"name": "doc:read"})).is(201);
    let rule = json!({"sub": "alice", "obj": "doc:read", "act": "read", "effect": "allow"});
    let rule = with_key(&server, "POST /api/v1/resources/policies", &key, &rule).is(201);
    assert_eq!(rule.text_of("dom"), "the-bootstrapped", "a key's domain is the slug");
    // The same tenant, for people.
    let tenant = Tenant::with_provider(&server, crate::support::Provider::shared(), "bootstrapped");
    assert_eq!(tenant.id, created.id());
    let check = json!({
        "subject": "alice", "resource": "doc:read", "action": "read", "domain": "the-bootstrapped",
    });
    assert_eq!(tenant.check(&check).is(200).text_of("matched_rule_id"), rule.id());
    let keys = tenant.get("/api/v1/service-api-keys").is(200).json();
    assert_eq!((keys.as_array().unwrap().len(), &keys[0]["name"]), (1, &json!("bootstrap")));
    assert!(!keys.to_string().contains(&key));
    let id = keys[0]["id"].as_str().unwrap();
    with_key(&server, list, &key, &json!({})).is(200);
    tenant.delete(&format!("/api/v1/service-api-keys/{id}")).is(204);
    with_key(&server, list, &key, &json!({})).refused(401, "UNAUTHENTICATED");
    tenant.get("/api/v1/service-api-keys").is(200).has(&json!([]));
}

#[test]
fn a_key_of_one_tenant_sees_nothing_of_another() {
    let server = Server::shared();
    let other = Tenant::new();
    other.resource("doc:read");
    let key = Operator::new(&server).create("stranger").is(201).text_of("bootstrapKey");
    with_key(&server, "GET /api/v1/resources", &key, &json!({})).is(200).has(&json!([]));
    let other = if key.ends_with('x') { 'y' } else { 'x' };
    let changed = format!("{}{other}", &key[..key.len() - 1]);
    for wrong in [&changed, "pck_", "", &key.to_uppercase()] {
        with_key(&server, "GET /api/v1/resources", wrong, &json!({}))
            .refused(401, "UNAUTHENTICATED");
    }
}
