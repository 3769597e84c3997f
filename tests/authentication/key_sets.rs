//! Key sets: discovery, rotation, providers that fail, and keys that are never used.

use std::io::Write;

use serde_json::{Value, json};

use crate::everywhere::authentication::{ask, refused};
use crate::support::client::connect;
use crate::support::keys::{Key, base64};
use crate::support::provider::{Mode, Provider};
use crate::support::{Reply, Settings, Tenant};

/// A server whose key set is at `JWKS_URI`.
fn settings(provider: &Provider) -> Settings {
    Settings::new(provider).set("JWKS_URI", provider.jwks_uri())
}

#[test]
fn a_rotated_key_is_found_by_its_unknown_kid_and_fetched_once() {
    let mut provider = Provider::new(vec![Key::p256("old")]);
    let server = settings(&provider).start();
    let ask_with = |provider: &Provider, token: &str| {
        ask(&Tenant::with_provider(&server, provider, "t"), token)
    };
    let claims = provider.claims("t", "alice", &["user"]);
    let old = provider.token(&claims);
    ask_with(&provider, &old).is(200);
    assert_eq!(provider.fetches(), 1);
    provider.rotate(vec![Key::p256("new")]);
    let new = provider.token(&claims);
    ask_with(&provider, &new).is(200);
    assert_eq!(provider.fetches(), 2);
    // The old key is gone, and neither it nor an invented one is looked for again and again.
    for kid in ["old", "invented", "also invented"] {
        let token = Key::p256(kid).token(&json!({"alg": "ES256", "kid": kid}), &claims);
        refused(ask_with(&provider, &token), &token);
    }
    refused(ask_with(&provider, &old), &old);
    ask_with(&provider, &new).is(200);
    assert_eq!(provider.fetches(), 2);
}

#[test]
fn a_key_that_is_added_serves_beside_the_old_one() {
    let mut provider = Provider::new(vec![Key::p256("old")]);
    let server = settings(&provider).start();
    let claims = provider.claims("t", "alice", &["user"]);
    let old = provider.token(&claims);
    let send = |provider: &Provider, token: &str| {
        ask(&Tenant::with_provider(&server, provider, "t"), token)
    };
    send(&provider, &old).is(200);
    let added = Key::p256("added");
    let token = added.token(&added.header(), &claims);
    let both = json!({"keys": [provider.key(0).jwk(), added.jwk()]});
    provider.serve_key_set(&both.to_string());
    send(&provider, &token).is(200);
    send(&provider, &old).is(200);
    provider.rotate(vec![added]);
    send(&provider, &old).is(200);
}

#[test]
fn a_provider_that_is_down_from_the_start_is_a_503() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("http://{}/keys", unused.local_addr().unwrap());
    drop(unused);
    let provider = Provider::in_mode(vec![Key::p256("k")], Mode::Failing);
    let no_key = json!({"keys": []}).to_string();
    let html = "<html>maintenance</html>".to_owned();
    let no_keys = [(settings(&provider), None)]
        .into_iter()
        .chain([(Settings::new(&provider).set("JWKS_URI", gone), None)])
        .chain([no_key, html].map(|text| (settings(&provider), Some(text))));
    for (settings, key_set) in no_keys {
        if let Some(key_set) = key_set {
            provider.serve_key_set(&key_set);
            provider.set_mode(Mode::Up);
        }
        let server = settings.start();
        let tenant = Tenant::with_provider(&server, &provider, "t");
        let token = tenant.token("alice", &["user"]);
        ask(&tenant, &token).refused(503, "DEPENDENCY_UNAVAILABLE");
        // What needs no key to be refused is a bad token all the same, and probes do not care.
        let nonsense = ask(&tenant, "a.b.c");
        refused(nonsense, "a.b.c");
        crate::support::Request::new("GET /healthz/ready").send(server.address).is(200);
    }
}

#[test]
fn a_provider_that_fails_later_keeps_its_last_good_keys() {
    for breakage in ["<html>", r#"{"keys": []}"#, r#"{"keys": {}}"#, "500"] {
        let provider = Provider::new(vec![Key::p256("k")]);
        let server = settings(&provider).start();
        let tenant = Tenant::with_provider(&server, &provider, "t");
        let token = tenant.token("alice", &["user"]);
        ask(&tenant, &token).is(200);
        provider.serve_key_set(breakage);
        if breakage == "500" {
            provider.set_mode(Mode::Failing);
        }
        let unknown = Key::p256("unknown");
        let unknown = unknown.token(&unknown.header(), &tenant.claims("alice", &["user"]));
        refused(ask(&tenant, &unknown), &unknown);
        assert_eq!(provider.fetches(), 2, "the unknown key was looked for");
        ask(&tenant, &token).is(200);
    }
}

