//! Request bodies: content type, size, and JSON that two readers could not read differently.

use serde_json::{Value, json};

use crate::support::{Reply, Request, Tenant};

const LIMIT: usize = 1024 * 1024;

fn check() -> Value {
    json!({"subject": "alice", "resource": "doc:read", "action": "read"})
}

/// Every route that takes a body, as a manager.
fn with_body(tenant: &Tenant) -> Vec<Request> {
    let routes = [
        "POST /api/v1/check",
        "POST /api/v1/resources/access/check",
        "POST /api/v1/resources",
        "POST /api/v1/resources/list",
        "POST /api/v1/resources/policies",
        "PUT /api/v1/resources/policies",
        "DELETE /api/v1/resources/policies",
        "POST /api/v1/abac/policies",
        "PUT /api/v1/abac/policies/01890000-0000-7000-8000-000000000000",
    ];
    routes.into_iter().map(|route| tenant.managing(route)).collect()
}

#[test]
fn a_body_is_json_in_utf_8() {
    let tenant = Tenant::new();
    let good = [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "application/json; charset=\"utf-8\"",
    ];
    for content_type in good {
        let request = tenant.managing("POST /api/v1/check");
        tenant.send(&request.body(content_type, check().to_string())).is(200);
    }
    let bad = [
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "application/problem+json",
        "application/json; charset=latin1",
        "application/json, text/plain",
        "json",
        "",
    ];
    for request in with_body(&tenant) {
        for content_type in bad {
            let request = request.clone().body(content_type, check().to_string());
            tenant.send(&request).refused(415, "UNSUPPORTED_MEDIA_TYPE");
        }
        let untyped = request.untyped_body(check().to_string());
        tenant.send(&untyped).refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
}

#[test]
fn text_that_is_no_json_is_a_bad_request() {
    let tenant = Tenant::new();
    let deep = format!("{}{}", "[".repeat(129), "]".repeat(129));
    let texts: [&[u8]; 16] = [
        b"",
        b" ",
        b"{",
        b"{\"subject\": \"alice\"",
        b"{\"subject\": \"alice\",}",
        b"{'subject': 'alice'}",
        b"{subject: 1}",
        b"{} {}",
        b"nul",
        b"NaN",
        b"[1, Infinity]",
        b"{\"subject\": \"a\nb\"}",
        b"{\"subject\": \"\xff\"}",
        b"{\"subject\": \"\\ud800\"}",
        b"\xef\xbb\xbf{}",
        deep.as_bytes(),
    ];
    for request in with_body(&tenant) {
        for text in texts {
            let reply = tenant.send(&request.clone().body("application/json", text));
            reply.refused(400, "BAD_REQUEST");
        }
        tenant.send(&request).refused(400, "BAD_REQUEST");
    }
}

#[test]
fn a_byte_order_mark_and_an_encoding_are_refused_by_name() {
    let tenant = Tenant::new();
    for request in with_body(&tenant) {
        let marked = format!("\u{feff}{}", check());
        let reply = tenant.send(&request.clone().body("application/json", marked));
        assert!(reply.refused(400, "BAD_REQUEST").message().contains("byte order mark"));
        let zipped = request.body("application/json", b"\x1f\x8b\x08".to_vec());
        for coding in ["gzip", "deflate", "identity, gzip"] {
            let reply = tenant.send(&zipped.clone().header("content-encoding", coding));
            let reply = reply.refused(415, "UNSUPPORTED_MEDIA_TYPE");
            assert_eq!(reply.header("accept-encoding"), Some("identity"));
            assert!(reply.message().contains(&format!("`{coding}`")), "{}", reply.message());
        }
    }
    let plain = tenant.managing("POST /api/v1/check").json(&check());
    tenant.send(&plain.clone().header("content-encoding", "identity")).is(200);
    let standard = tenant.managing("POST /access/v1/evaluation").json(&json!({}));
    let reply = tenant.send(&standard.header("content-encoding", "gzip")).is(400);
    assert!(reply.text.contains("`gzip`"), "{}", reply.text);
}

#[test]
fn a_well_formed_body_with_wrong_content_is_a_validation_error() {
    let tenant = Tenant::new();
    let texts = [
        "null",
        "1",
        "true",
        "\"text\"",
        "[1]",
        r#"{"a": 1, "a": 1}"#,
        r#"{"subject": "a", "subject": "b", "resource": "doc:read", "action": "read"}"#,
        r#"{"subject": "a", "\u0073ubject": "a", "resource": "doc:read", "action": "read"}"#,
        r#"{"id": 1, "x": [{"b": 1, "b": 2}]}"#,
        r#"{"subject": "a\u0000b"}"#,
        r#"{"a\u0000": 1}"#,
        r#"{"priority": 1e400}"#,
        r#"{"priority": -1e400}"#,
    ];
    for request in with_body(&tenant) {
        for text in texts {
            let reply = tenant.send(&request.clone().body("application/json", text)).invalid();
            assert!(reply.details()["path"].is_string(), "{text}: {}", reply.text);
        }
    }
}

#[test]
fn json_nests_at_most_128_levels() {
    let tenant = Tenant::new();
    for (depth, code) in [(128, "VALIDATION_ERROR"), (129, "BAD_REQUEST"), (100_000, "BAD_REQUEST")]
    {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let text = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            let request = tenant.managing("POST /api/v1/check");
            tenant.send(&request.body("application/json", text)).refused(400, code);
        }
    }
}

