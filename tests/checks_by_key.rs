//! Checks with a service key that has the permission `access:evaluate`: no identity provider is needed.

use serde_json::{Value, json};

use crate::setup;
use crate::support::process::{finish, portcullis};
use crate::support::tenant::Decision;
use crate::support::{ALL_PERMISSIONS, Reply, Request, Tenant};

const CHECK: &str = "POST /api/v1/check";
const LEGACY: &str = "POST /api/v1/resources/access/check";
const KEYS: &str = "/api/v1/service-api-keys";

/// Creates a key with these permissions, and returns the answer.
#[track_caller]
fn create(tenant: &Tenant<'_>, permissions: &[&str], domain: Option<&str>) -> Reply {
    let body = json!({"name": "gateway", "permissions": permissions, "domain": domain});
    tenant.manage(format!("POST {KEYS}"), &body).is(201)
}

fn key(tenant: &Tenant<'_>, permissions: &[&str]) -> String {
    create(tenant, permissions, None).text_of("key")
}

fn send(tenant: &Tenant<'_>, key: &str, route: &str, body: &Value) -> Reply {
    tenant.send(&Request::new(route).header("x-service-api-key", key).json(body))
}

/// A check about alice in the domain of the tenant's tokens.
fn check(tenant: &Tenant<'_>) -> Value {
    json!({"subject": "alice", "resource": "doc:read", "action": "read", "domain": tenant.name})
}

/// Returns `body` with another member; `null` removes it.
fn with(mut body: Value, name: &str, value: Value) -> Value {
    body[name] = value;
    body
}

#[test]
fn a_key_asks_about_any_subject_with_the_roles_of_the_request() {
    let tenant = Tenant::new();
    let key = key(&tenant, &["access:evaluate"]);
    let decide = |body: &Value| Decision::new(&send(&tenant, &key, CHECK, body));
    decide(&check(&tenant)).is_default();
    let own = tenant.rule("alice", "doc:read", "read", "allow");
    decide(&check(&tenant)).is("allow", &own);
    let roles = json!({"user": {"roles": ["editor"]}});
    let bob = with(with(check(&tenant), "subject", json!("bob")), "attributes", roles);
    decide(&bob).is_default();
    let editors = tenant.rule("editor", "doc:read", "read", "allow");
    decide(&bob).is("allow", &editors);
    // The key is no subject, and has no role.
    let name = with(check(&tenant), "subject", json!("gateway"));
    decide(&name).is_default();
}

#[test]
fn a_key_has_no_claims() {
    let tenant = Tenant::new();
    let key = key(&tenant, &["access:evaluate", "policies:read"]);
    let tree = json!({"type": "CONDITION", "attribute": "token.sub", "operator": "exists"});
    let policy = tenant.policy("tokens", "doc:read", "allow", 1, &tree);
    Decision::new(&send(&tenant, &key, CHECK, &check(&tenant))).is_default();
    // The control: a token has them.
    tenant.decide("alice", "doc:read", "read").is("allow", &policy);
    let answer = send(&tenant, &key, "POST /api/v1/check?explain=true", &check(&tenant)).is(200);
    let attribute = &answer.json()["explanation"]["attributes"][0];
    assert_eq!(*attribute, json!({"attribute": "token.sub", "source": "token"}));
}

#[test]
fn a_legacy_check_by_a_key_names_its_subject() {
    let tenant = Tenant::new();
    let key = key(&tenant, &["access:evaluate"]);
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let body = json!({"resource": "doc:read", "subject": "alice", "domain": tenant.name});
    let reply = send(&tenant, &key, LEGACY, &body).is(200);
    assert_eq!(
        (reply.json()["allowed"].as_bool(), reply.text_of("matched_rule_id")),
        (Some(true), rule)
    );
    let reply = send(&tenant, &key, LEGACY, &with(body, "subject", json!(null))).invalid();
    assert_eq!(reply.details()["missing_fields"], json!(["subject"]));
    assert!(reply.message().contains("a service key is not a subject"), "{}", reply.message());
}

#[test]
fn a_key_without_the_permission_is_told_its_name() {
    let tenant = Tenant::new();
    let others: Vec<_> =
        ALL_PERMISSIONS.iter().copied().filter(|one| *one != "access:evaluate").collect();
    let key = key(&tenant, &others);
    for route in [CHECK, LEGACY] {
        // The right is judged before the body.
        let reply = send(&tenant, &key, route, &json!({})).refused(403, "ACCESS_DENIED");
        assert!(reply.message().contains("`access:evaluate`"), "{}", reply.message());
    }
}

