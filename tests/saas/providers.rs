//! Identity providers: registered, removed, several of one tenant, and dead ones.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::everywhere::authentication::{ask, refused};
use crate::support::keys::Key;
use crate::support::provider::Mode;
use crate::support::{Operator, Provider, Reply, Server, Tenant, is_timestamp, is_uuid_v7};

/// A server, its operator, and a tenant without a provider.
struct Fresh {
    server: std::sync::Arc<Server>,
    operator: Operator,
    tenant: String,
}

/// A new tenant of the shared server, under its own slug.
fn fresh(slug: &str) -> Fresh {
    let server = Server::shared();
    let operator = Operator::new(&server);
    let tenant = operator.create(slug).is(201).id();
    Fresh { server, operator, tenant }
}

/// Asks with a token of `provider` that names `issuer`, with some claims replaced.
fn ask_with(fresh: &Fresh, provider: &Provider, issuer: &str, changes: &Value) -> (Reply, String) {
    let mut claims = provider.claims("d", "alice", &["user"]);
    claims["iss"] = json!(issuer);
    for (name, value) in changes.as_object().into_iter().flatten() {
        claims[name] = value.clone();
    }
    let token = provider.token(&claims);
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    let request = crate::support::Request::new("POST /api/v1/check").token(&token).json(&check);
    (request.send(fresh.server.address), token)
}

#[track_caller]
fn accepted(fresh: &Fresh, provider: &Provider, issuer: &str) {
    ask_with(fresh, provider, issuer, &json!({})).0.is(200);
}

#[track_caller]
fn unknown(fresh: &Fresh, provider: &Provider, issuer: &str) {
    let (reply, token) = ask_with(fresh, provider, issuer, &json!({}));
    refused(reply, &token);
}

#[test]
fn a_registration_is_answered_with_a_full_record() {
    let fresh = fresh("record");
    let issuer = Provider::shared().issuer_of("record");
    let reply = fresh.operator.register(&fresh.tenant, &Operator::provider(&issuer)).is(201);
    let record = reply.json();
    assert!(is_uuid_v7(&reply.id()) && is_timestamp(&reply.text_of("created_at")), "{record}");
    assert_eq!(record["tenant_id"], fresh.tenant);
    assert_eq!(record["issuer_url"], issuer);
    assert_eq!(record["audience"], Value::Null);
    let claims = json!({
        "roles_claim": "realm_access.roles", "domain_claim": "dom", "admin_domain_claim": "adm", "roles_format": "list",
    });
    assert_eq!(record["claim_config"], claims);
    let list = format!("/admin/tenants/{}/identity-providers", fresh.tenant);
    fresh.operator.get(&list).is(200).has(&json!([record]));
}

#[test]
fn tokens_are_good_from_the_registration_to_the_removal() {
    let fresh = fresh("life");
    let provider = Provider::shared();
    let issuer = provider.issuer_of("life");
    unknown(&fresh, provider, &issuer);
    for _ in 0..3 {
        let id = fresh.operator.register(&fresh.tenant, &Operator::provider(&issuer)).is(201).id();
        accepted(&fresh, provider, &issuer);
        fresh.operator.remove(&fresh.tenant, &id).is(204);
        unknown(&fresh, provider, &issuer);
        fresh.operator.remove(&fresh.tenant, &id).refused(404, "NOT_FOUND");
    }
}

#[test]
fn registrations_and_removals_at_once_do_not_undo_each_other() {
    let fresh = fresh("at-once");
    let provider = Provider::shared();
    let round = |issuer: &str| {
        let registered = fresh.operator.register(&fresh.tenant, &Operator::provider(issuer));
        let id = registered.is(201).id();
        accepted(&fresh, provider, issuer);
        fresh.operator.remove(&fresh.tenant, &id).is(204);
        unknown(&fresh, provider, issuer);
    };
    std::thread::scope(|scope| {
        for client in 0..4 {
            let issuer = provider.issuer_of(&format!("at-once-{client}"));
            let round = &round;
            scope.spawn(move || (0..25).for_each(|_| round(&issuer)));
        }
    });
}

#[test]
fn one_tenant_can_have_two_providers_at_once() {
    let fresh = fresh("two");
    let providers = [Provider::new(vec![Key::p256("a")]), Provider::new(vec![Key::p256("b")])];
    let [one, other] = &providers;
    let register = |provider: &Provider| {
        let body = Operator::provider(&provider.issuer());
        fresh.operator.register(&fresh.tenant, &body).is(201).id()
    };
    let ids = providers.each_ref().map(register);
    for provider in &providers {
        accepted(&fresh, provider, &provider.issuer());
    }
    // Each signs for its own issuer alone.
    unknown(&fresh, one, &other.issuer());
    fresh.operator.remove(&fresh.tenant, &ids[0]).is(204);
    unknown(&fresh, one, &one.issuer());
    accepted(&fresh, other, &other.issuer());
}

