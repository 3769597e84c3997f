//! `/admin/*`: tenants and their identity providers, in `saas` mode.

use serde_json::{Value, json};

use crate::support::client::Reply;
use crate::support::keys::Key;
use crate::support::saas::{self, ADMIN_KEY, Account, operate, operating};
use crate::support::{
    MANAGER, NO_ID, Provider, Request, Server, Settings, Tenant, is_timestamp, is_uuid_v7, names,
};

const TENANTS: &str = "/admin/tenants";
const CREATE: &str = "POST /admin/tenants";

#[track_caller]
fn open(server: &Server, slug: &str) -> Reply {
    operate(server, CREATE, &json!({"name": "Acme", "slug": slug}))
}

fn get(server: &Server, path: &str) -> Reply {
    operating(format!("GET {path}")).send(server.address)
}

#[test]
fn a_tenant_is_created_with_a_key_that_is_shown_once() {
    let server = saas::settings().start();
    let created = open(&server, "acme").is(201);
    let record = created.json();
    assert_eq!(names(&record), ["bootstrapKey", "created_at", "id", "name", "slug"]);
    assert_eq!((&record["name"], &record["slug"]), (&json!("Acme"), &json!("acme")));
    assert!(is_uuid_v7(&created.id()) && is_timestamp(&created.text_of("created_at")));
    assert_eq!(created.header("location"), Some(&*format!("{TENANTS}/{}", created.id())));
    assert_eq!(created.header("cache-control"), Some("no-store"));
    let key = created.text_of("bootstrapKey");
    assert!(key.starts_with("pck_"), "{key}");
    for path in ["/api/v1/resources", "/api/v1/abac/policies", "/api/v1/webhooks"] {
        let request = Request::new(format!("GET {path}")).header("x-service-api-key", &key);
        request.send(server.address).is(200).has(&json!([]));
    }
    let mut shown = record;
    shown.as_object_mut().and_then(|record| record.remove("bootstrapKey"));
    get(&server, TENANTS).is(200).has(&json!([shown]));
}

#[test]
fn the_bootstrap_key_can_be_revoked() {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let tenant = account.tenant(&server);
    let keys = tenant.get("/api/v1/service-api-keys").is(200).json();
    assert_eq!((&keys[0]["name"], &keys[0]["created_by"]), (&json!("bootstrap"), &json!("admin")));
    let id = keys[0]["id"].as_str().expect("an id");
    tenant.delete(&format!("/api/v1/service-api-keys/{id}")).is(204);
    let request =
        Request::new("GET /api/v1/resources").header("x-service-api-key", &account.bootstrap_key);
    request.send(server.address).refused(401, "UNAUTHENTICATED");
}

#[test]
fn slugs_have_a_pattern_and_are_unique() {
    let server = saas::settings().start();
    let long = "a".repeat(63);
    for slug in ["ab", "a-b", "0-9", &long] {
        open(&server, slug).is(201);
        open(&server, slug).refused(409, "CONFLICT");
    }
    for slug in
        ["", "a", "-ab", "ab-", "a--b", "Ab", "a_b", "a b", "\u{e4}b", "ab\n", &format!("{long}a")]
    {
        assert_eq!(open(&server, slug).invalid().text_of_details("path"), "/slug", "{slug}");
    }
    assert_eq!(get(&server, TENANTS).json().as_array().map(Vec::len), Some(4));
}

#[test]
fn faults_of_a_tenant_are_named() {
    let server = saas::settings().start();
    for (body, path) in [
        (json!({}), ""),
        (json!({"name": "Acme"}), ""),
        (json!({"slug": "acme"}), ""),
        (json!({"name": "", "slug": "acme"}), "/name"),
        (json!({"name": "n".repeat(257), "slug": "acme"}), "/name"),
        (json!({"name": 1, "slug": "acme"}), "/name"),
        (json!({"name": "Acme", "slug": ["acme"]}), "/slug"),
        (json!({"name": "Acme", "slug": "acme", "id": NO_ID}), ""),
    ] {
        let reply = operate(&server, CREATE, &body).invalid();
        assert_eq!(reply.text_of_details("path"), path, "{body}: {}", reply.text);
    }
}

