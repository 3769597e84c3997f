//! Domains: a dimension of the rules of one tenant, and no way into another.

use serde_json::{Value, json};

use crate::support::routes::{CHECKS, MANAGEMENT, with_id};
use crate::support::tenant::Decision;
use crate::support::{MANAGER, NO_ID, Request, Tenant};

const RULES: &str = "/api/v1/resources/policies";

/// A check in a domain.
fn check_in(domain: &str) -> Value {
    json!({"subject": "alice", "resource": "doc:read", "action": "read", "domain": domain})
}

/// A rule in a domain.
fn rule_in(domain: &str) -> Value {
    json!({"sub": "alice", "dom": domain, "obj": "doc:read", "act": "read", "effect": "allow"})
}

#[test]
fn any_domain_may_be_named_in_rules_and_checks_of_the_tenant() {
    let tenant = Tenant::new();
    let rule = tenant.manage(format!("POST {RULES}"), &rule_in("berlin")).is(201);
    assert_eq!(rule.text_of("dom"), "berlin");
    for (domain, expected) in [("berlin", &*rule.id()), ("paris", "default-deny")] {
        for route in CHECKS {
            let request = Request::new(route).token(&tenant.token("gateway", &["service"]));
            let reply = tenant.send(&request.json(&check_in(domain))).is(200);
            assert_eq!(reply.text_of("matched_rule_id"), expected, "{route} in {domain}");
        }
    }
    tenant.decide("alice", "doc:read", "read").is_default();
    let moved = json!({"id": rule.id(), "dom": "paris"});
    tenant.manage(format!("PUT {RULES}"), &moved).is(200);
    Decision::new(&tenant.check(&check_in("paris"))).is("allow", &rule.id());
    Decision::new(&tenant.check(&check_in("berlin"))).is_default();
}

#[test]
fn the_domain_claim_is_the_default_of_rules_and_checks() {
    let tenant = Tenant::new();
    let token = tenant.token_with("boss", &[MANAGER], &json!({"dom": "berlin"}));
    let rule = json!({"sub": "alice", "obj": "doc:read", "act": "read", "effect": "allow"});
    let create = Request::new(format!("POST {RULES}")).token(&token).json(&rule);
    let rule = tenant.send(&create).is(201);
    assert_eq!(rule.text_of("dom"), "berlin");
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    Decision::new(&tenant.check_by(&token, &check)).is("allow", &rule.id());
    tenant.decide("alice", "doc:read", "read").is_default();
}

#[test]
fn the_name_of_another_tenant_is_a_domain_like_any_other() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    other.rule("alice", "doc:read", "read", "allow");
    for domain in [&other.name, &other.id, &format!("the-{}", other.name)] {
        let reply = tenant.check(&check_in(domain));
        let decision = Decision::new(&reply);
        decision.is_default();
        assert_eq!(decision.revision, 0, "the revision is that of the own tenant");
    }
    // Neither does any claim open another tenant.
    for adm in [json!(other.name), json!(other.id), json!("*")] {
        let claims = json!({"adm": adm, "dom": other.name, "tenant_id": other.id});
        let token = tenant.token_with("root", &[MANAGER], &claims);
        Decision::new(&tenant.check_by(&token, &check_in(&other.name))).is_default();
        let list = Request::new("GET /api/v1/resources").token(&token);
        tenant.send(&list).is(200).has(&json!([]));
    }
    tenant.manage(format!("POST {RULES}"), &rule_in(&other.name)).is(201);
    assert_eq!(other.decide("alice", "doc:read", "read").revision, 1, "nothing was written there");
}

#[test]
fn the_domain_in_question_is_that_of_the_token() {
    let tenant = Tenant::new();
    let status = |dom: &str, adm: Value| {
        let token = tenant.token_with("alice", &["user"], &json!({"dom": dom, "adm": adm}));
        let route = with_id(MANAGEMENT[1], NO_ID);
        tenant.send(&Request::new(route).token(&token)).status
    };
    assert_eq!(status("berlin", json!("berlin")), 200);
    assert_eq!(status("berlin", json!(["paris", "berlin"])), 200);
    assert_eq!(status("berlin", json!("*")), 200);
    assert_eq!(status("berlin", json!("paris")), 403);
    assert_eq!(status("berlin", json!(tenant.id)), 403);
    assert_eq!(status("berlin", json!(null)), 403);
}

#[test]
fn no_header_names_a_domain() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let token = tenant.token_with("boss", &[MANAGER], &json!({"adm": "*"}));
    for route in MANAGEMENT.iter().chain(&CHECKS) {
        for domain in [&tenant.name, &other.name, &other.id] {
            let request = Request::new(with_id(route, NO_ID)).token(&token);
            let request = request.header("x-domain", domain).json(&rule_in("berlin"));
            let refused = tenant.send(&request).refused(400, "BAD_REQUEST");
            assert!(refused.message().contains("X-Domain"), "{}", refused.text);
        }
    }
}
