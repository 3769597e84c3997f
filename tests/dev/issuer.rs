//! The identity provider of `portcullis dev`, as a client that is configured for Keycloak sees it.

use serde_json::{Value, json};

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
fn the_printed_line_for_another_token_works() {
    let (dev, _directory) = Dev::fresh();
    let line = dev.welcome.iter().find_map(|line| line.strip_prefix("Another token: ")).unwrap();
    let answer: Value =
        serde_json::from_str(&paste(&line.replace("<user>", "olga-admin"))).unwrap();
    dev.get("/api/v1/resources", answer["access_token"].as_str().unwrap()).is(200);
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
        ("grant_type=authorization_code&code=x", "unsupported_grant_type"),
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
    for path in ["/dev", "/dev/unknown", "/unknown"] {
        Request::new(format!("GET {path}")).send(dev.address).refused(404, "NOT_FOUND");
    }
    Request::new(format!("GET {TOKEN}")).send(dev.address).refused(405, "METHOD_NOT_ALLOWED");
}
