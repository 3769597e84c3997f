//! Attacks on token verification (RFC 8725 and the project's security notes). Every attack is one change
//! to a token that is accepted without it: what is refused is the attack, not the token.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};

use super::*;
use crate::config::MAX_TOKEN;
use crate::testing::{
    EC, EC_384, ED, ISSUER, OTHER, RSA, TestKey, claims, header, key_source, now, sign, sign_texts,
};
use portcullis_model::provider::{ClaimConfig, RolesFormat};

pub(super) fn config() -> OidcConfig {
    OidcConfig {
        issuer: ISSUER.to_owned(),
        jwks_uri: None,
        audience: None,
        claims: ClaimConfig::default(),
    }
}

async fn verify_with(
    config: OidcConfig,
    keys: Vec<Value>,
    token: &str,
    now: DateTime<Utc>,
) -> Result<Identity, String> {
    let verifier = Verifier::new(config, key_source(keys));
    let verified = match Unverified::read(token, MAX_TOKEN) {
        Ok(read) => verifier.verify(read, now).await,
        Err(error) => Err(error),
    };
    verified.map(|proof| proof.identity).map_err(|error| match error {
        AuthError::TokenRefused(why) | AuthError::NoKeys(why) => why,
        other => panic!("{other:?}"),
    })
}

async fn verify(token: &str) -> Result<Identity, String> {
    let keys = vec![EC.jwk(json!({"kid": "ec"})), RSA.jwk(json!({"kid": "rsa"}))];
    verify_with(config(), keys, token, now()).await
}

#[track_caller]
fn assert_refused(result: Result<Identity, String>, expected: &str, attack: &str) {
    let why = result.expect_err(attack);
    assert!(why.contains(expected), "{attack}: {why}");
}

#[tokio::test]
async fn a_good_token_gives_its_identity() {
    let identity = verify(&sign(&header(), &claims())).await.expect("accepted");
    assert_eq!((&*identity.subject, &*identity.domain), ("ann", "acme"));
    assert_eq!(identity.roles, ["reader"], "roles that are no strings are ignored");
    assert!(identity.administers.is_empty());
}

#[tokio::test]
async fn an_empty_list_of_roles_is_a_caller_without_roles() {
    for roles in [json!([]), json!([7])] {
        let mut claims = claims();
        claims["realm_access"]["roles"] = roles.clone();
        let identity = verify(&sign(&header(), &claims)).await.expect("accepted");
        assert!(identity.roles.is_empty(), "{roles}");
    }
}

#[tokio::test]
async fn roles_are_read_as_the_provider_says() {
    use RolesFormat::{Keys, List, Words};
    let object = json!({"reader": {"acme": "x"}, "editor": true, "admin": false, "owner": null});
    for (format, claim, expected) in [
        (List, json!("reader editor"), Some(vec!["reader editor"])),
        (List, object.clone(), None),
        (Words, json!("  reader,editor admin\t"), Some(vec!["reader", "editor", "admin"])),
        (Words, json!(["one role", "reader"]), Some(vec!["one role", "reader"])),
        (Words, json!(" , "), None),
        (Words, object.clone(), None),
        (Keys, object, Some(vec!["reader", "editor"])),
        (Keys, json!({}), Some(vec![])),
        (Keys, json!(["reader"]), Some(vec!["reader"])),
        (Keys, json!(7), None),
    ] {
        let mut claims = claims();
        claims["realm_access"]["roles"] = claim.clone();
        let mut config = config();
        config.claims.roles_format = format;
        let keys = vec![EC.jwk(json!({"kid": "ec"}))];
        let found = verify_with(config, keys, &sign(&header(), &claims), now()).await;
        match expected {
            Some(expected) => assert_eq!(found.expect("good").roles, expected, "{claim}"),
            None => assert_refused(found, "`realm_access.roles`", &claim.to_string()),
        }
    }
}