#[test]
fn an_issuer_belongs_to_one_tenant() {
    let (tenant, other) = (Tenant::new(), Tenant::new());
    let operator = Operator::shared();
    let taken = Operator::provider(&tenant.issuer);
    for id in [&tenant.id, &other.id] {
        operator.register(id, &taken).refused(409, "CONFLICT");
    }
    // Whoever signs with the same keys for another issuer is somebody else.
    let rule = tenant.rule("alice", "doc:read", "read", "allow");
    tenant.decide("alice", "doc:read", "read").is("allow", &rule);
    other.decide("alice", "doc:read", "read").is_default();
    let token = tenant.token_with("boss", &["admin"], &json!({"iss": other.issuer}));
    let list = crate::support::Request::new("GET /api/v1/abac/policies").token(&token);
    tenant.send(&list).is(200).has(&json!([]));
}

#[test]
fn a_foreign_tenants_provider_is_not_found() {
    let (one, other) = (fresh("one"), fresh("other"));
    let issuer = Provider::shared().issuer_of("one");
    let id = one.operator.register(&one.tenant, &Operator::provider(&issuer)).is(201).id();
    one.operator.remove(&other.tenant, &id).refused(404, "NOT_FOUND");
    for tenant in ["x", crate::support::NO_ID] {
        one.operator.remove(tenant, &id).refused(404, "NOT_FOUND");
        let body = Operator::provider(&Provider::shared().issuer_of("nobody"));
        one.operator.register(tenant, &body).refused(404, "NOT_FOUND");
    }
    accepted(&one, Provider::shared(), &issuer);
}

#[test]
fn each_provider_says_where_its_claims_are() {
    let fresh = fresh("claims");
    let provider = Provider::shared();
    let issuer = provider.issuer_of("claims");
    let mut body = Operator::provider(&issuer);
    body["claim_config"] = json!({"roles_claim": "app.roles", "domain_claim": "org"});
    fresh.operator.register(&fresh.tenant, &body).is(201);
    let own = json!({"org": "o", "app": {"roles": ["user"]}, "dom": null, "realm_access": null});
    ask_with(&fresh, provider, &issuer, &own).0.is(200);
    let (reply, token) = ask_with(&fresh, provider, &issuer, &json!({"org": "o"}));
    assert!(refused(reply, &token).message().contains("`app.roles`"));
    let (reply, token) = ask_with(&fresh, provider, &issuer, &json!({"app": {"roles": ["user"]}}));
    assert!(refused(reply, &token).message().contains("`org`"));
}

#[test]
fn each_provider_says_what_audience_its_tokens_need() {
    let fresh = fresh("audience");
    let provider = Provider::shared();
    let issuer = provider.issuer_of("audience");
    let mut body = Operator::provider(&issuer);
    body["audience"] = json!("portcullis");
    fresh.operator.register(&fresh.tenant, &body).is(201);
    for aud in [json!("portcullis"), json!(["other", "portcullis"])] {
        ask_with(&fresh, provider, &issuer, &json!({"aud": aud})).0.is(200);
    }
    for changes in [json!({}), json!({"aud": "other"}), json!({"aud": ["portcullis2"]})] {
        let (reply, token) = ask_with(&fresh, provider, &issuer, &changes);
        refused(reply, &token);
    }
}

#[test]
fn a_dead_provider_delays_nobody_elses_tokens() {
    let fresh = fresh("dead");
    let dead = Provider::in_mode(vec![Key::p256("k")], Mode::Holding);
    let body = Operator::provider(&dead.issuer());
    fresh.operator.register(&fresh.tenant, &body).is(201);
    let tenant = Tenant::new();
    let token = tenant.token("alice", &["user"]);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| ask_with(&fresh, &dead, &dead.issuer(), &json!({})).0);
        dead.wait_for_fetches(1);
        let began = Instant::now();
        while !waiting.is_finished() {
            let asked = Instant::now();
            ask(&tenant, &token).is(200);
            assert!(asked.elapsed() < Duration::from_secs(3), "it waited for a foreign provider");
        }
        waiting.join().unwrap().refused(503, "DEPENDENCY_UNAVAILABLE");
        assert!(began.elapsed() < Duration::from_secs(15), "its own token waits at most 5 s");
    });
    dead.set_mode(Mode::Up);
}

#[test]
fn a_registration_that_makes_no_sense_is_refused() {
    let fresh = fresh("nonsense");
    let good = Operator::provider(&Provider::shared().issuer_of("nonsense"));
    for (name, value) in [
        ("issuer_url", json!("ftp://id.example")),
        ("issuer_url", json!("id.example")),
        ("issuer_url", json!(1)),
        ("jwks_uri", json!("keys.json")),
        ("jwks_uri", json!("http://10.0.0.1/keys")),
        ("jwks_uri", json!("http://169.254.169.254/keys")),
        ("audience", json!("")),
        ("claim_config", json!({"roles_claim": ""})),
        ("claim_config", json!({"role_claim": "roles"})),
    ] {
        let mut body = good.clone();
        body[name] = value;
        fresh.operator.register(&fresh.tenant, &body).invalid();
    }
    let missing = fresh.operator.register(&fresh.tenant, &json!({})).invalid().details();
    assert_eq!(missing["missing_fields"], json!(["issuer_url", "jwks_uri"]));
    let list = format!("/admin/tenants/{}/identity-providers", fresh.tenant);
    fresh.operator.get(&list).is(200).has(&json!([]));
}