#[test]
fn the_operator_proves_itself_by_either_header() {
    let server = saas::settings().start();
    let list = || Request::new(format!("GET {TENANTS}"));
    list().header("x-admin-api-key", ADMIN_KEY).send(server.address).is(200);
    list().token(ADMIN_KEY).send(server.address).is(200);
    list().header("authorization", &format!("bearer {ADMIN_KEY}")).send(server.address).is(200);
    for wrong in ["", "x", &ADMIN_KEY[1..], &format!("{ADMIN_KEY}x"), &ADMIN_KEY.to_uppercase()] {
        for request in [list().header("x-admin-api-key", wrong), list().token(wrong)] {
            let refused = request.send(server.address).refused(401, "UNAUTHENTICATED");
            assert!(refused.header("www-authenticate").is_some(), "{wrong}");
        }
    }
    list().send(server.address).refused(401, "UNAUTHENTICATED");
    let both = list().header("x-admin-api-key", ADMIN_KEY).token(ADMIN_KEY);
    both.send(server.address).refused(400, "BAD_REQUEST");
    let twice = list().header("x-admin-api-key", ADMIN_KEY).header("x-admin-api-key", ADMIN_KEY);
    twice.send(server.address).refused(400, "BAD_REQUEST");
}

#[test]
fn the_admin_routes_are_not_there_in_selfhost_mode() {
    let server = Settings::new(Provider::shared()).set("ADMIN_API_KEY", ADMIN_KEY).start();
    let tenant = Tenant::with_provider(&server, Provider::shared(), "acme");
    for route in [
        "GET /admin/tenants".to_owned(),
        CREATE.to_owned(),
        "PUT /admin/tenants".to_owned(),
        format!("GET /admin/tenants/{NO_ID}/identity-providers"),
        format!("POST /admin/tenants/{NO_ID}/identity-providers"),
        format!("DELETE /admin/tenants/{NO_ID}/identity-providers/{NO_ID}"),
        "GET /admin".to_owned(),
    ] {
        for request in [
            Request::new(&*route),
            Request::new(&*route).token("x"),
            Request::new(&*route).token(ADMIN_KEY),
            operating(&*route),
            tenant.managing(&*route),
        ] {
            request.send(server.address).refused(404, "NOT_FOUND");
        }
    }
}

#[test]
fn a_provider_has_defaults() {
    let server = saas::settings().start();
    let tenant = open(&server, "acme").is(201).id();
    let path = format!("{TENANTS}/{tenant}/identity-providers");
    get(&server, &path).is(200).has(&json!([]));
    let body = json!({"issuer_url": "https://a.example/", "jwks_uri": "https://a.example/keys"});
    let created = operate(&server, format!("POST {path}"), &body).is(201);
    assert!(is_uuid_v7(&created.id()) && is_timestamp(&created.text_of("created_at")));
    assert_eq!(created.header("location"), Some(&*format!("{path}/{}", created.id())));
    let expected = json!({
        "id": created.id(), "tenant_id": tenant, "issuer_url": "https://a.example/",
        "jwks_uri": "https://a.example/keys", "audience": null,
        "claim_config": {
            "roles_claim": "realm_access.roles", "domain_claim": "dom", "admin_domain_claim": "adm", "roles_format": "list",
        },
        "sign_in": null,
        "created_at": created.text_of("created_at"),
    });
    let second = json!({
        "issuer_url": "http://b.example", "jwks_uri": "http://b.example/keys", "audience": "portcullis",
        "claim_config": {
            "roles_claim": "groups", "admin_domain_claim": "admin_of", "roles_format": "words",
        },
    });
    let second = operate(&server, format!("POST {path}"), &second).is(201).json();
    let claims = json!({
        "roles_claim": "groups", "domain_claim": "dom", "admin_domain_claim": "admin_of",
        "roles_format": "words",
    });
    assert_eq!(second["claim_config"], claims);
    assert_eq!(second["audience"], "portcullis");
    created.has(&expected);
    get(&server, &path).is(200).has(&json!([expected, second]));
}

