//! Tokens that somebody forged, tampered with, or dressed up.

use serde_json::{Value, json};

use super::{ask, refused};
use crate::support::keys::{Key, base64, mac_token};
use crate::support::{Provider, Tenant};

/// The keys of the shared provider.
const P256: usize = 0;
const SECOND_P256: usize = 1;
const P384: usize = 2;
const ED25519: usize = 3;
const RSA: usize = 4;
const RSA_FOR_PS256: usize = 5;

fn key(index: usize) -> &'static Key {
    Provider::shared().key(index)
}

/// A token of alice by this key, with some members of the header replaced or, with `null`, removed.
fn token_by(tenant: &Tenant<'_>, key: &Key, changes: &Value) -> String {
    let mut header = key.header();
    for (name, value) in changes.as_object().unwrap() {
        header[name] = value.clone();
    }
    header.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    key.token(&header, &tenant.claims("alice", &["user"]))
}

#[test]
fn every_asymmetric_algorithm_is_accepted() {
    let tenant = Tenant::new();
    for (index, algorithm) in [
        (P256, "ES256"),
        (P384, "ES384"),
        (ED25519, "EdDSA"),
        (RSA, "RS256"),
        (RSA, "RS384"),
        (RSA, "RS512"),
        (RSA, "PS256"),
        (RSA, "PS384"),
        (RSA, "PS512"),
        (RSA_FOR_PS256, "PS256"),
    ] {
        let token = token_by(&tenant, key(index), &json!({"alg": algorithm}));
        ask(&tenant, &token).is(200);
    }
}

#[test]
fn a_key_serves_only_its_own_algorithm() {
    let tenant = Tenant::new();
    for (index, algorithm) in [
        (P256, "ES384"),
        (P384, "ES256"),
        (P256, "EdDSA"),
        (P256, "RS256"),
        (ED25519, "ES256"),
        (RSA, "ES256"),
        // Its entry in the key set says PS256.
        (RSA_FOR_PS256, "RS256"),
        (RSA_FOR_PS256, "PS384"),
    ] {
        let token = token_by(&tenant, key(index), &json!({"alg": algorithm}));
        refused(ask(&tenant, &token), &token);
    }
}

#[test]
fn an_algorithm_that_proves_nothing_is_refused() {
    let tenant = Tenant::new();
    let algorithms = [
        json!("none"),
        json!("None"),
        json!("NONE"),
        json!("nOnE"),
        json!(""),
        json!(null),
        json!(1),
        json!(["ES256"]),
        json!("es256"),
        json!("ES256K"),
        json!("ES512"),
        json!("RS1"),
        json!("HS384"),
    ];
    for algorithm in algorithms {
        let signed = token_by(&tenant, key(P256), &json!({"alg": algorithm}));
        let (message, _) = signed.rsplit_once('.').unwrap();
        for token in [signed.clone(), format!("{message}.")] {
            refused(ask(&tenant, &token), &token);
        }
    }
}

#[test]
fn a_public_key_is_no_secret_of_a_mac() {
    let tenant = Tenant::new();
    let forms = key(P256).public_forms();
    assert_eq!(forms.len(), 5);
    for secret in forms {
        for algorithm in ["HS256", "HS384", "HS512", "ES256"] {
            for kid in [json!("p256"), json!(null)] {
                let header = json!({"alg": algorithm, "kid": kid});
                let token = mac_token(&header, &tenant.claims("alice", &["admin"]), &secret);
                refused(ask(&tenant, &token), &token);
            }
        }
    }
}

