//! `SINGLE_TENANT`: every token belongs to one tenant, and domains are a dimension inside it.

use serde_json::{Value, json};

use crate::support::routes::{CHECKS, MANAGEMENT, with_id};
use crate::support::tenant::Decision;
use crate::support::{MANAGER, NO_ID, Provider, Request, Settings, Tenant};

const RULES: &str = "/api/v1/resources/policies";

fn settings() -> Settings {
    Settings::new(Provider::shared()).set("SINGLE_TENANT", "acme")
}

/// A check in a domain.
fn check_in(domain: &str) -> Value {
    json!({"subject": "alice", "resource": "doc:read", "action": "read", "domain": domain})
}

#[test]
fn every_token_belongs_to_the_tenant_and_its_domain_is_a_dimension() {
    let server = settings().start();
    // The names are the domain claims of the tokens.
    let [berlin, paris] =
        ["berlin", "paris"].map(|name| Tenant::with_provider(&server, Provider::shared(), name));
    let rule = berlin.rule("alice", "doc:read", "read", "allow");
    let resources = berlin.manage("POST /api/v1/resources", &json!({"name": "doc:read"})).is(201);
    assert_eq!(resources.text_of("tenant_id"), "acme");
    // Both are of one tenant: they see its records, and any may check in any domain.
    assert_eq!(paris.get("/api/v1/resources").is(200).json()[0]["id"], *resources.id());
    for tenant in [&berlin, &paris] {
        Decision::new(&tenant.check(&check_in("berlin"))).is("allow", &rule);
        Decision::new(&tenant.check(&check_in("paris"))).is_default();
    }
    paris.decide("alice", "doc:read", "read").is_default();
    berlin.decide("alice", "doc:read", "read").is("allow", &rule);
    // A rule may lie in any domain.
    let in_rome =
        json!({"sub": "alice", "dom": "rome", "obj": "doc:read", "act": "read", "effect": "allow"});
    let in_rome = paris.manage(format!("POST {RULES}"), &in_rome).is(201).id();
    Decision::new(&berlin.check(&check_in("rome"))).is("allow", &in_rome);
}

#[test]
fn no_header_names_a_domain() {
    let server = settings().start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "berlin");
    let token = tenant.token_with("boss", &[MANAGER], &json!({"adm": "*"}));
    for route in MANAGEMENT.iter().chain(&CHECKS) {
        for domain in ["acme", "berlin", "paris", "*"] {
            let request =
                Request::new(with_id(route, NO_ID)).token(&token).header("x-domain", domain);
            tenant.send(&request.json(&check_in("berlin"))).refused(400, "BAD_REQUEST");
        }
    }
    let admin = Request::new("GET /admin/tenants")
        .header("x-admin-api-key", "0123456789abcdef0123456789abcdef");
    tenant.send(&admin).refused(404, "NOT_FOUND");
}

#[test]
fn data_of_other_tenants_stays_and_no_credential_reaches_it() {
    let several = Settings::new(Provider::shared());
    let server = several.start();
    let [acme, other] =
        ["acme", "other"].map(|name| Tenant::with_provider(&server, Provider::shared(), name));
    let key = |tenant: &Tenant<'_>| {
        tenant.rule("alice", "doc:read", "read", "allow");
        tenant.manage("POST /api/v1/service-api-keys", &json!({"name": "k"})).is(201).text_of("key")
    };
    let keys = [key(&acme), key(&other)];
    assert!(server.stop().success());
    let server = several.clone().set("SINGLE_TENANT", "acme").start();
    let [acme, other] = [acme.at(&server), other.at(&server)];
    let status = |key: &str| {
        let list = Request::new("GET /api/v1/resources").header("x-service-api-key", key);
        list.send(server.address).status
    };
    assert_eq!(keys.each_ref().map(|key| status(key)), [200, 401]);
    // The rules of `acme` lie in the domain `acme`, as its tokens had it.
    assert!(acme.decide("alice", "doc:read", "read").allowed());
    other.decide("alice", "doc:read", "read").is_default();
    assert!(Decision::new(&other.check(&check_in("acme"))).allowed());
    assert!(server.stop().success());
    let server = several.start();
    assert!(other.at(&server).decide("alice", "doc:read", "read").allowed(), "nothing is lost");
}