#[tokio::test]
async fn every_family_of_algorithms_verifies() {
    for (key, algorithm, name) in [
        (&*EC, Algorithm::ES256, "ES256"),
        (&*EC_384, Algorithm::ES384, "ES384"),
        (&*ED, Algorithm::EdDSA, "EdDSA"),
        (&*ED, Algorithm::EdDSA, "Ed25519"),
        (&*RSA, Algorithm::RS256, "RS256"),
        (&*RSA, Algorithm::RS384, "RS384"),
        (&*RSA, Algorithm::RS512, "RS512"),
        (&*RSA, Algorithm::PS256, "PS256"),
        (&*RSA, Algorithm::PS384, "PS384"),
        (&*RSA, Algorithm::PS512, "PS512"),
    ] {
        let header = json!({"alg": name, "kid": "k"}).to_string();
        let token = sign_texts(&header, &claims().to_string(), key, algorithm);
        let keys = vec![key.jwk(json!({"kid": "k"}))];
        verify_with(config(), keys, &token, now()).await.expect(name);
    }
}

#[tokio::test]
async fn a_key_verifies_again_and_each_algorithm_by_itself() {
    let verifier = Verifier::new(config(), key_source(vec![RSA.jwk(json!({"kid": "k"}))]));
    let token = |name: &str, algorithm| {
        let header = json!({"alg": name, "kid": "k"}).to_string();
        sign_texts(&header, &claims().to_string(), &RSA, algorithm)
    };
    for (name, algorithm, is_good) in [
        ("RS256", Algorithm::PS256, false),
        ("RS256", Algorithm::RS256, true),
        ("PS256", Algorithm::PS256, true),
        ("RS256", Algorithm::RS256, true),
        ("PS256", Algorithm::RS256, false),
        ("RS256", Algorithm::PS256, false),
    ] {
        let token = token(name, algorithm);
        let read = Unverified::read(&token, MAX_TOKEN).expect("a token");
        let verified = verifier.verify(read, now()).await;
        assert_eq!(verified.is_ok(), is_good, "{name} signed by {algorithm:?}");
    }
}

