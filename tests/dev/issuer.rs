//! The identity provider of `portcullis dev`, as a client that is configured for Keycloak sees it.

use serde_json::json;

use super::{Dev, paste};
use crate::support::{Reply, Request};

const TOKEN: &str = "/dev/protocol/openid-connect/token";

fn ask(dev: &Dev, form: &str) -> Reply {
    let request = Request::new(format!("POST {TOKEN}"));
    request.body("application/x-www-form-urlencoded", form).send(dev.address)
}

#[test]
fn any_sample_user_gets_a_token() {
    let (dev, _directory) = Dev::fresh();
    for form in [
        "grant_type=password&username=olga-admin",
        "grant_type=password&username=olga-admin&password=anything&scope=openid",
        "grant_type=client_credentials&client_id=olga-admin&client_secret=anything",
    ] {
        let reply = ask(&dev, form).is(200);
        assert_eq!(reply.text_of("token_type"), "Bearer");
        assert!(reply.json()["expires_in"].as_u64().is_some_and(|seconds| seconds >= 3_600));
        dev.get("/api/v1/resources", &reply.text_of("access_token")).is(200);
    }
    let member =
        ask(&dev, "grant_type=password&username=dev-amara").is(200).text_of("access_token");
    dev.get("/api/v1/resources", &member).refused(403, "ACCESS_DENIED");
}

#[test]
fn a_token_as_plain_text_works_in_a_shell() {
    let (dev, _directory) = Dev::fresh();
    let get = |query: &str| Request::new(format!("GET /dev/token{query}")).send(dev.address);
    let reply = get("?user=olga-admin").is(200);
    assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(reply.header("access-control-allow-origin"), None, "no other page may read it");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    dev.get("/api/v1/resources", reply.text.trim()).is(200);
    for query in ["", "?user=", "?user=nobody", "?name=olga-admin"] {
        let text = get(query).is(400).text;
        assert!(text.contains("the users are") && text.contains("olga-admin"), "{text}");
        let is_named = query == "?user=nobody";
        assert_eq!(text.starts_with("`user` is missing"), !is_named, "{text}");
    }
    let line = format!("curl -s 'http://{}/dev/token?user=dev-amara'", dev.address);
    dev.get("/api/v1/resources", paste(&line).trim()).refused(403, "ACCESS_DENIED");
    // Another host may be a page on the internet whose name resolves to this machine.
    let request = Request::new("GET /dev/token?user=olga-admin").header("host", "evil.example");
    request.send(dev.address).refused(403, "ACCESS_DENIED");
}

#[test]
fn a_token_request_that_makes_no_sense_is_refused() {
    let (dev, _directory) = Dev::fresh();
    for (form, error) in [
        ("", "invalid_request"),
        ("username=olga-admin", "invalid_request"),
        ("grant_type=password", "invalid_grant"),
        ("grant_type=password&username=nobody", "invalid_grant"),
        ("grant_type=client_credentials&username=olga-admin", "invalid_grant"),
        ("grant_type=authorization_code&code=x", "invalid_grant"),
        ("grant_type=refresh_token&refresh_token=x", "unsupported_grant_type"),
    ] {
        let reply = ask(&dev, form).is(400);
        assert_eq!(reply.text_of("error"), error, "{form}");
    }
    let json = Request::new(format!("POST {TOKEN}")).json(&json!({"grant_type": "password"}));
    json.send(dev.address).is(400);
}

#[test]
fn discovery_leads_to_the_key_set() {
    let (dev, _directory) = Dev::fresh();
    let issuer = format!("http://{}/dev", dev.address);
    let document =
        Request::new("GET /dev/.well-known/openid-configuration").send(dev.address).is(200);
    assert_eq!(document.text_of("issuer"), issuer);
    assert_eq!(document.text_of("token_endpoint"), format!("http://{}{TOKEN}", dev.address));
    let jwks_uri = document.text_of("jwks_uri");
    let path = jwks_uri.strip_prefix(&format!("http://{}", dev.address)).unwrap();
    let keys = Request::new(format!("GET {path}")).send(dev.address).is(200).json();
    let key = &keys["keys"][0];
    assert_eq!((&key["kty"], &key["crv"]), (&json!("EC"), &json!("P-256")));
    assert_eq!(key.get("d"), None, "the private half stays private");
}

#[test]
fn a_token_of_another_dev_server_is_worthless() {
    let ((first, _one), (second, _other)) = (Dev::fresh(), Dev::fresh());
    let token = first.token("olga-admin");
    first.get("/api/v1/resources", token).is(200);
    second.get("/api/v1/resources", token).refused(401, "UNAUTHENTICATED");
}

#[test]
fn the_error_body_is_the_services_everywhere_else() {
    let (dev, _directory) = Dev::fresh();
    for path in ["/dev", "/dev/unknown", "/dev/examples/x", "/unknown"] {
        Request::new(format!("GET {path}")).send(dev.address).refused(404, "NOT_FOUND");
    }
    Request::new(format!("GET {TOKEN}")).send(dev.address).refused(405, "METHOD_NOT_ALLOWED");
}