#[test]
fn an_explanation_needs_the_right_to_read_policies() {
    let tenant = Tenant::new();
    let route = "POST /api/v1/check?explain=true";
    let blind = key(&tenant, &["access:evaluate"]);
    let reply = send(&tenant, &blind, route, &check(&tenant)).refused(403, "ACCESS_DENIED");
    assert!(reply.message().contains("`policies:read`"), "{}", reply.message());
    let seeing = key(&tenant, &["access:evaluate", "policies:read"]);
    let reply = send(&tenant, &seeing, route, &check(&tenant)).is(200);
    assert_eq!(reply.json()["explanation"]["policies"], json!([]));
}

#[test]
fn a_check_by_a_key_has_one_domain() {
    let tenant = Tenant::new();
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    let free = key(&tenant, &["access:evaluate"]);
    let created = create(&tenant, &["access:evaluate"], Some(&tenant.name));
    assert_eq!(created.text_of("domain"), tenant.name);
    let bound = created.text_of("key");
    let silent = with(check(&tenant), "domain", json!(null));
    for (key, body) in [(&free, check(&tenant)), (&bound, check(&tenant)), (&bound, silent.clone())]
    {
        Decision::new(&send(&tenant, key, CHECK, &body)).is("allow", &rule);
    }
    let elsewhere = with(check(&tenant), "domain", json!("elsewhere"));
    let refused = send(&tenant, &bound, CHECK, &elsewhere).refused(403, "ACCESS_DENIED");
    assert!(refused.message().contains(&format!("expected `{}`", tenant.name)));
    if setup::is_saas() {
        let reply = send(&tenant, &free, CHECK, &silent).invalid();
        assert_eq!(reply.details()["missing_fields"], json!(["domain"]));
        let advice = "the service key has none: send `domain` (with AuthZEN in `context`)";
        assert!(reply.message().contains(advice), "{}", reply.message());
        let ask = |more: &[&str]| {
            let mut command = portcullis(&["check", "alice", "read", "doc:read"]);
            command.args(["--url", &format!("http://{}", tenant.address)]).args(more);
            command.env("SERVICE_API_KEY", &free);
            finish(command)
        };
        let done = ask(&[]);
        assert!(done.code == Some(1) && done.err.contains("; --domain names it"), "{done:?}");
        assert_eq!(ask(&["--domain", &tenant.name]).code, Some(0));
        Decision::new(&send(&tenant, &free, CHECK, &elsewhere)).is_default();
    } else {
        Decision::new(&send(&tenant, &free, CHECK, &silent)).is("allow", &rule);
        send(&tenant, &free, CHECK, &elsewhere).refused(403, "ACCESS_DENIED");
    }
}

#[test]
fn the_domain_of_a_key_is_one_that_its_checks_can_have() {
    let tenant = Tenant::new();
    let create = |domain: &str| {
        let body = json!({"name": "k", "domain": domain});
        tenant.manage(format!("POST {KEYS}"), &body)
    };
    let long = "d".repeat(257);
    for domain in ["", "*", "a*", &*long] {
        assert_eq!(create(domain).invalid().details()["path"], "/domain", "{domain}");
    }
    if setup::is_saas() {
        assert_eq!(create("elsewhere").is(201).text_of("domain"), "elsewhere");
    } else {
        let reply = create("elsewhere").invalid();
        assert!(reply.message().contains(&format!("`{}` or nothing", tenant.name)));
    }
}

#[test]
fn rules_that_a_key_creates_are_in_its_domain() {
    let tenant = Tenant::new();
    let permissions = ["access:evaluate", "policies:write"];
    let key = create(&tenant, &permissions, Some(&tenant.name)).text_of("key");
    let rule = json!({"sub": "alice", "obj": "doc:read", "act": "read", "effect": "allow"});
    let rule = send(&tenant, &key, "POST /api/v1/resources/policies", &rule).is(201);
    assert_eq!(rule.text_of("dom"), tenant.name);
    let silent = with(check(&tenant), "domain", json!(null));
    Decision::new(&send(&tenant, &key, CHECK, &silent)).is("allow", &rule.id());
}

#[test]
fn a_key_in_memory_is_refused_as_soon_as_it_is_revoked() {
    let tenant = Tenant::new();
    let [revoked, other] = [0, 1].map(|_| create(&tenant, &["access:evaluate"], None));
    let ask = |created: &Reply| send(&tenant, &created.text_of("key"), CHECK, &check(&tenant));
    for _ in 0..3 {
        ask(&revoked).is(200);
        ask(&other).is(200);
    }
    tenant.delete(&format!("{KEYS}/{}", revoked.id())).is(204);
    ask(&revoked).refused(401, "UNAUTHENTICATED");
    ask(&other).is(200);
}