#[test]
fn duplicate_keys_and_nul_are_found_at_any_depth() {
    let tenant = Tenant::new();
    let with = |attributes: &str| {
        format!(
            r#"{{"subject": "alice", "resource": "doc:read", "action": "read", "attributes": {attributes}}}"#
        )
    };
    let send = |attributes: &str| -> Reply {
        let request = tenant.managing("POST /api/v1/check");
        tenant.send(&request.body("application/json", with(attributes)))
    };
    send(r#"{"user": {"a": 1, "b": "\u0001"}}"#).is(200);
    for (attributes, path) in [
        (r#"{"user": {}, "user": {}}"#, "/attributes"),
        (r#"{"user": {"a": 1, "a": 1}}"#, "/attributes/user"),
        (r#"{"user": {"a": "\u0000"}}"#, "/attributes/user/a"),
        (r#"{"user": {"a": ["x", "y\u0000"]}}"#, "/attributes/user/a/1"),
    ] {
        assert_eq!(send(attributes).invalid().details()["path"], path, "{attributes}");
    }
    for number in ["1e400", "-1e400", &"9".repeat(400)] {
        send(&format!(r#"{{"user": {{"a": {number}}}}}"#)).invalid();
    }
    for number in ["1e308", "-9223372036854775808", "18446744073709551615", "1e-400"] {
        send(&format!(r#"{{"user": {{"a": {number}}}}}"#)).is(200);
    }
}

#[test]
fn nul_is_refused_outside_of_bodies_too() {
    let tenant = Tenant::new();
    tenant.get("/api/v1/abac/policies?resource=a%00b").is(400);
}

/// A check of exactly `length` bytes.
fn padded(length: usize) -> String {
    let text = check().to_string();
    format!("{text}{}", " ".repeat(length - text.len()))
}

#[test]
fn a_body_has_at_most_one_mebibyte() {
    let tenant = Tenant::new();
    let largest = tenant.managing("POST /api/v1/check").body("application/json", padded(LIMIT));
    tenant.send(&largest).is(200);
    tenant.send(&largest.chunked()).is(200);
    for request in with_body(&tenant) {
        request.announce(tenant.address, 99_999_999_999).refused(413, "PAYLOAD_TOO_LARGE");
    }
}

/// The routes whose bodies may have 8 MiB.
const LARGE: [&str; 11] = [
    "POST /api/v1/checks",
    "POST /access/v1/evaluations",
    "POST /api/v1/search/resources",
    "POST /api/v1/search/subjects",
    "PUT /api/v1/entities",
    "POST /api/v1/entities/sync",
    "POST /api/v1/relations",
    "POST /api/v1/relations/sync",
    "POST /api/v1/apply",
    "PUT /api/v1/drafts/{name}",
    "POST /api/v1/replays",
];

#[test]
fn every_route_with_a_caller_has_its_largest_body() {
    let tenant = Tenant::new();
    let document = Request::new("GET /openapi.json").send(tenant.address).is(200).json();
    let mut seen = 0;
    for (path, item) in document["paths"].as_object().expect("paths") {
        let operations = item.as_object().expect("operations").iter();
        for (method, _) in operations.filter(|(_, operation)| operation["security"].is_array()) {
            let route = format!("{} {path}", method.to_uppercase());
            let limit = if LARGE.contains(&&*route) { 8 * LIMIT } else { LIMIT };
            // The size is judged before the credential.
            let request =
                Request::new(route.replace(['{', '}'], "")).header("expect", "100-continue");
            let refused = request.announce(tenant.address, limit + 1);
            let message = refused.refused(413, "PAYLOAD_TOO_LARGE").message();
            assert!(message.contains(&limit.to_string()), "{route}: {message}");
            request.announce(tenant.address, limit).refused(401, "UNAUTHENTICATED");
            seen += 1;
        }
    }
    assert!(seen > 40, "only {seen} routes were tried");
}

#[test]
fn a_client_that_sends_too_much_gets_its_answer() {
    let tenant = Tenant::new();
    for length in [LIMIT + 1, LIMIT + 4096, 2 * LIMIT] {
        let request = tenant.managing("POST /api/v1/check");
        let request = request.body("application/json", padded(length));
        for _ in 0..5 {
            tenant.send(&request).refused(413, "PAYLOAD_TOO_LARGE");
            tenant.send(&request.clone().chunked()).refused(413, "PAYLOAD_TOO_LARGE");
        }
    }
}

#[test]
fn a_body_on_a_route_that_takes_none_is_not_looked_at() {
    let tenant = Tenant::new();
    let request = tenant.managing("GET /api/v1/resources");
    tenant.send(&request.body("text/plain", "nonsense")).is(200);
}