#[test]
fn the_first_token_waits_for_the_key_set_that_is_loading() {
    let provider = Provider::in_mode(vec![Key::p256("k")], Mode::Holding);
    let server = settings(&provider).start();
    provider.wait_for_fetches(1);
    let token = provider.token(&provider.claims("t", "alice", &["user"]));
    let body = r#"{"subject":"a","resource":"b:c","action":"d"}"#;
    let request = format!(
        "POST /api/v1/check HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut waiting = [(); 4].map(|()| connect(server.address));
    for stream in &mut waiting {
        stream.write_all(request.as_bytes()).unwrap();
    }
    provider.set_mode(Mode::Up);
    for stream in &mut waiting {
        let answer = std::io::read_to_string(stream).unwrap();
        Reply::read("POST /api/v1/check", &answer).is(200);
    }
    assert_eq!(provider.fetches(), 1, "one fetch for all of them");
}

#[test]
fn a_provider_that_never_answers_is_a_503_in_the_end() {
    let provider = Provider::in_mode(vec![Key::p256("k")], Mode::Holding);
    let server = settings(&provider).start();
    let tenant = Tenant::with_provider(&server, &provider, "t");
    let token = tenant.token("alice", &["user"]);
    ask(&tenant, &token).refused(503, "DEPENDENCY_UNAVAILABLE");
    provider.set_mode(Mode::Up);
}

#[test]
fn without_jwks_uri_the_discovery_document_says_where() {
    let provider = Provider::new(vec![Key::p256("k")]);
    let server = Settings::new(&provider).start();
    let tenant = Tenant::with_provider(&server, &provider, "t");
    ask(&tenant, &tenant.token("alice", &["user"])).is(200);
    assert_eq!(provider.fetches(), 1);
}

/// A modulus of so many bits that nobody knows the factors of.
fn rsa_jwk(kid: &str, bits: usize) -> Value {
    json!({"kty": "RSA", "kid": kid, "use": "sig", "n": base64(&vec![0xc5; bits / 8]), "e": "AQAB"})
}

#[test]
fn keys_that_could_not_verify_are_never_used() {
    let good = Key::rsa("good");
    let other = |extra: Value| Key::rsa("other").with(extra).jwk();
    // Were one of these used, two keys would fit a token without `kid`, and it would be refused.
    let never_used = [
        other(json!({"use": "enc"})),
        other(json!({"use": "sig", "alg": "RS384"})),
        other(json!({"use": "sig", "alg": "RSA-OAEP"})),
        other(json!({"key_ops": ["encrypt"]})),
        rsa_jwk("short", 1_024),
        json!({"kty": "oct", "kid": "mac", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3JldA"}),
        json!({"kty": "NEW", "kid": "new", "use": "sig", "n": "AQAB"}),
        json!({"kty": "RSA", "kid": "broken", "use": "sig"}),
    ];
    for key in never_used {
        let provider = Provider::new(vec![Key::p256("unused")]);
        provider.serve_key_set(&json!({"keys": [key, good.jwk()]}).to_string());
        let server = settings(&provider).start();
        let tenant = Tenant::with_provider(&server, &provider, "t");
        let claims = tenant.claims("alice", &["user"]);
        ask(&tenant, &good.token(&json!({"alg": "RS256"}), &claims)).is(200);
    }
    // Two that are good: the negative control.
    let provider = Provider::new(vec![Key::rsa("one"), Key::rsa("two")]);
    let server = settings(&provider).start();
    let tenant = Tenant::with_provider(&server, &provider, "t");
    let token = provider.key(0).token(&json!({"alg": "RS256"}), &tenant.claims("alice", &["user"]));
    refused(ask(&tenant, &token), &token);
}

#[test]
fn a_symmetric_key_in_the_key_set_verifies_nothing() {
    let secret = b"secret-secret-secret-secret-secret";
    let provider = Provider::new(vec![Key::p256("k")]);
    let mac =
        json!({"kty": "oct", "kid": "mac", "alg": "HS256", "use": "sig", "k": base64(secret)});
    provider.serve_key_set(&json!({"keys": [mac, provider.key(0).jwk()]}).to_string());
    let server = settings(&provider).start();
    let tenant = Tenant::with_provider(&server, &provider, "t");
    let claims = tenant.claims("alice", &["user"]);
    for header in [json!({"alg": "HS256", "kid": "mac"}), json!({"alg": "HS256"})] {
        let token = crate::support::keys::mac_token(&header, &claims, secret);
        refused(ask(&tenant, &token), &token);
    }
    ask(&tenant, &provider.token(&claims)).is(200);
}

#[test]
fn a_key_set_that_is_wrong_in_many_ways_has_one_short_log_line() {
    let provider = Provider::new(vec![Key::p256("k")]);
    let name = "n".repeat(32_000);
    let members = vec![r#""":{}"#; 5_500].join(",");
    provider.serve_key_set(&format!(r#"{{"{name}":{{{members}}}}}"#));
    let server = settings(&provider).start();
    let tenant = Tenant::with_provider(&server, &provider, "t");
    let token = tenant.token("alice", &["user"]);
    // The fetch at the start, one for a token, and one or more in the background.
    for _ in 0..5 {
        ask(&tenant, &token).refused(503, "DEPENDENCY_UNAVAILABLE");
    }
    provider.wait_for_fetches(3);
    let is_about_keys = |line: &String| line.contains("cannot fetch the key set");
    server.process.err.wait_for(|lines| lines.iter().any(is_about_keys).then_some(()));
    let log = server.process.err.lines();
    let about: Vec<_> = log.iter().filter(|line| is_about_keys(line)).collect();
    assert_eq!(about.len(), 1, "{about:?}");
    assert!(about[0].contains("there twice") && about[0].contains(&provider.issuer()));
    let length: usize = log.iter().map(String::len).sum();
    assert!(length <= 8 * 1024, "{length} bytes");
}
