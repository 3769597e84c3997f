//! The error body everywhere: unknown routes and methods, the order of faults, credentials that are
//! missing or too many, and request ids.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::routes::{self, protected};
use crate::support::{NO_ID, Reply, Request, Server, Tenant, is_uuid_v7};

/// One byte more than a body may have.
const TOO_LARGE: usize = 1024 * 1024 + 1;

#[test]
fn an_unknown_route_is_a_404_with_or_without_a_credential() {
    let tenant = Tenant::new();
    let unknown = [
        "GET /x",
        "GET /api/v1",
        "POST /api/v1/check/",
        "POST /api/v2/check",
        "POST /API/V1/CHECK",
        "GET /api/v1/resources/",
        "GET /api/v1/abac",
        "POST /api/v1/abac/policies/x/y",
        "GET /healthz",
        "DELETE /healthz/live/x",
    ];
    for route in unknown {
        let bare = Request::new(route);
        let managing = tenant.managing(route);
        let admin = bare.clone().header("x-admin-api-key", "0123456789abcdef0123456789abcdef");
        let nonsense = bare.clone().token("nonsense");
        for request in [bare, managing, admin, nonsense] {
            tenant.send(&request).refused(404, "NOT_FOUND");
        }
    }
}

#[test]
fn a_route_has_only_its_methods_and_names_them() {
    let tenant = Tenant::new();
    let paths: HashSet<String> = routes::all()
        .iter()
        .filter_map(|route| Some(route.split_once(' ')?.1.to_owned()))
        .collect();
    assert_eq!(paths.len(), 11, "paths with several methods are there once");
    for path in paths {
        let own = routes::methods(&path);
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            if own.iter().any(|own| own == method) {
                continue;
            }
            let route = format!("{method} {path}");
            for request in [Request::new(&route), tenant.managing(&route)] {
                let reply = tenant.send(&request).refused(405, "METHOD_NOT_ALLOWED");
                let allow = reply.header("allow").unwrap_or_default();
                assert_eq!(reply.details(), json!({"allow": allow}), "{route}");
                let mut allow: Vec<&str> = allow.split(',').map(str::trim).collect();
                allow.sort_unstable();
                assert_eq!(allow, own, "{route}");
            }
        }
    }
}

#[test]
fn head_is_get_without_the_body() {
    let tenant = Tenant::new();
    let resource = tenant.resource("doc:read");
    let policy = tenant.policy("p", "doc:read", "allow", 1, &crate::support::tenant::always());
    let paths = [
        "/api/v1/resources".to_owned(),
        format!("/api/v1/resources/{resource}/policies"),
        "/api/v1/abac/policies".to_owned(),
        format!("/api/v1/abac/policies/{policy}"),
        format!("/api/v1/abac/policies/{NO_ID}"),
        "/healthz/live".to_owned(),
        "/healthz/ready".to_owned(),
    ];
    for path in paths {
        let get = tenant.get(&path);
        let head = tenant.send(&tenant.managing(format!("HEAD {path}"))).is(get.status);
        assert_eq!(head.text, "");
        for name in ["content-type", "content-length"] {
            assert_eq!(head.header(name), get.header(name), "{name} of {path}");
        }
    }
    for path in ["/api/v1/check", "/api/v1/resources/list"] {
        tenant.send(&tenant.managing(format!("HEAD {path}"))).is(405);
    }
}

/// A request with every fault from `first` on: route, method, size, credential, right, query, content type, body,
/// record (`docs/semantics.md`, section 8.5).
fn faulty(tenant: &Tenant, first: usize) -> Reply {
    let route = match first {
        0 => "PATCH /api/v1/abac/policy",
        1 => "PATCH /api/v1/abac/policies/{id}",
        _ => "PUT /api/v1/abac/policies/{id}",
    };
    let query = if first <= 5 { "?limit=1" } else { "" };
    let request = Request::new(routes::with_id(route, NO_ID) + query);
    let request = match first {
        0..=3 => request.token("nonsense"),
        4 => request.token(&tenant.token("alice", &["user"])),
        _ => request.token(&tenant.token("boss", &["admin"])),
    };
    let content_type = if first <= 6 { "text/plain" } else { "application/json" };
    let body = if first <= 7 { "x".to_owned() } else { json!({"enabled": false}).to_string() };
    let request = request.body(content_type, body);
    if first <= 2 { request.announce(tenant.address, TOO_LARGE) } else { tenant.send(&request) }
}

#[test]
fn faults_are_reported_in_one_order() {
    let tenant = Tenant::new();
    let order = [
        (404, "NOT_FOUND"),
        (405, "METHOD_NOT_ALLOWED"),
        (413, "PAYLOAD_TOO_LARGE"),
        (401, "UNAUTHENTICATED"),
        (403, "ACCESS_DENIED"),
        (400, "BAD_REQUEST"),
        (415, "UNSUPPORTED_MEDIA_TYPE"),
        (400, "BAD_REQUEST"),
        (404, "NOT_FOUND"),
    ];
    for (first, (status, code)) in order.into_iter().enumerate() {
        faulty(&tenant, first).refused(status, code);
    }
}

