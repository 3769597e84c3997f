//! Who may do what: members, managers, foreign domains, and the wall between tenants.

use serde_json::{Value, json};

use crate::support::routes::{CHECKS, MANAGEMENT, with_id};
use crate::support::tenant::{Decision, always};
use crate::support::{MANAGER, NO_ID, Provider, Reply, Request, Server, Settings, Tenant};

const RULES: &str = "/api/v1/resources/policies";
const POLICIES: &str = "/api/v1/abac/policies";

/// Sends a management request that a manager could send with success.
fn manage_as(tenant: &Tenant<'_>, token: &str, route: &str) -> Reply {
    tenant.send(&Request::new(with_id(route, NO_ID)).token(token).json(&json!({})))
}

#[test]
fn a_member_may_check_but_neither_read_nor_change_rules() {
    let tenant = Tenant::new();
    for roles in
        [&["user"][..], &["administrator", "Admin", "admin ", "ADMIN"], &["user", "manager"]]
    {
        let token = tenant.token("alice", roles);
        let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
        tenant.check_by(&token, &check).is(200);
        for route in MANAGEMENT {
            manage_as(&tenant, &token, route).refused(403, "ACCESS_DENIED");
        }
    }
    assert_eq!(tenant.decide("alice", "doc:read", "read").revision, 0);
}

#[test]
fn a_manager_is_one_by_role_or_by_admin_domain() {
    let tenant = Tenant::new();
    let own = json!(tenant.name);
    let claims =
        |roles: &[&str], adm: Value| tenant.token_with("alice", roles, &json!({"adm": adm}));
    for token in [
        claims(&["admin"], json!(null)),
        claims(&["user", "admin"], json!(null)),
        claims(&["user"], own.clone()),
        claims(&["user"], json!(["other", own])),
        claims(&["user"], json!([1, own])),
        claims(&["user"], json!("*")),
        claims(&["user"], json!(["*"])),
        // One string is a list of one.
        tenant.token_with("alice", &[], &json!({"realm_access": {"roles": "admin"}})),
    ] {
        for route in MANAGEMENT {
            let reply = manage_as(&tenant, &token, route);
            assert!([200, 400, 404].contains(&reply.status), "{route}: {}", reply.text);
        }
    }
    for token in [
        claims(&["user"], json!("other")),
        claims(&["user"], json!(["other"])),
        claims(&["user"], json!(format!("{} ", tenant.name))),
        claims(&["user"], json!(true)),
        claims(&["user"], json!({tenant.name.clone(): true})),
        claims(&["user"], json!([[tenant.name]])),
        tenant.token_with("admin", &["user"], &json!({"roles": ["admin"], "groups": ["admin"]})),
        tenant.token_with("alice", &[], &json!({"realm_access": {"roles": "user admin"}})),
    ] {
        for route in MANAGEMENT {
            manage_as(&tenant, &token, route).refused(403, "ACCESS_DENIED");
        }
    }
}

#[test]
fn the_manager_roles_can_be_named() {
    let provider = Provider::shared();
    let server = Settings::of(provider).set("MANAGER_ROLES", "owner, policy-admin").start();
    let tenant = Tenant::of(&server, provider, "t");
    for role in ["owner", "policy-admin"] {
        let list = Request::new("GET /api/v1/resources").token(&tenant.token("alice", &[role]));
        tenant.send(&list).is(200);
    }
    for role in ["admin", "owner, policy-admin", " policy-admin", "user"] {
        let list = Request::new("GET /api/v1/resources").token(&tenant.token("alice", &[role]));
        tenant.send(&list).refused(403, "ACCESS_DENIED");
    }
}

#[test]
fn a_rule_in_a_foreign_domain_needs_an_admin_domain_claim_that_names_it() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let foreign = json!({
        "sub": "alice", "dom": other.name, "obj": "doc:read", "act": "read", "effect": "allow",
    });
    let own = tenant.rule("alice", "doc:read", "read", "allow");
    let send = |token: &str, method: &str, body: &Value| {
        tenant.send(&Request::new(format!("{method} {RULES}")).token(token).json(body))
    };
    let manager = tenant.token("boss", &[MANAGER]);
    send(&manager, "POST", &foreign).refused(403, "ACCESS_DENIED");
    send(&manager, "PUT", &json!({"id": own, "dom": other.name})).refused(403, "ACCESS_DENIED");
    for adm in [json!(other.name), json!([other.name]), json!("*")] {
        let token = tenant.token_with("boss", &[MANAGER], &json!({"adm": adm}));
        let id = send(&token, "POST", &foreign).is(201).id();
        send(&token, "DELETE", &json!({"id": id})).is(204);
        send(&token, "PUT", &json!({"id": own, "dom": other.name})).is(200);
        send(&token, "PUT", &json!({"id": own, "dom": tenant.name})).is(200);
    }
    // `*` is every domain of this tenant, and the own one needs no claim.
    for dom in ["*", &tenant.name] {
        let rule =
            json!({"sub": "bob", "dom": dom, "obj": "doc:read", "act": "read", "effect": "deny"});
        send(&manager, "POST", &rule).is(201);
    }
    // A rule of this tenant never decides in the other one.
    let token = tenant.token_with("boss", &[MANAGER], &json!({"adm": "*"}));
    send(&token, "POST", &foreign).is(201);
    other.decide("alice", "doc:read", "read").is_default();
}

