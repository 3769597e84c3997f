//! The identity provider of `portcullis dev`: a real key, a real key set, and a token endpoint without passwords. It has
//! the paths of a Keycloak realm, so that a client with the configuration of Keycloak works.

use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use axum::extract::rejection::FormRejection;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use chrono::{DateTime, TimeDelta, Utc};
use http::StatusCode;
use jsonwebtoken::jwk::{Jwk, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use portcullis_bundle::{Bundle, SampleUser};
use portcullis_model::clock::Clock;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::files;

/// Lifetime of a token: a day of experiments.
const LIFETIME: TimeDelta = TimeDelta::hours(24);

/// The issuer of tokens for sample users.
#[derive(Clone)]
pub(super) struct Issuer {
    url: String,
    key: EncodingKey,
    jwk: Jwk,
    /// The claims of each sample user, by `sub`.
    users: Arc<Map<String, Value>>,
}

impl Issuer {
    /// Opens the issuer whose key is in the file `path`. The first start makes the file.
    pub(super) fn open(path: &Path, base_url: &str, bundles: &[Bundle]) -> anyhow::Result<Self> {
        let key = files::read_or_make(path, make_key)?;
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &key).map_err(|_| {
            anyhow::anyhow!(
                "`{}` is not a P-256 key in PKCS #8; remove the file, and a new key is made",
                path.display()
            )
        })?;
        let key = EncodingKey::from_ec_der(&key);
        let mut jwk = Jwk::from_encoding_key(&key, Algorithm::ES256)?;
        jwk.common.public_key_use = Some(PublicKeyUse::Signature);
        jwk.common.key_id = Some(jwk.thumbprint(ThumbprintHash::SHA256)?);
        let users = bundles.iter().flat_map(|bundle| &bundle.users);
        let users = users.map(|user| Ok((user.sub.clone(), claims(user)?)));
        let users: anyhow::Result<Map<String, Value>> = users.collect();
        Ok(Self { url: format!("{base_url}/dev"), key, jwk, users: Arc::new(users?) })
    }

    /// Returns the `iss` of its tokens.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn jwks_uri(&self) -> String {
        format!("{}/protocol/openid-connect/certs", self.url)
    }

    pub(super) fn token_url(&self) -> String {
        format!("{}/protocol/openid-connect/token", self.url)
    }

    /// Returns a token for a sample user, signed at `now`.
    pub(super) fn token(&self, user: &SampleUser, now: DateTime<Utc>) -> anyhow::Result<String> {
        self.sign(claims(user)?, now)
    }

    fn sign(&self, mut claims: Value, now: DateTime<Utc>) -> anyhow::Result<String> {
        claims["iss"] = json!(self.url);
        claims["iat"] = json!(now.timestamp());
        claims["exp"] = json!((now + LIFETIME).timestamp());
        let mut header = Header::new(Algorithm::ES256);
        header.kid.clone_from(&self.jwk.common.key_id);
        Ok(jsonwebtoken::encode(&header, &claims, &self.key)?)
    }

    /// Returns the routes of discovery, key set and token endpoint.
    pub(super) fn routes(self, clock: Clock) -> Router {
        let discovery = json!({
            "issuer": self.url,
            "jwks_uri": self.jwks_uri(),
            "token_endpoint": self.token_url(),
            "grant_types_supported": ["client_credentials", "password"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "response_types_supported": [],
            "subject_types_supported": ["public"],
        });
        let certs = json!({"keys": [self.jwk]});
        let serve = |document: Value| move || async move { Json(document) };
        Router::new()
            .route("/dev/.well-known/openid-configuration", get(serve(discovery)))
            .route("/dev/protocol/openid-connect/certs", get(serve(certs)))
            .route(
                "/dev/protocol/openid-connect/token",
                post(move |form| async move { self.answer(form, &clock) }),
            )
    }

    /// Answers at the token endpoint (RFC 6749, section 4). Every sample user gets a token, as user or client, without a
    /// secret.
    fn answer(&self, form: Result<Form<TokenRequest>, FormRejection>, clock: &Clock) -> Response {
        let Ok(Form(request)) = form else {
            return refuse(
                "invalid_request",
                "send a form with `grant_type` and who the token is for",
            );
        };
        let subject = match &*request.grant_type {
            "password" => request.username,
            "client_credentials" => request.client_id,
            _ => {
                return refuse("unsupported_grant_type", "use `password` or `client_credentials`");
            }
        };
        let Some(claims) = subject.and_then(|subject| self.users.get(&subject)) else {
            let known: Vec<&str> = self.users.keys().map(String::as_str).collect();
            return refuse("invalid_grant", &format!("the sample users are {}", known.join(", ")));
        };
        match self.sign(claims.clone(), clock.now()) {
            Ok(token) => Json(json!({
                "access_token": token,
                "token_type": "Bearer",
                "expires_in": LIFETIME.num_seconds(),
            }))
            .into_response(),
            Err(error) => {
                tracing::error!(%error, "cannot sign a token");
                refuse("server_error", "the token could not be signed")
            }
        }
    }
}

/// A token request. Other parameters, such as `client_secret`, are ignored.
#[derive(Deserialize)]
struct TokenRequest {
    grant_type: String,
    username: Option<String>,
    client_id: Option<String>,
}

fn refuse(error: &str, description: &str) -> Response {
    let body = json!({"error": error, "error_description": description});
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

fn claims(user: &SampleUser) -> anyhow::Result<Value> {
    Ok(serde_json::to_value(&user.claims)?)
}

/// Makes a key, in PKCS #8.
fn make_key() -> anyhow::Result<Vec<u8>> {
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
    let key =
        key.map_err(|_| anyhow::anyhow!("the operating system does not supply random numbers"))?;
    Ok(key.as_ref().to_vec())
}
