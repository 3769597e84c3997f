//! ID tokens and logout tokens. Every attack is one change to a token that is accepted without it: what is refused is the
//! attack, not the token.

use std::sync::Arc;

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::TimeDelta;
use portcullis_model::provider::ClaimConfig;
use portcullis_model::sign_in::{DEFAULT_SCOPES, SignInIdentity};
use portcullis_storage::encryption::KeyRing;
use serde_json::{Value, json};

use super::*;
use crate::authenticator::Authenticator;
use crate::config::{MAX_TOKEN, OidcConfig, SignInClient};
use crate::error::AuthError;
use crate::issuers::Issuers;
use crate::testing::{EC, ISSUER, OTHER, claims, header, key_source, now, sign, sign_texts};
use crate::token::Verifier;

const CLIENT: &str = "console";
const NONCE: &str = "the-nonce";

fn authenticator() -> Authenticator {
    let config = OidcConfig {
        issuer: ISSUER.to_owned(),
        jwks_uri: None,
        audience: Some("portcullis".to_owned()),
        claims: ClaimConfig::default(),
    };
    let keys = key_source(vec![EC.jwk(json!({"kid": "ec"}))]);
    let verifier = Arc::new(Verifier::new(config, keys));
    Authenticator::new(Some(Issuers::One { verifier, tenant: None }), MAX_TOKEN)
}

fn provider(identity: SignInIdentity) -> SignInProvider {
    let client = SignInClient {
        id: CLIENT.to_owned(),
        secret: None,
        scopes: DEFAULT_SCOPES.to_owned(),
        audience: None,
        identity,
    };
    SignInProvider { issuer: ISSUER.to_owned(), client }
}

fn access_token() -> String {
    let mut access = claims();
    access["aud"] = json!("portcullis");
    sign(&header(), &access)
}

/// The claims of a good ID token beside `access`.
fn id_claims(access: &str) -> Value {
    let hash = digest::digest(&digest::SHA256, access.as_bytes());
    let mut id = claims();
    id["sub"] = json!("00u1");
    id["aud"] = json!([CLIENT]);
    id["nonce"] = json!(NONCE);
    id["azp"] = json!(CLIENT);
    id["sid"] = json!("s-1");
    id["at_hash"] = json!(URL_SAFE_NO_PAD.encode(&hash.as_ref()[..16]));
    id
}

async fn verify(
    identity: SignInIdentity,
    access: String,
    id: Option<String>,
    nonce: Option<&str>,
) -> Result<Login, SignInError> {
    let tokens = Tokens { access, refresh: None, id, expires_in: Some(60) };
    Login::verify(&authenticator(), &provider(identity), tokens, nonce, now()).await
}

/// Verifies an ID token whose claims `change` changed, beside a good access token.
async fn with_claims(change: impl FnOnce(&mut Value)) -> Result<Login, SignInError> {
    let access = access_token();
    let mut id = id_claims(&access);
    change(&mut id);
    let id = sign(&header(), &id);
    verify(SignInIdentity::AccessToken, access, Some(id), Some(NONCE)).await
}

#[tokio::test]
async fn a_sign_in_names_the_person_of_the_access_token() {
    let login = with_claims(|_| ()).await.expect("accepted");
    let holder = login.holder.expect("a person");
    assert_eq!((&*holder.identity.subject, holder.tenant()), ("ann", "acme"));
    // The provider may have other names for people in ID tokens.
    assert_eq!((login.subject.as_deref(), login.session.as_deref()), (Some("00u1"), Some("s-1")));
    assert_eq!(login.ends_at, Some((now().timestamp() + 60) * 1_000));
}

#[tokio::test]
async fn an_id_token_that_is_not_of_this_sign_in_is_refused() {
    for (attack, name, value) in [
        ("another nonce", "nonce", json!("another")),
        ("no nonce", "nonce", Value::Null),
        ("another client", "aud", json!("another")),
        ("no audience", "aud", Value::Null),
        ("another party", "azp", json!("another")),
        ("another access token", "at_hash", json!("AAAAAAAAAAAAAAAAAAAAAA")),
        ("another issuer", "iss", json!("https://evil.example")),
        ("an old one", "exp", json!(now().timestamp() - 60)),
        ("no person", "sub", json!("")),
    ] {
        let refused = with_claims(|id| id[name] = value).await.expect_err(attack);
        assert!(matches!(refused, SignInError::Refused(_)), "{attack}: {refused:?}");
    }
    let access = access_token();
    let (head, body) = (header().to_string(), id_claims(&access).to_string());
    let forged = sign_texts(&head, &body, &OTHER, jsonwebtoken::Algorithm::ES256);
    let refused =
        verify(SignInIdentity::AccessToken, access.clone(), Some(forged), Some(NONCE)).await;
    assert!(matches!(refused, Err(SignInError::Refused(_))), "another key");
    let without = verify(SignInIdentity::AccessToken, access, None, Some(NONCE)).await;
    assert!(matches!(without, Err(SignInError::Refused(_))), "no ID token");
    // Only what is there is compared.
    for name in ["azp", "at_hash", "sid"] {
        let sound =
            with_claims(|id| drop(id.as_object_mut().expect("an object").remove(name))).await;
        assert!(sound.is_ok(), "{name}");
    }
}