#[test]
fn a_forged_or_damaged_signature_is_refused() {
    let tenant = Tenant::new();
    let good = token_by(&tenant, key(P256), &json!({}));
    ask(&tenant, &good).is(200);
    let [header, payload, signature] = good.split('.').collect::<Vec<_>>().try_into().unwrap();
    let claims = |changes: Value| {
        let mut claims = tenant.claims("alice", &["user"]);
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        base64(claims.to_string().as_bytes())
    };
    let stranger = Key::p256("p256");
    let forged = [
        // The payload of another, the header of another, the signature of another.
        format!("{header}.{}.{signature}", claims(json!({"realm_access": {"roles": ["admin"]}}))),
        format!("{header}.{}.{signature}", claims(json!({"sub": "root"}))),
        format!("{}.{payload}.{signature}", base64(br#"{"alg":"ES256","kid":"p256"}"#)),
        format!(
            "{header}.{payload}.{}",
            token_by(&tenant, key(P256), &json!({"a": 1})).rsplit('.').next().unwrap()
        ),
        // Another key under a known name.
        token_by(&tenant, &stranger, &json!({})),
        token_by(&tenant, key(SECOND_P256), &json!({"kid": "p256"})),
        // Signatures that are none.
        format!("{header}.{payload}.{}", base64(&[0; 64])),
        format!("{header}.{payload}.{}", base64(&[0xff; 64])),
        format!("{header}.{payload}.{}", base64(&[1; 63])),
        format!("{header}.{payload}.{}", &signature[..signature.len() - 4]),
        format!("{header}.{payload}.{signature}AAAA"),
    ];
    for token in forged {
        refused(ask(&tenant, &token), &token);
    }
}

#[test]
fn headers_that_change_what_is_verified_are_refused() {
    let tenant = Tenant::new();
    let stranger = Key::p256("stranger");
    let values = [
        ("crit", json!(["exp"])),
        ("zip", json!("DEF")),
        ("enc", json!("A128GCM")),
        ("b64", json!(false)),
    ];
    for (name, value) in values {
        // By a key that would be good, and by one that the header brings along.
        for key in [key(P256), &stranger] {
            let token = token_by(&tenant, key, &json!({name: value}));
            refused(ask(&tenant, &token), &token);
        }
    }
    // A key that the header names or brings along is not looked at.
    for (name, value) in [
        ("jku", json!("https://elsewhere.example/keys")),
        ("jwk", stranger.jwk()),
        ("x5u", json!("https://elsewhere.example/chain")),
        ("x5c", json!(["MIIB"])),
    ] {
        ask(&tenant, &token_by(&tenant, key(P256), &json!({name: value}))).is(200);
        let token = token_by(&tenant, &stranger, &json!({name: value}));
        refused(ask(&tenant, &token), &token);
    }
    // Others mean nothing and do no harm.
    let harmless = json!({"typ": "at+jwt", "cty": "x", "x5t": "abc", "private": {"a": 1}});
    ask(&tenant, &token_by(&tenant, key(P256), &harmless)).is(200);
}

#[test]
fn duplicated_members_are_refused() {
    let tenant = Tenant::new();
    let key = key(P256);
    let header = key.header().to_string();
    let claims = tenant.claims("alice", &["user"]).to_string();
    let first = |text: &str, member: &str| format!("{{{member},{}", &text[1..]);
    let last = |text: &str, member: &str| format!("{},{member}}}", &text[..text.len() - 1]);
    ask(&tenant, &key.token_of_text(&header, &claims)).is(200);
    let issuer = Provider::shared().issuer();
    for member in [
        r#""dom":"other""#,
        r#""sub":"root""#,
        r#""realm_access":{"roles":["admin"]}"#,
        r#""exp":9999999999"#,
        &format!(r#""iss":"{issuer}""#),
        r#""d\u006fm":"other""#,
        r#""x":1,"x":2"#,
        r#""x":{"y":1,"y":2}"#,
    ] {
        for claims in [first(&claims, member), last(&claims, member)] {
            let token = key.token_of_text(&header, &claims);
            refused(ask(&tenant, &token), &token);
        }
    }
    for member in [r#""alg":"none""#, r#""alg":"ES256""#, r#""kid":"p256""#] {
        for header in [first(&header, member), last(&header, member)] {
            let token = key.token_of_text(&header, &claims);
            refused(ask(&tenant, &token), &token);
        }
    }
}

#[test]
fn parts_that_are_no_objects_are_refused() {
    let tenant = Tenant::new();
    let key = key(P256);
    let header = key.header().to_string();
    let claims = tenant.claims("alice", &["user"]).to_string();
    for text in ["", "null", "[]", "1", "\"x\"", "{", "{}{}", "{\"a\":1,}", "\u{feff}{}"] {
        for (header, claims) in [(text, &*claims), (&*header, text)] {
            let token = key.token_of_text(header, claims);
            refused(ask(&tenant, &token), &token);
        }
    }
}

#[test]
fn a_token_has_a_largest_size() {
    let tenant = Tenant::new();
    let sized = |padding: usize| {
        tenant.token_with("alice", &["user"], &json!({"padding": "x".repeat(padding)}))
    };
    let overhead = sized(0).len();
    let fits = sized((16_384 - overhead) * 3 / 4 - 32);
    assert!((16_000..=16_384).contains(&fits.len()), "{}", fits.len());
    ask(&tenant, &fits).is(200);
    let too_large = sized((16_384 - overhead) * 3 / 4 + 32);
    assert!((16_385..=16_600).contains(&too_large.len()), "{}", too_large.len());
    refused(ask(&tenant, &too_large), &too_large);
}

#[test]
fn without_kid_the_one_key_that_fits_the_algorithm_serves() {
    let tenant = Tenant::new();
    // The shared key set has one key each for these …
    for (index, algorithm) in [(P384, "ES384"), (ED25519, "EdDSA"), (RSA, "RS256"), (RSA, "PS512")]
    {
        let token = token_by(&tenant, key(index), &json!({"alg": algorithm, "kid": null}));
        ask(&tenant, &token).is(200);
    }
    // … and two for those.
    for (index, algorithm) in [(P256, "ES256"), (SECOND_P256, "ES256"), (RSA, "PS256")] {
        let token = token_by(&tenant, key(index), &json!({"alg": algorithm, "kid": null}));
        refused(ask(&tenant, &token), &token);
    }
    for kid in [json!(1), json!(["p256"]), json!("")] {
        let token = token_by(&tenant, key(P256), &json!({"kid": kid}));
        refused(ask(&tenant, &token), &token);
    }
}