#[test]
fn faults_of_a_provider_are_named() {
    let server = saas::settings().start();
    let tenant = open(&server, "acme").is(201).id();
    let path = format!("{TENANTS}/{tenant}/identity-providers");
    let (issuer, keys) = ("https://a.example", "https://a.example/keys");
    let with = |name: &str, value: Value| {
        let mut body = json!({"issuer_url": issuer, "jwks_uri": keys});
        body[name] = value;
        body
    };
    for (body, expected) in [
        (json!({}), ""),
        (json!({"issuer_url": issuer}), ""),
        (with("issuer_url", json!("a.example")), "/issuer_url"),
        (with("issuer_url", json!("ftp://a.example")), "/issuer_url"),
        (with("jwks_uri", json!("https://me:pw@a.example/")), "/jwks_uri"),
        (with("jwks_uri", json!(1)), "/jwks_uri"),
        (with("jwks_uri", json!("http://10.0.0.1/keys")), "/jwks_uri"),
        (with("audience", json!("")), "/audience"),
        (with("audience", json!(["a"])), "/audience"),
        (with("claim_config", json!("dom")), "/claim_config"),
        (with("claim_config", json!({"roles_claim": ""})), "/claim_config/roles_claim"),
        (with("claim_config", json!({"roles_format": "csv"})), "/claim_config/roles_format"),
        (with("claim_config", json!({"rolesClaim": "r"})), "/claim_config"),
        (with("issuer", json!(issuer)), ""),
    ] {
        let reply = operate(&server, format!("POST {path}"), &body).invalid();
        assert_eq!(reply.text_of_details("path"), expected, "{body}: {}", reply.text);
    }
    let good = with("audience", json!("a"));
    for unknown in [NO_ID, "acme", "x"] {
        let path = format!("{TENANTS}/{unknown}/identity-providers");
        operate(&server, format!("POST {path}"), &good).refused(404, "NOT_FOUND");
        get(&server, &path).refused(404, "NOT_FOUND");
    }
    get(&server, &path).is(200).has(&json!([]));
}

#[test]
fn the_strict_rules_want_https_and_no_private_address() {
    let server = saas::strict_settings().start();
    let tenant = open(&server, "acme").is(201).id();
    let route = format!("POST {TENANTS}/{tenant}/identity-providers");
    for (jwks_uri, expected) in [
        ("http://a.example/keys", 400),
        ("https://127.0.0.1/keys", 400),
        ("https://[::1]/keys", 400),
        ("https://0x7f.1/keys", 400),
        ("https://2130706433/keys", 400),
        ("https://[::ffff:127.0.0.1]/keys", 400),
        ("https://169.254.169.254/keys", 400),
        ("https://a.example/keys", 201),
    ] {
        let body = json!({"issuer_url": "https://a.example", "jwks_uri": jwks_uri});
        let reply = operate(&server, &*route, &body).is(expected);
        if expected == 400 {
            assert_eq!(reply.invalid().text_of_details("path"), "/jwks_uri", "{jwks_uri}");
        }
    }
    let body = json!({"issuer_url": "http://b.example", "jwks_uri": "https://b.example/keys"});
    assert_eq!(operate(&server, &*route, &body).invalid().text_of_details("path"), "/issuer_url");
}

#[test]
fn an_issuer_belongs_to_one_tenant() {
    let server = saas::settings().start();
    let [north, south] = ["north", "south"].map(|slug| Account::open(&server, slug));
    for account in [&north, &south] {
        let route = format!("POST {}", account.providers());
        operate(&server, route, &north.registration()).refused(409, "CONFLICT");
    }
    // Character by character.
    let mut other = north.registration();
    other["issuer_url"] = json!(format!("{}/", north.provider.issuer()));
    operate(&server, format!("POST {}", south.providers()), &other).is(201);
    assert_eq!(get(&server, &south.providers()).json().as_array().map(Vec::len), Some(2));
}

#[test]
fn registration_and_removal_take_effect_at_once() {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let tenant = account.tenant(&server);
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    for _ in 0..3 {
        tenant.check(&check).is(200);
        let id = get(&server, &account.providers()).json()[0]["id"].clone();
        let path = format!("{}/{}", account.providers(), id.as_str().expect("an id"));
        operating(format!("DELETE {path}")).send(server.address).is(204);
        tenant.check(&check).refused(401, "UNAUTHENTICATED");
        operating(format!("DELETE {path}")).send(server.address).refused(404, "NOT_FOUND");
        get(&server, &account.providers()).is(200).has(&json!([]));
        operate(&server, format!("POST {}", account.providers()), &account.registration()).is(201);
    }
    tenant.check(&check).is(200);
}