#[test]
fn the_content_of_a_body_is_judged_before_the_record_is_looked_for() {
    let tenant = Tenant::new();
    let update = format!("PUT /api/v1/abac/policies/{NO_ID}");
    tenant.manage(&update, &json!({"enabeld": false})).invalid();
    tenant.manage(&update, &json!({"enabled": false})).refused(404, "NOT_FOUND");
    let rule = json!({"id": NO_ID, "efect": "deny"});
    tenant.manage("PUT /api/v1/resources/policies", &rule).invalid();
}

#[test]
fn without_a_credential_the_challenge_names_no_error() {
    let server = Server::shared();
    for route in protected() {
        let reply = Request::new(&route).send(server.address).refused(401, "UNAUTHENTICATED");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"), "{route}");
    }
}

#[test]
fn a_key_is_no_credential_for_a_check() {
    let server = Server::shared();
    for route in routes::CHECKS {
        for name in ["x-service-api-key", "x-admin-api-key"] {
            let request = Request::new(route).header(name, "pck_unknown_0000");
            let reply = request.send(server.address).refused(401, "UNAUTHENTICATED");
            // An error is named only where a token was sent.
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"), "{route} with {name}");
        }
    }
}

#[test]
fn the_refusal_of_the_admin_key_says_what_the_route_takes() {
    let server = Server::shared();
    for (route, expected) in [
        ("POST /api/v1/check", "a bearer token or a service key, not the admin key"),
        ("GET /api/v1/abac/policies", "a bearer token or a service key, not the admin key"),
        ("GET /api/v1/service-api-keys", "a bearer token, not a key"),
    ] {
        let request =
            Request::new(route).header("x-admin-api-key", "0123456789abcdef0123456789abcdef");
        let reply = request.send(server.address).refused(401, "UNAUTHENTICATED");
        assert_eq!(reply.message(), format!("this route needs {expected}"), "{route}");
    }
}

#[test]
fn two_credentials_are_a_bad_request() {
    let tenant = Tenant::new();
    let bearer = format!("Bearer {}", tenant.token("boss", &["admin"]));
    let (token, service, admin) = ("authorization", "x-service-api-key", "x-admin-api-key");
    let pairs = [
        [(token, &*bearer), (token, &*bearer)],
        [(token, &bearer), (service, "key")],
        [(token, &bearer), (admin, "key")],
        [(service, "key"), (service, "key")],
        [(service, "key"), (admin, "key")],
        [(admin, "key"), (admin, "key")],
    ];
    for route in protected() {
        for [(first, one), (second, other)] in pairs {
            let request = Request::new(&route).header(first, one).header(second, other);
            tenant.send(&request).refused(400, "BAD_REQUEST");
        }
    }
}

#[test]
fn an_id_that_is_no_uuid_is_an_id_that_no_record_has() {
    let tenant = Tenant::new();
    let ids = ["x", "0", "%00", "%ff", "..%2f..", "*", "01890000-0000-7000-8000-00000000000g"];
    for route in [
        "GET /api/v1/abac/policies/{id}",
        "DELETE /api/v1/abac/policies/{id}",
        "GET /api/v1/resources/{id}/policies",
        "GET /api/v1/resources/{id}",
        "DELETE /api/v1/resources/{id}",
        "GET /api/v1/webhooks/{id}",
        "GET /api/v1/service-api-keys/{id}",
        "GET /api/v1/resources/policies?id={id}",
        "DELETE /api/v1/resources/policies?id={id}",
    ] {
        let unknown = tenant.send(&tenant.managing(routes::with_id(route, NO_ID)));
        let unknown = unknown.refused(404, "NOT_FOUND");
        for id in ids {
            let reply = tenant.send(&tenant.managing(routes::with_id(route, id)));
            assert_eq!(reply.outcome(), unknown.outcome(), "{route} with {id}");
        }
    }
    for id in ids {
        let update = format!("PUT /api/v1/abac/policies/{id}");
        tenant.manage(update, &json!({"enabled": false})).refused(404, "NOT_FOUND");
    }
}

#[test]
fn a_key_in_the_wrong_place_learns_the_right_header() {
    let tenant = Tenant::new();
    let key = "pck_019e301f05c07a4e9c1b5f0e8d3a7b64_nobodys";
    let as_token =
        "expected a token, not a service key: send the key in the header `X-Service-Api-Key`";
    let as_scheme = "expected `Authorization: Bearer <token>`; a service key goes into the header `X-Service-Api-Key`";
    let in_other = "expected a service key in the header `X-Service-Api-Key`; the header `x-api-key` is not read";
    for route in ["GET /api/v1/resources", "POST /api/v1/check"] {
        let request = Request::new(route);
        for (request, expected) in [
            (request.clone().token(key), as_token),
            (request.clone().header("authorization", key), as_scheme),
            (request.clone().header("X-API-Key", key), in_other),
        ] {
            let reply = tenant.send(&request).refused(401, "UNAUTHENTICATED");
            assert_eq!(reply.message(), expected, "{route}");
            assert!(reply.header("www-authenticate").is_some(), "{route}");
        }
    }
}