#[tokio::test]
async fn an_access_token_that_the_api_refuses_signs_nobody_in() {
    let access = sign(&header(), &claims());
    let id = sign(&header(), &id_claims(&access));
    let refused = verify(SignInIdentity::AccessToken, access, Some(id), Some(NONCE)).await;
    let Err(SignInError::Token(AuthError::TokenRefused(why))) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.contains("`aud`"), "{why}");
}

#[tokio::test]
async fn an_id_token_names_the_person_where_the_settings_say_so() {
    let identity = SignInIdentity::IdToken;
    let opaque = "opaque".to_owned();
    let id = sign(&header(), &id_claims(&opaque));
    let login = verify(identity, opaque.clone(), Some(id), Some(NONCE)).await.expect("accepted");
    assert_eq!(login.holder.expect("a person").identity.subject, "00u1");
    assert_eq!(login.ends_at, Some((now().timestamp() + 60) * 1_000));
    // A refresh without an ID token keeps the person.
    let refreshed = verify(identity, opaque.clone(), None, None).await.expect("accepted");
    assert!(refreshed.holder.is_none() && refreshed.is_by_id_token);
    let mut bare = id_claims(&opaque);
    bare.as_object_mut().expect("an object").remove("realm_access");
    let refused = verify(identity, opaque, Some(sign(&header(), &bare)), Some(NONCE)).await;
    let Err(SignInError::Token(AuthError::TokenRefused(why))) = refused else {
        panic!("{refused:?}");
    };
    assert!(why.contains("realm_access.roles"), "{why}");
}

#[tokio::test]
async fn only_a_logout_token_logs_out() {
    let good = json!({
        "iss": ISSUER, "aud": CLIENT, "exp": now().timestamp() + 60, "sub": "00u1", "sid": "s-1",
        "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
    });
    let read = async |claims: &Value| {
        logout_claims(&authenticator(), &sign(&header(), claims), CLIENT, now()).await
    };
    let ended = read(&good).await.expect("accepted");
    assert_eq!((ended.subject.as_deref(), ended.session.as_deref()), (Some("00u1"), Some("s-1")));
    for (attack, name, value) in [
        ("an ID token", "nonce", json!(NONCE)),
        ("another client", "aud", json!("another")),
        ("another issuer", "iss", json!("https://evil.example")),
        ("an old one", "exp", json!(now().timestamp() - 60)),
        ("no event", "events", json!({})),
        ("another event", "events", json!({"http://example.com/event": {}})),
    ] {
        let mut claims = good.clone();
        claims[name] = value;
        assert!(read(&claims).await.is_err(), "{attack}");
    }
    let mut nobody = good.clone();
    nobody["sub"] = Value::Null;
    assert!(read(&nobody).await.is_ok(), "a session is enough");
    nobody["sid"] = Value::Null;
    assert!(read(&nobody).await.is_err(), "nobody is named");
}

#[test]
fn an_attempt_is_opened_with_its_state_in_time() {
    let keys = KeyRing::parse(&KeyRing::generate_key().expect("a key")).expect("a ring");
    let attempt = Attempt::begin(Some("acme".to_owned()), None, None, now());
    let sealed = attempt.seal(&keys).expect("sealed");
    assert!(!sealed.contains("acme") && !sealed.contains(&attempt.nonce));
    let open = |state: &str, sealed: Option<&str>, seconds: i64| {
        let callback = Callback { state: Some(state.to_owned()), ..Callback::default() };
        attempt_of(&keys, &callback, sealed, now() + TimeDelta::seconds(seconds))
    };
    assert_eq!(open(&attempt.state, Some(&sealed), 599).expect("in time").nonce, attempt.nonce);
    assert!(open(&attempt.state, Some(&sealed), 600).is_err(), "too late");
    assert!(open("another", Some(&sealed), 0).is_err(), "another state");
    assert!(open(&attempt.state, None, 0).is_err(), "another browser");
    assert!(open(&attempt.state, Some("AAAA"), 0).is_err(), "an invented attempt");
    let other = KeyRing::parse(&KeyRing::generate_key().expect("a key")).expect("a ring");
    let foreign = attempt.seal(&other).expect("sealed");
    assert!(open(&attempt.state, Some(&foreign), 0).is_err(), "another key");
}