#[test]
fn a_removed_issuer_can_move_to_another_tenant() {
    let server = saas::settings().start();
    let [north, south] = ["north", "south"].map(|slug| Account::open(&server, slug));
    let rule = south.tenant(&server).rule("alice", "doc:read", "read", "allow");
    let id = get(&server, &north.providers()).json()[0]["id"].clone();
    let id = id.as_str().expect("an id");
    let foreign = format!("DELETE {}/{id}", south.providers());
    operating(foreign).send(server.address).refused(404, "NOT_FOUND");
    let own = format!("DELETE {}/{id}", north.providers());
    operating(own).send(server.address).is(204);
    operate(&server, format!("POST {}", south.providers()), &north.registration()).is(201);
    let token = north.tenant(&server).token("alice", &["user"]);
    let check =
        json!({"subject": "alice", "resource": "doc:read", "action": "read", "domain": "south"});
    let reply = north.tenant(&server).check_by(&token, &check).is(200);
    assert_eq!(reply.text_of("matched_rule_id"), rule);
}

#[test]
fn the_claims_of_a_provider_are_where_it_says() {
    let server = saas::settings().start();
    let tenant = open(&server, "acme").is(201).id();
    let provider = Provider::new(vec![Key::p256("k")]);
    let body = json!({
        "issuer_url": provider.issuer(), "jwks_uri": provider.jwks_uri(), "audience": "portcullis",
        "claim_config": {"roles_claim": "my.groups", "domain_claim": "org", "admin_domain_claim": "boss_of"},
    });
    operate(&server, format!("POST {TENANTS}/{tenant}/identity-providers"), &body).is(201);
    let list = |change: Value| {
        let mut claims = provider.claims("unused", "alice", &[MANAGER]);
        for name in ["dom", "realm_access"] {
            claims.as_object_mut().and_then(|claims| claims.remove(name));
        }
        claims["aud"] = json!("portcullis");
        claims["org"] = json!("acme");
        claims["my"] = json!({"groups": ["user"]});
        for (name, value) in change.as_object().into_iter().flatten() {
            claims[name] = value.clone();
        }
        Request::new("GET /api/v1/resources").token(&provider.token(&claims)).send(server.address)
    };
    list(json!({})).is(403);
    list(json!({"my": {"groups": [MANAGER]}})).is(200);
    list(json!({"my.groups": [MANAGER]})).is(200);
    list(json!({"boss_of": "acme"})).is(200);
    list(json!({"boss_of": "other"})).is(403);
    list(json!({"aud": "other"})).refused(401, "UNAUTHENTICATED");
    assert!(list(json!({"org": null})).refused(401, "UNAUTHENTICATED").message().contains("org"));
}

#[test]
fn tenants_and_providers_survive_a_restart() {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let before = get(&server, TENANTS).is(200).json();
    let server = server.crash_and_restart();
    get(&server, TENANTS).is(200).has(&before);
    account.tenant(&server).get("/api/v1/resources").is(200).has(&json!([]));
}

#[test]
fn a_start_says_how_many_policies_compare_date_times_as_texts() {
    let server = saas::settings().start();
    let account = Account::open(&server, "acme");
    let tenant = account.tenant(&server);
    let mut policies = Vec::new();
    for (name, operator) in [("late", "lte"), ("early", "gt"), ("sound", "before")] {
        let policy = json!({
            "name": name, "resource": "wiki:read", "effect": "deny", "priority": 1, "enabled": false,
            "rule_data": {
                "type": "CONDITION", "attribute": "resource.frozen_at", "operator": operator,
                "value": "2026-01-01T00:00:00Z",
            },
        });
        policies.push(tenant.manage("POST /api/v1/abac/policies", &policy).is(201).id());
    }
    let properties = json!({"properties": {"frozen_at": {"type": "datetime"}}});
    tenant.manage("PUT /api/v1/types/wiki", &properties).is(201);
    // An update that does not send the condition passes.
    for policy in policies {
        let route = format!("PUT /api/v1/abac/policies/{policy}");
        tenant.manage(route, &json!({"enabled": true})).is(200);
    }
    let server = server.crash_and_restart();
    let said = server.process.err.wait_for(|lines| {
        lines
            .iter()
            .find(|line| line.contains("declared date-times by the order of texts"))
            .cloned()
    });
    let said = said.expect("a line of the log");
    assert!(said.contains("count=2") && said.contains("policy=\"late\""), "{said}");
    let metrics = Request::new("GET /metrics").send(server.address).is(200).text;
    assert!(metrics.contains("\nportcullis_datetimes_as_texts 2\n"), "{metrics}");
}
