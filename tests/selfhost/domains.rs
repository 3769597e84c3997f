//! A domain is a tenant: what a token may do outside its own.

use serde_json::{Value, json};

use crate::support::routes::CHECKS;
use crate::support::tenant::Decision;
use crate::support::{MANAGER, NO_ID, Provider, Request, Server, Tenant};

const RULES: &str = "/api/v1/resources/policies";

/// A check in a domain.
fn check_in(domain: &str) -> Value {
    json!({"subject": "alice", "resource": "doc:read", "action": "read", "domain": domain})
}

#[test]
fn another_domain_needs_an_admin_domain_claim_that_names_it() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let rule = other.rule("alice", "doc:read", "read", "allow");
    tenant.rule("alice", "doc:read", "read", "deny");
    let body = check_in(&other.name);
    for adm in [
        json!(null),
        json!(""),
        json!("x"),
        json!([]),
        json!(["x", 1]),
        json!({"a": 1}),
        json!(true),
    ] {
        let token = tenant.token_with("gateway", &["service"], &json!({"adm": adm}));
        tenant.check_by(&token, &body).refused(403, "ACCESS_DENIED");
    }
    // Not even a manager of the own tenant decides for others.
    let manager = tenant.token("boss", &["admin"]);
    tenant.check_by(&manager, &body).refused(403, "ACCESS_DENIED");
    for adm in
        [json!(other.name), json!([other.name]), json!(["x", other.name]), json!("*"), json!(["*"])]
    {
        let token = tenant.token_with("gateway", &["service"], &json!({"adm": adm}));
        let decision = Decision::new(&tenant.check_by(&token, &body));
        decision.is("allow", &rule);
        assert_eq!(decision.revision, 1, "the revision is that of the other tenant");
    }
}

#[test]
fn a_domain_that_does_not_exist_answers_as_any_foreign_one() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    other.rule("alice", "doc:read", "read", "allow");
    let ask = |domain: &str| tenant.check(&check_in(domain)).refused(403, "ACCESS_DENIED");
    let (known, unknown) = (ask(&other.name), ask("no-such-tenant"));
    assert_eq!(
        known.text.replace(&other.name, "<domain>"),
        unknown.text.replace("no-such-tenant", "<domain>")
    );
}

#[test]
fn another_domain_needs_the_claim_for_a_legacy_check_too() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let rule = other.rule("alice", "doc:read", "read", "allow");
    let body = json!({"resource": "doc:read", "domain": other.name});
    let ask = |token: &str| {
        let request = Request::new("POST /api/v1/resources/access/check").token(token);
        tenant.send(&request.json(&body))
    };
    ask(&tenant.token("alice", &["user"])).refused(403, "ACCESS_DENIED");
    for adm in [json!(other.name), json!("*")] {
        let token = tenant.token_with("alice", &["user"], &json!({"adm": adm}));
        Decision::new(&ask(&token)).is("allow", &rule);
    }
}

#[test]
fn a_rule_that_could_never_match_is_refused_whatever_the_claim_names() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let foreign = json!({
        "sub": "alice", "dom": other.name, "obj": "doc:read", "act": "read", "effect": "allow",
    });
    let own = tenant.rule("alice", "doc:read", "read", "allow");
    let send = |token: &str, method: &str, body: &Value| {
        tenant.send(&Request::new(format!("{method} {RULES}")).token(token).json(body))
    };
    for adm in [json!(null), json!(other.name), json!([other.name]), json!("*")] {
        let token = tenant.token_with("boss", &[MANAGER], &json!({"adm": adm}));
        for (method, body) in [
            ("POST", foreign.clone()),
            ("PUT", json!({"id": own, "dom": other.name})),
            ("PUT", foreign.clone()),
            // The domain is judged before the record is looked for.
            ("PUT", json!({"id": NO_ID, "dom": other.name})),
        ] {
            let refused = send(&token, method, &body).invalid();
            assert_eq!(refused.details()["path"], "/dom", "{}", refused.text);
            for part in [&*tenant.name, "`*`", "X-Domain"] {
                assert!(refused.message().contains(part), "{part}: {}", refused.text);
            }
        }
    }
    // `*` is every domain of this tenant, and the own one is the default.
    let manager = tenant.token("boss", &[MANAGER]);
    for dom in ["*", &tenant.name] {
        let rule =
            json!({"sub": "bob", "dom": dom, "obj": "doc:read", "act": "read", "effect": "deny"});
        send(&manager, "POST", &rule).is(201);
    }
    tenant.decide("alice", "doc:read", "read").is("allow", &own);
    other.decide("alice", "doc:read", "read").is_default();
}