#[tokio::test]
async fn attacks_on_the_header_are_refused() {
    for name in ["crit", "zip", "enc", "b64"] {
        let mut header = header();
        header[name] = json!(["x"]);
        assert_refused(verify(&sign(&header, &claims())).await, &format!("`{name}`"), name);
    }
    for algorithm in ["none", "None", "HS256", "HS512", "ES512", "es256", "", "RS1"] {
        let mut header = header();
        header["alg"] = json!(algorithm);
        assert_refused(verify(&sign(&header, &claims())).await, "algorithm", algorithm);
    }
    for (header, expected) in [
        (r#"{"kid":"ec"}"#, "algorithm"),
        (r#"{"alg":["ES256"],"kid":"ec"}"#, "algorithm"),
        (r#"{"alg":"ES256","alg":"ES256","kid":"ec"}"#, "JSON object without duplicate keys"),
        (r#"{"alg":"ES256","kid":7}"#, "`kid`"),
        (r#"["ES256"]"#, "JSON object without duplicate keys"),
        ("nonsense", "JSON object without duplicate keys"),
    ] {
        let token = sign_texts(header, &claims().to_string(), &EC, Algorithm::ES256);
        assert_refused(verify(&token).await, expected, header);
    }
}

#[tokio::test]
async fn keys_that_a_header_names_or_holds_are_ignored() {
    let foreign = json!("https://attacker.example/keys");
    for (name, value) in [
        ("jku", foreign.clone()),
        ("x5u", foreign),
        ("jwk", OTHER.public.clone()),
        ("x5c", json!(["MIIB"])),
    ] {
        let mut header = header();
        header[name] = value;
        verify(&sign(&header, &claims())).await.expect(name);
        let forged =
            sign_texts(&header.to_string(), &claims().to_string(), &OTHER, Algorithm::ES256);
        assert_refused(verify(&forged).await, "signature", name);
    }
}

#[tokio::test]
async fn a_key_for_ed25519_verifies_by_both_names() {
    for own in ["Ed25519", "EdDSA"] {
        for name in ["Ed25519", "EdDSA"] {
            let header = json!({"alg": name, "kid": "k"}).to_string();
            let token = sign_texts(&header, &claims().to_string(), &ED, Algorithm::EdDSA);
            let keys = vec![ED.jwk(json!({"kid": "k", "alg": own}))];
            verify_with(config(), keys, &token, now()).await.expect(own);
        }
    }
}

#[tokio::test]
async fn of_keys_with_one_kid_the_one_that_fits_verifies() {
    let token =
        sign_texts(r#"{"alg":"RS256","kid":"k"}"#, &claims().to_string(), &RSA, Algorithm::RS256);
    let other_rsa = TestKey::rsa();
    let rsa = |members: Value| RSA.jwk(members);
    for (keys, is_good) in [
        (
            vec![
                rsa(json!({"kid": "k", "alg": "RS256"})),
                rsa(json!({"kid": "k", "alg": "PS256"})),
            ],
            true,
        ),
        (vec![rsa(json!({"kid": "k"})), rsa(json!({"kid": "k", "use": "sig"}))], true),
        (vec![EC.jwk(json!({"kid": "k"})), rsa(json!({"kid": "k"}))], true),
        (vec![other_rsa.jwk(json!({"kid": "k", "use": "enc"})), rsa(json!({"kid": "k"}))], true),
        (
            vec![
                other_rsa.jwk(json!({"kid": "k", "alg": "PS256"})),
                rsa(json!({"kid": "k", "alg": "RS256"})),
            ],
            true,
        ),
        (
            vec![
                rsa(json!({"kid": "k"})),
                EC.jwk(json!({"kid": "x"})),
                OTHER.jwk(json!({"kid": "x"})),
            ],
            true,
        ),
        (vec![rsa(json!({"kid": "k"})), other_rsa.jwk(json!({"kid": "k"}))], false),
        (vec![other_rsa.jwk(json!({"kid": "k"})), rsa(json!({"kid": "k", "alg": "RS256"}))], false),
    ] {
        let shown = json!(keys).to_string();
        match verify_with(config(), keys, &token, now()).await {
            Ok(_) => assert!(is_good, "{shown}"),
            Err(why) => assert!(!is_good && why.contains("exactly one key"), "{why}: {shown}"),
        }
    }
}

#[tokio::test]
async fn attacks_on_the_signature_are_refused() {
    let good = sign(&header(), &claims());
    let (message, signature) = good.rsplit_once('.').expect("three parts");
    let other_claims = sign(&header(), &json!({"sub": "eve"}));
    let other_payload = other_claims.split('.').nth(1).expect("a payload");
    let first = message.split('.').next().expect("a header");
    let hmac_key = EncodingKey::from_secret(EC.public.to_string().as_bytes());
    let hmac = jsonwebtoken::crypto::sign(message.as_bytes(), &hmac_key, Algorithm::HS256);
    for (token, attack) in [
        (format!("{message}."), "no signature"),
        (format!("{message}.{}", "A".repeat(86)), "a signature of zeros"),
        (format!("{first}.{other_payload}.{signature}"), "another payload"),
        (format!("{message}.{}", hmac.expect("a MAC")), "a MAC keyed with the public key"),
        (
            sign_texts(&header().to_string(), &claims().to_string(), &OTHER, Algorithm::ES256),
            "another key",
        ),
    ] {
        // An attack that changes the payload may fail at a claim; none may get through.
        assert!(verify(&token).await.is_err(), "{attack}");
    }
    for token in ["", ".", "..", "a.b", "a.b.c.d", &format!("{good}="), &format!("{good}.")] {
        assert!(verify(token).await.is_err(), "{token}");
    }
    let mut long = claims();
    long["x"] = json!("x".repeat(MAX_TOKEN));
    assert_refused(verify(&sign(&header(), &long)).await, "`MAX_TOKEN_BYTES`", "size");
    assert!(Unverified::read(&good, good.len()).is_ok());
    assert!(Unverified::read(&good, good.len() - 1).is_err());
}

/// Wycheproof has these faults on MACs alone, which are refused before anything of them is decoded.
#[tokio::test]
async fn base64url_that_is_not_canonical_is_refused_though_it_is_signed() {
    type Fault = fn(&str) -> String;
    let faults: [(&str, Fault); 7] = [
        ("none", str::to_owned),
        ("spaces", |text| format!("    {text}")),
        ("a line break", |text| format!("{text}\n")),
        ("foreign characters", |text| format!("{text}####")),
        ("a foreign character within", |text| format!("{}?{}", &text[..9], &text[9..])),
        ("padding", |text| format!("{text}==")),
        // 4 of the last 6 bits carry nothing: `B` stands for the same byte as `A`.
        ("unused bits", |text| {
            let (rest, last) = text.split_at(text.len() - 1);
            format!("{rest}{}", char::from(last.as_bytes()[0] + 1))
        }),
    ];
    // White space up to a length of which the last byte is alone in its group.
    let encode = |json: &Value| {
        let text = json.to_string();
        URL_SAFE_NO_PAD.encode(format!("{text:width$}", width = text.len() / 3 * 3 + 4))
    };
    for (fault, apply) in faults {
        for (part, expected) in ["header", "payload", "signature"].into_iter().enumerate() {
            let mut parts = [encode(&header()), encode(&claims())];
            parts.iter_mut().skip(part).take(1).for_each(|text| *text = apply(text));
            let message = parts.join(".");
            let signature =
                jsonwebtoken::crypto::sign(message.as_bytes(), &EC.signing, Algorithm::ES256);
            let signature = signature.expect("a signature");
            let signature = if part == 2 { apply(&signature) } else { signature };
            let result = verify(&format!("{message}.{signature}")).await;
            match fault {
                "none" => assert!(result.is_ok(), "{result:?}"),
                _ => assert_refused(result, expected, fault),
            }
        }
    }
}

#[tokio::test]
async fn a_key_serves_only_what_it_is_for() {
    let token = sign(&header(), &claims());
    for (members, accepted) in [
        (json!({"kid": "ec"}), true),
        (json!({"kid": "ec", "use": "sig", "alg": "ES256", "key_ops": ["verify"]}), true),
        (json!({}), false),
        (json!({"kid": "other"}), false),
        (json!({"kid": "ec", "use": "enc"}), false),
        (json!({"kid": "ec", "key_ops": ["sign"]}), false),
        (json!({"kid": "ec", "alg": "ES384"}), false),
    ] {
        let keys = vec![EC.jwk(members.clone()), RSA.jwk(json!({"kid": "rsa"}))];
        let result = verify_with(config(), keys, &token, now()).await;
        assert_eq!(result.is_ok(), accepted, "{members}: {result:?}");
    }
    let mut crossed = header();
    crossed["kid"] = json!("rsa");
    assert_refused(
        verify(&sign(&crossed, &claims())).await,
        "exactly one key",
        "kid of another type",
    );
}

#[tokio::test]
async fn without_kid_exactly_one_key_must_fit() {
    let token = sign(&json!({"alg": "ES256"}), &claims());
    let ec = || EC.jwk(json!({"kid": "1"}));
    let rsa = || RSA.jwk(json!({"kid": "2"}));
    let two = vec![ec(), OTHER.jwk(json!({"kid": "3"}))];
    verify_with(config(), vec![ec(), rsa()], &token, now()).await.expect("one fits");
    let result = verify_with(config(), two, &token, now()).await;
    assert_refused(result, "exactly one key", "two fit");
}

#[tokio::test]
async fn claims_that_are_missing_empty_or_mistyped_are_named() {
    for (name, faults) in [
        ("iss", vec![json!(null), json!(""), json!([ISSUER]), json!(7)]),
        ("sub", vec![json!(null), json!(""), json!(7), json!("a\nb"), json!("é".repeat(257))]),
        ("dom", vec![json!(null), json!(""), json!(["acme"]), json!("*"), json!("é".repeat(257))]),
        ("exp", vec![json!(null), json!("soon")]),
        ("nbf", vec![json!("now")]),
    ] {
        for fault in faults {
            let mut claims = claims();
            claims[name] = fault.clone();
            let result = verify(&sign(&header(), &claims)).await;
            assert_refused(result, &format!("`{name}`"), &fault.to_string());
        }
    }
    for fault in [json!(null), json!(""), json!({"a": 1}), json!(7)] {
        let mut claims = claims();
        claims["realm_access"]["roles"] = fault.clone();
        let result = verify(&sign(&header(), &claims)).await;
        assert_refused(result, "`realm_access.roles`", &fault.to_string());
    }
    let mut without = claims();
    without["realm_access"] = json!({});
    let result = verify(&sign(&header(), &without)).await;
    assert_refused(result, "`realm_access.roles`", "no roles claim");
    let mut longest = claims();
    longest["sub"] = json!("é".repeat(256));
    longest["dom"] = json!("é".repeat(256));
    verify(&sign(&header(), &longest)).await.expect("256 characters");
    let twice = claims().to_string().replacen('{', r#"{"dom":"other","#, 1);
    let token = sign_texts(&header().to_string(), &twice, &EC, Algorithm::ES256);
    assert_refused(verify(&token).await, "JSON object without duplicate keys", "dom twice");
    let mut foreign = claims();
    foreign["iss"] = json!("https://id.example/realms/acme/");
    assert_refused(verify(&sign(&header(), &foreign)).await, "`iss`", "another issuer");
}

#[tokio::test]
async fn times_are_judged_with_thirty_seconds_of_leeway() {
    let second = now().timestamp();
    for (claim, value, accepted) in [
        ("exp", json!(second - 29), true),
        ("exp", json!(second - 30), false),
        ("exp", json!((second - 30) as f64 + 0.5), true),
        ("nbf", json!(second + 30), true),
        ("nbf", json!(second + 31), false),
        ("iat", json!(second + 9_999), true),
    ] {
        let mut claims = claims();
        claims[claim] = value.clone();
        let result = verify(&sign(&header(), &claims)).await;
        assert_eq!(result.is_ok(), accepted, "{claim} {value}: {result:?}");
    }
    let token = sign(&header(), &claims());
    let keys = vec![EC.jwk(json!({"kid": "ec"}))];
    let later = verify_with(config(), keys, &token, now() + TimeDelta::hours(1)).await;
    assert_refused(later, "expired", "an hour later");
}

#[tokio::test]
async fn the_audience_is_checked_when_it_is_configured() {
    let config = || OidcConfig { audience: Some("portcullis".to_owned()), ..config() };
    for (audience, accepted) in [
        (json!("portcullis"), true),
        (json!(["other", "portcullis"]), true),
        (json!("other"), false),
        (json!(["other"]), false),
        (json!(null), false),
    ] {
        let mut claims = claims();
        claims["aud"] = audience.clone();
        let keys = vec![EC.jwk(json!({"kid": "ec"}))];
        let result = verify_with(config(), keys, &sign(&header(), &claims), now()).await;
        assert_eq!(result.is_ok(), accepted, "{audience}: {result:?}");
    }
}

#[tokio::test]
async fn admin_domains_are_a_string_or_a_list() {
    for (claim, domain, expected) in [
        (json!("acme"), "acme", true),
        (json!("acme"), "other", false),
        (json!(["a", "b"]), "b", true),
        (json!("*"), "anything", true),
        (json!({"acme": true}), "acme", false),
    ] {
        let mut claims = claims();
        claims["adm"] = claim.clone();
        let identity = verify(&sign(&header(), &claims)).await.expect("accepted");
        assert_eq!(identity.administers(domain), expected, "{claim} and {domain}");
    }
}

#[tokio::test]
async fn the_recipes_for_identity_providers_quote_the_messages() {
    let document = include_str!("../../../../docs/identity-providers.md");
    let with = |name: &str, value: Value| {
        let mut claims = claims();
        claims["aud"] = json!("portcullis");
        claims[name] = value;
        sign(&header(), &claims)
    };
    let config = OidcConfig { audience: Some("portcullis".to_owned()), ..config() };
    for (token, expected) in [
        ("opaque".to_owned(), "expected a token of three parts separated by `.`"),
        (
            with("iss", json!("https://other.example")),
            "the claim `iss` names an issuer that is not registered here",
        ),
        (with("sub", Value::Null), "the claim `sub` is missing, empty or of the wrong type"),
        (
            with("realm_access", json!({})),
            "the claim `realm_access.roles` is missing, empty or of the wrong type",
        ),
        (with("dom", json!(["a"])), "the claim `dom` is missing, empty or of the wrong type"),
        (with("dom", json!("*")), "the claim `dom` is `*`, which is not a domain"),
        (with("aud", json!("other")), "the claim `aud` does not name this service"),
        (with("aud", Value::Null), "the claim `aud` is missing, empty or of the wrong type"),
        (with("exp", json!(1)), "the token has expired"),
        (
            sign(&json!({"alg": "HS256", "kid": "ec"}), &claims()),
            "the token's algorithm is not accepted",
        ),
        (
            sign(&json!({"alg": "ES256", "kid": "other"}), &claims()),
            "the issuer's key set does not have exactly one key that matches the token",
        ),
    ] {
        let keys = vec![EC.jwk(json!({"kid": "ec"}))];
        let refused = verify_with(config.clone(), keys, &token, now()).await;
        assert_eq!(refused.expect_err("no token of these is good"), expected);
        assert!(document.contains(expected), "no recipe has `{expected}`");
    }
}
