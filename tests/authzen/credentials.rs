//! Credentials and headers of the AuthZEN routes.

use serde_json::json;

use super::{ARCHIVED, EVALUATION, EVALUATIONS, fixture, record};
use crate::support::{Request, Tenant};

fn key(tenant: &Tenant<'_>, permission: &str) -> String {
    let body = json!({"name": "gateway", "permissions": [permission], "domain": domain(tenant)});
    tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key")
}

fn domain(tenant: &Tenant<'_>) -> Option<String> {
    crate::setup::is_saas().then(|| tenant.name.clone())
}

fn read(route: &str) -> Request {
    Request::new(route).json(&json!({
        "subject": {"type": "user", "id": "alice"}, "action": {"name": "read"}, "resource": record("record-1"),
    }))
}

#[test]
fn a_service_key_may_be_a_bearer_token_on_these_routes_only() {
    let tenant = fixture(ARCHIVED);
    let good = key(&tenant, "access:evaluate");
    for route in [EVALUATION, EVALUATIONS] {
        for request in [read(route).token(&good), read(route).header("x-service-api-key", &good)] {
            assert_eq!(tenant.send(&request).is(200).json(), json!({"decision": true}));
        }
        let refused = tenant.send(&read(route)).refused(401, "UNAUTHENTICATED");
        assert!(refused.header("www-authenticate").is_some_and(|text| text.starts_with("Bearer")));
        let mut wrong = good.clone();
        wrong.replace_range(wrong.len() - 1.., if good.ends_with('A') { "B" } else { "A" });
        for wrong in [&*wrong, "pck_", "pck_1", "none"] {
            let refused = tenant.send(&read(route).token(wrong)).refused(401, "UNAUTHENTICATED");
            assert!(refused.header("www-authenticate").is_some(), "{wrong}");
        }
        let reader = key(&tenant, "policies:read");
        tenant.send(&read(route).token(&reader)).refused(403, "ACCESS_DENIED");
    }
    // The routes of the service know a key by its own header alone.
    let check = json!({"subject": "alice", "resource": "record:read", "action": "read"});
    let check = |request: Request| tenant.send(&request.json(&check));
    check(Request::new("POST /api/v1/check").token(&good)).refused(401, "UNAUTHENTICATED");
    check(Request::new("POST /api/v1/check").header("x-service-api-key", &good)).is(200);
}

/// In `saas` mode a key without a domain has to name one, where the standard has it.
#[test]
fn the_message_of_a_missing_domain_names_the_context() {
    let tenant = fixture(ARCHIVED);
    let body = json!({"name": "free", "permissions": ["access:evaluate", "access:search"]});
    let free = tenant.manage("POST /api/v1/service-api-keys", &body).is(201).text_of("key");
    let search = |kind: &str| {
        Request::new(format!("POST /access/v1/search/{kind}")).json(&json!({
            "subject": {"type": "user", "id": "alice"}, "action": {"name": "read"}, "resource": record("record-1"),
        }))
    };
    let single = [
        read(EVALUATION),
        read(EVALUATIONS),
        search("subject"),
        search("resource"),
        search("action"),
    ];
    for request in single {
        let reply = tenant.send(&request.token(&free));
        if crate::setup::is_saas() {
            let reply = reply.invalid();
            assert_eq!(reply.details()["missing_fields"], json!(["context.domain"]));
            assert!(reply.message().contains("`context.domain`"), "{}", reply.message());
        } else {
            reply.is(200);
        }
    }
    let item = |domain: Option<&str>| json!({"resource": record("record-1"), "context": {"domain": domain}});
    let many = json!({
        "subject": {"type": "user", "id": "alice"}, "action": {"name": "read"},
        "evaluations": [item(None), item(Some(&tenant.name))],
    });
    let answer = tenant.send(&Request::new(EVALUATIONS).token(&free).json(&many)).is(200).json();
    let [first, second] = [0, 1].map(|index| answer["evaluations"][index].clone());
    assert_eq!(second, json!({"decision": true}));
    if crate::setup::is_saas() {
        assert_eq!(
            (&first["decision"], &first["context"]["error"]["status"]),
            (&json!(false), &json!(400))
        );
        let why = first["context"]["error"]["message"].as_str().expect("a message");
        assert!(why.contains("`context.domain`"), "{why}");
    } else {
        assert_eq!(first, second);
    }
}

#[test]
fn a_request_id_comes_back() {
    let tenant = fixture(ARCHIVED);
    let token = tenant.token("gateway", &[]);
    let long = "i".repeat(256);
    let spaces = "one two  three";
    for id in ["a", "bfe9eb29-ab87-4ca3-be83-a1d5d8305716", "{\"x\":[1]}/?%41", spaces, &long] {
        let reply = tenant.send(&read(EVALUATION).token(&token).header("x-request-id", id));
        assert_eq!(reply.is(200).header("x-request-id"), Some(id));
        // Also of a request that is refused.
        let reply = tenant.send(&read(EVALUATION).header("x-request-id", id));
        assert_eq!(reply.is(401).header("x-request-id"), Some(id));
    }
    let too_long = "i".repeat(257);
    let reply = tenant.send(&read(EVALUATION).token(&token).header("x-request-id", &too_long));
    assert_ne!(reply.is(200).header("x-request-id"), Some(&*too_long));
    assert!(tenant.send(&read(EVALUATION).token(&token)).is(200).header("x-request-id").is_some());
}

#[test]
fn equal_requests_have_equal_answers() {
    let tenant = fixture(ARCHIVED);
    let token = tenant.token("gateway", &[]);
    let ask = || tenant.send(&read(EVALUATION).token(&token)).is(200).text;
    assert_eq!([ask(), ask(), ask()], [r#"{"decision":true}"#; 3]);
    for method in ["GET", "PUT"] {
        let request = Request::new(format!("{method} /access/v1/evaluation")).token(&token);
        tenant.send(&request).is(405);
    }
}