/// One request per kind of answer.
fn answers(tenant: &Tenant) -> Vec<Request> {
    let check = json!({"subject": "alice", "resource": "doc:read", "action": "read"});
    vec![
        tenant.managing("POST /api/v1/check").json(&check),
        tenant.managing("GET /api/v1/resources"),
        tenant.managing("POST /api/v1/resources/list").json(&json!([])),
        tenant.managing("GET /api/v1/abac/policies/x"),
        tenant.managing("POST /api/v1/check").json(&Value::Null),
        Request::new("GET /healthz/live"),
        Request::new("GET /unknown"),
        Request::new("PUT /api/v1/check"),
        Request::new("POST /api/v1/check"),
        Request::new("POST /api/v1/check").untyped_body("nonsense"),
    ]
}

#[test]
fn a_sound_request_id_is_echoed() {
    let tenant = Tenant::new();
    let longest = "x".repeat(128);
    for request in answers(&tenant) {
        for id in ["a", "0", "Az09._-", "..", &longest] {
            let reply = tenant.send(&request.clone().header("x-request-id", id));
            assert_eq!(reply.header("x-request-id"), Some(id));
        }
    }
}

#[test]
fn any_other_request_id_is_replaced() {
    let tenant = Tenant::new();
    let mut seen = HashSet::new();
    let longer = "x".repeat(129);
    for request in answers(&tenant) {
        let sent = ["", "a b", "a/b", "a,b", "\"a\"", "ä", &longer].map(Some);
        for id in sent.into_iter().chain([None]) {
            let request =
                id.map_or(request.clone(), |id| request.clone().header("x-request-id", id));
            let reply = tenant.send(&request);
            let made = reply.header("x-request-id").unwrap_or_default().to_owned();
            assert!(is_uuid_v7(&made), "{id:?} became `{made}`");
            assert!(seen.insert(made), "an id is made for one request only");
        }
    }
}

#[test]
fn no_answer_has_cors_headers() {
    let tenant = Tenant::new();
    for request in answers(&tenant) {
        let reply = tenant.send(&request.header("origin", "https://elsewhere.example"));
        let cors = |name: &reqwest::header::HeaderName| name.as_str().starts_with("access-control");
        assert!(!reply.headers.keys().any(cors), "{:?}", reply.headers);
    }
}

#[test]
fn every_answer_forbids_to_guess_its_type() {
    let tenant = Tenant::new();
    for request in answers(&tenant) {
        let reply = tenant.send(&request);
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{}", reply.text);
    }
}

/// The most that an error answer may have, in bytes (`docs/semantics.md`, section 8.4).
const MAX_ERROR: usize = 64 * 1024;

#[test]
fn an_error_is_short_whatever_the_body() {
    let tenant = Tenant::new();
    let long = "n".repeat(200_000);
    let control = "\\u0001".repeat(50_000);
    let duplicates = vec![r#""":1"#; 20_000].join(",");
    let unknown: Vec<String> =
        (0..20_000).map(|n| format!(r#""{n}-{}":1"#, "x".repeat(20))).collect();
    let registrations = vec![r#"{"x":1,"y":2}"#; 1_000].join(",");
    let bodies = [
        format!(r#"{{"{long}":{{{duplicates}}}}}"#),
        format!(r#"{{"{control}":{{{duplicates}}}}}"#),
        format!(r#"{{"{control}":1}}"#),
        format!("{{{}}}", unknown.join(",")),
        format!("[{registrations}]"),
    ];
    for route in [
        "POST /api/v1/check",
        "POST /api/v1/abac/policies",
        "POST /api/v1/resources/list",
        "POST /api/v1/resources/policies",
        "POST /api/v1/webhooks",
        "POST /api/v1/service-api-keys",
    ] {
        for body in &bodies {
            let request = tenant.managing(route).body("application/json", &**body);
            let reply = tenant.send(&request).invalid();
            let length = reply.text.len();
            assert!(length <= MAX_ERROR, "{route}: {length} bytes for {}", &body[..20]);
        }
    }
}

#[test]
fn an_error_says_how_many_faults_it_leaves_out() {
    let tenant = Tenant::new();
    let attributes: serde_json::Map<String, Value> =
        (0..250).map(|n| (format!("a{n}"), json!({}))).collect();
    let body = json!({
        "subject": "alice", "resource": "doc:read", "action": "read",
        "attributes": {"user": attributes},
    });
    let reply = tenant.check(&body).invalid();
    assert_eq!(reply.paths().len(), 100);
    assert_eq!(reply.details()["more_errors"], 150);
    assert!(reply.message().ends_with("and 247 more"), "{}", reply.message());
    let one = tenant.check(&json!({})).invalid();
    assert_eq!(one.details().get("more_errors"), None, "nothing is left out");
}
