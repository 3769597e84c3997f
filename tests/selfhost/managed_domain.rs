//! A manager who administers other domains manages them with the header `X-Domain`.

use serde_json::{Value, json};

use crate::support::routes::{CHECKS, MANAGEMENT, with_id};
use crate::support::{MANAGER, NO_ID, Provider, Reply, Request, Settings, Tenant, eventually};

const RULES: &str = "/api/v1/resources/policies";

fn rule() -> Value {
    json!({"sub": "alice", "obj": "doc:read", "act": "read", "effect": "allow"})
}

/// Sends a request of a member of `tenant` whose admin-domain claim is `adm`, about `domain`.
fn about(tenant: &Tenant<'_>, adm: &Value, domain: &str, route: &str, body: &Value) -> Reply {
    let token = tenant.token_with("root", &["user"], &json!({"adm": adm}));
    tenant.send(&Request::new(route).token(&token).header("x-domain", domain).json(body))
}

#[test]
fn what_the_manager_writes_lies_in_the_named_domain() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let adm = json!(["x", other.name]);
    let create = format!("POST {RULES}");
    let created = about(&tenant, &adm, &other.name, &create, &rule()).is(201);
    assert_eq!(created.text_of("dom"), other.name, "the default is the named domain");
    assert_eq!(created.text_of("created_by"), "root");
    other.decide("alice", "doc:read", "read").is("allow", &created.id());
    tenant.decide("alice", "doc:read", "read").is_default();
    let resource = json!({"name": "doc:write", "defaultRoles": ["writer"]});
    about(&tenant, &adm, &other.name, "POST /api/v1/resources", &resource).is(201);
    assert!(other.decide("writer", "doc:write", "write").allowed());
    assert_eq!(other.get("/api/v1/resources").is(200).json().as_array().map(Vec::len), Some(1));
    tenant.get("/api/v1/resources").is(200).has(&json!([]));
    // The own domain of the token is another tenant there.
    let back = json!({"sub": "a", "dom": tenant.name, "obj": "b:c", "act": "c", "effect": "allow"});
    about(&tenant, &adm, &other.name, &create, &back).invalid();
    let audit = other.get("/api/v1/audit").is(200).json();
    assert_eq!((&audit[0]["actor"], &audit[0]["credential"]), (&json!("root"), &json!("token")));
    tenant.get("/api/v1/audit").is(200).has(&json!([]));
}

#[test]
fn the_claim_must_name_the_domain() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    for adm in [json!(null), json!(tenant.name), json!(format!("{} ", other.name)), json!({"a": 1})]
    {
        for route in MANAGEMENT {
            let route = with_id(route, NO_ID);
            let refused = about(&tenant, &adm, &other.name, &route, &rule());
            let refused = refused.refused(403, "ACCESS_DENIED");
            assert!(refused.message().contains(&other.name), "{}", refused.text);
        }
    }
    // A manager role counts in the own domain alone.
    let boss = tenant.token("boss", &[MANAGER]);
    let list = |domain: &str| {
        Request::new("GET /api/v1/resources").token(&boss).header("x-domain", domain)
    };
    tenant.send(&list(&other.name)).refused(403, "ACCESS_DENIED");
    tenant.send(&list(&tenant.name)).is(200);
}

#[test]
fn a_faulty_header_and_one_on_a_check_are_refused() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let everything = json!("*");
    for domain in ["", "*", " ", &"a".repeat(257)] {
        let refused = about(&tenant, &everything, domain, "GET /api/v1/resources", &json!(null));
        refused.refused(400, "BAD_REQUEST");
    }
    let token = tenant.token_with("root", &["user"], &json!({"adm": "*"}));
    let twice = Request::new("GET /api/v1/resources").token(&token);
    let twice = twice.header("x-domain", &other.name).header("X-Domain", &other.name);
    tenant.send(&twice).refused(400, "BAD_REQUEST");
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    for route in CHECKS {
        let refused = about(&tenant, &everything, &other.name, route, &check);
        assert!(refused.refused(400, "BAD_REQUEST").message().contains("body"), "{route}");
    }
    assert_eq!(other.decide("alice", "doc:read", "read").revision, 0);
}

#[test]
fn a_key_manages_its_own_tenant_alone() {
    let tenant = Tenant::new();
    let body = json!({"name": "k", "permissions": ["resources:read"]});
    let key = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    let list = Request::new("GET /api/v1/resources").header("x-service-api-key", &key);
    tenant.send(&list).is(200);
    for domain in [&*tenant.name, "other", "*"] {
        let refused = tenant.send(&list.clone().header("x-domain", domain));
        assert!(refused.refused(400, "BAD_REQUEST").message().contains("service key"));
    }
}

#[test]
fn a_suspended_domain_is_refused() {
    let settings = Settings::new(Provider::shared());
    let server = settings.start();
    let [tenant, other] =
        ["north", "south"].map(|name| Tenant::with_provider(&server, Provider::shared(), name));
    other.resource("doc:read");
    let list = || about(&tenant, &json!("south"), "south", "GET /api/v1/resources", &json!(null));
    list().is(200);
    assert_eq!(settings.run(&["tenants", "suspend", "south"]).code, Some(0));
    eventually("the server knows it", || list().status == 403);
    list().refused(403, "TENANT_SUSPENDED");
    tenant.get("/api/v1/resources").is(200);
}
