//! Rights: members, managers, foreign domains, and the wall between tenants.

use serde_json::{Value, json};

use crate::support::routes::{MANAGEMENT, with_id};
use crate::support::tenant::always;
use crate::support::{MANAGER, NO_ID, Provider, Reply, Request, Settings, Tenant};

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
    let server = Settings::new(provider).set("MANAGER_ROLES", "owner, policy-admin").start();
    let tenant = Tenant::with_provider(&server, provider, "t");
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
        (format!("GET /api/v1/resources/{}", ids.resource), None),
        (format!("DELETE /api/v1/resources/{}?rules=true", ids.resource), None),
        (format!("GET {RULES}?id={rule}"), None),
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