#[test]
fn a_deletion_may_name_any_domain() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let rule = other.rule("alice", "doc:read", "read", "allow");
    let tuple = json!({"sub": "alice", "dom": other.name, "obj": "doc:read", "act": "read"});
    tenant.manage(format!("DELETE {RULES}"), &tuple).refused(404, "NOT_FOUND");
    other.decide("alice", "doc:read", "read").is("allow", &rule);
}

#[test]
fn tenants_whose_names_resemble_each_other_are_separate() {
    let provider = Provider::shared();
    let server = Server::shared();
    let names = ["acme", "Acme", "acme ", "acme/x", "acm\u{e9}", "acme%", "a_me", "\u{202e}acme"];
    let tenants = names.map(|name| Tenant::with_provider(&server, provider, name));
    let ids = tenants.each_ref().map(|tenant| tenant.rule("alice", "doc:read", "read", "allow"));
    for (tenant, id) in tenants.iter().zip(&ids) {
        let decision = tenant.decide("alice", "doc:read", "read");
        decision.is("allow", id);
        assert_eq!(decision.revision, 1, "{}", tenant.name);
    }
}

#[test]
fn a_member_learns_nothing_about_foreign_domains() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    other.rule("alice", "doc:read", "read", "allow");
    let token = tenant.token("alice", &["user"]);
    for route in CHECKS {
        let own = json!({"resource": "doc:read", "action": "read", "subject": "alice"});
        let reply = tenant.send(&Request::new(route).token(&token).json(&own)).is(200);
        assert_eq!((reply.text_of("decision"), reply.revision()), ("deny".to_owned(), 0));
        let mut foreign = own;
        foreign["domain"] = json!(other.name);
        let request = Request::new(route).token(&token).json(&foreign);
        tenant.send(&request).refused(403, "ACCESS_DENIED");
    }
    let everywhere = tenant.token_with("root", &["user"], &json!({"adm": "*"}));
    let body = json!({
        "subject": "alice", "resource": "doc:read", "action": "read", "domain": other.name,
    });
    assert!(Decision::new(&tenant.check_by(&everywhere, &body)).allowed());
}

#[test]
fn the_star_of_a_domain_is_every_domain_of_the_own_tenant() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let rule =
        json!({"sub": "alice", "dom": "*", "obj": "doc:read", "act": "read", "effect": "allow"});
    let id = tenant.manage("POST /api/v1/resources/policies", &rule).is(201).id();
    tenant.decide("alice", "doc:read", "read").is("allow", &id);
    other.decide("alice", "doc:read", "read").is_default();
    // Whoever administers the other tenant sees its rules there, and not those of the own one.
    let token = tenant.token_with("root", &["user"], &json!({"adm": "*"}));
    let body =
        json!({"subject": "alice", "resource": "doc:read", "action": "read", "domain": other.name});
    Decision::new(&tenant.check_by(&token, &body)).is_default();
}

#[test]
fn the_star_is_the_domain_of_no_token_and_of_no_check() {
    let tenant = Tenant::new();
    tenant.rule("alice", "doc:read", "read", "allow");
    let star = tenant.token_with("alice", &[MANAGER], &json!({"dom": "*"}));
    for route in ["GET /api/v1/resources", "POST /api/v1/check"] {
        let body = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
        let refused = tenant.send(&Request::new(route).token(&star).json(&body));
        assert!(refused.refused(401, "UNAUTHENTICATED").message().contains("`dom`"), "{route}");
    }
    // The admin-domain claim keeps its `*`, but every domain is not a domain to check in.
    let everywhere = tenant.token_with("root", &["user"], &json!({"adm": "*"}));
    for route in CHECKS {
        let mut body = json!({
            "subject": "alice", "resource": "doc:read", "action": "read", "domain": "*",
        });
        let ask = |body: &Value| Request::new(route).token(&everywhere).json(body);
        tenant.send(&ask(&body)).refused(403, "ACCESS_DENIED");
        body["domain"] = json!(tenant.name);
        tenant.send(&ask(&body)).is(200);
    }
}