#[test]
fn the_right_is_judged_before_the_record_is_looked_for() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let foreign = json!({
        "sub": "alice", "dom": other.name, "obj": "doc:read", "act": "read", "effect": "allow",
    });
    tenant.manage(format!("PUT {RULES}"), &foreign).refused(403, "ACCESS_DENIED");
    let by_id = json!({"id": NO_ID, "dom": other.name});
    tenant.manage(format!("PUT {RULES}"), &by_id).refused(403, "ACCESS_DENIED");
}

#[test]
fn managing_always_concerns_the_tokens_own_domain() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    other.resource("doc:read");
    other.policy("p", "doc:read", "allow", 1, &always());
    let token = tenant.token_with("root", &[MANAGER], &json!({"adm": "*"}));
    for list in ["/api/v1/resources", POLICIES] {
        let request = Request::new(format!("GET {list}")).token(&token);
        tenant.send(&request).is(200).has(&json!([]));
    }
}

/// Everything that has an id in a tenant.
struct Records {
    resource: String,
    rule: String,
    policy: String,
}

/// Fills a tenant with records of the same names as any other's.
fn seed(tenant: &Tenant<'_>) -> Records {
    let policy = tenant.policy("p", "doc:read", "deny", 1, &always());
    tenant.manage(format!("PUT {POLICIES}/{policy}"), &json!({"enabled": false})).is(200);
    Records {
        resource: tenant.resource("doc:read"),
        rule: tenant.rule("alice", "doc:read", "read", "allow"),
        policy,
    }
}

/// Every request that names a record by its id, as a manager of `tenant`.
fn by_id(tenant: &Tenant<'_>, ids: &Records) -> Vec<(String, Reply)> {
    let rule = &ids.rule;
    let policy = format!("{POLICIES}/{}", ids.policy);
    let requests = [
        (format!("GET /api/v1/resources/{}/policies", ids.resource), None),
        (format!("GET {policy}"), None),
        (format!("HEAD {policy}"), None),
        (format!("PUT {policy}"), Some(json!({"enabled": true}))),
        (format!("PUT {policy}"), Some(json!({}))),
        (format!("PUT {policy}"), Some(json!({"resource": "other:read"}))),
        (format!("DELETE {policy}"), None),
        (format!("PUT {RULES}"), Some(json!({"id": rule, "effect": "deny"}))),
        (format!("PUT {RULES}"), Some(json!({"id": rule}))),
        (format!("DELETE {RULES}"), Some(json!({"id": rule}))),
        (format!("DELETE {RULES}?id={rule}"), None),
    ];
    let send = |(route, body): (String, Option<Value>)| {
        let request = tenant.managing(&route);
        let reply = tenant.send(&body.map_or(request.clone(), |body| request.json(&body)));
        (route, reply)
    };
    requests.into_iter().map(send).collect()
}

#[test]
fn a_foreign_id_answers_exactly_as_an_unknown_one() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let (own, foreign) = (seed(&tenant), seed(&other));
    let unknown = Records { resource: NO_ID.into(), rule: NO_ID.into(), policy: NO_ID.into() };
    let before = everything(&other, &foreign);
    let pairs = by_id(&tenant, &foreign).into_iter().zip(by_id(&tenant, &unknown));
    for ((route, foreign), (_, unknown)) in pairs {
        assert_eq!(foreign.status, 404, "{route}");
        assert_eq!(foreign.outcome(), unknown.outcome(), "{route}");
    }
    assert_eq!(everything(&other, &foreign), before, "nothing changed");
    other.decide("alice", "doc:read", "read").is("allow", &foreign.rule);
    tenant.decide("alice", "doc:read", "read").is("allow", &own.rule);
}

fn everything(tenant: &Tenant<'_>, records: &Records) -> Value {
    let rules = format!("/api/v1/resources/{}/policies", records.resource);
    json!(["/api/v1/resources", POLICIES, &rules].map(|path| tenant.get(path).is(200).json()))
}

#[test]
fn equal_names_in_two_tenants_are_two_records() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let (own, foreign) = (seed(&tenant), seed(&other));
    assert_ne!((&own.resource, &own.rule), (&foreign.resource, &foreign.rule));
    let tuple = json!({"sub": "alice", "obj": "doc:read", "act": "read"});
    tenant.manage(format!("DELETE {RULES}"), &tuple).is(204);
    let again = json!({"name": "doc:read", "serviceName": "mine"});
    assert_eq!(tenant.manage("POST /api/v1/resources", &again).is(200).id(), own.resource);
    let everything = everything(&other, &foreign).to_string();
    assert!(!everything.contains("mine") && !everything.contains(&tenant.name));
    tenant.decide("alice", "doc:read", "read").is_default();
    other.decide("alice", "doc:read", "read").is("allow", &foreign.rule);
}

#[test]
fn one_tenants_writes_do_not_touch_anothers_revision() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    seed(&other);
    seed(&tenant);
    let before = other.decide("alice", "doc:read", "read").revision;
    tenant.rule("bob", "doc:read", "read", "allow");
    assert_eq!(other.decide("alice", "doc:read", "read").revision, before);
}

#[test]
fn tenants_whose_names_resemble_each_other_are_separate() {
    let provider = Provider::shared();
    let server = Server::shared();
    let names =
        ["acme", "Acme", "acme ", "acme/x", "acm\u{e9}", "acme%", "a_me", "*", "\u{202e}acme"];
    let tenants = names.map(|name| Tenant::of(&server, provider, name));
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
    assert!(Decision::of(&tenant.check_by(&everywhere, &body)).allowed());
}
