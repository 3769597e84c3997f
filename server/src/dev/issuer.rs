//! The identity provider of `portcullis dev`. It has a real key and a real key set, and its token endpoint needs no
//! password. Its paths are those of a Keycloak realm, so a client for Keycloak works without changes.

use std::path::Path;
use std::sync::Arc;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use axum::extract::rejection::FormRejection;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
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

/// The lifetime of a token.
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
    /// Opens the issuer with the key in the file `path`. The first start creates the key.
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

    /// Returns the URL of the key set.
    pub(super) fn jwks_uri(&self) -> String {
        format!("{}/protocol/openid-connect/certs", self.url)
    }

    /// Returns the URL of the token endpoint.
    pub(super) fn token_url(&self) -> String {
        format!("{}/protocol/openid-connect/token", self.url)
    }

    /// Signs a token for a sample user at `now`.
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

    /// Returns the routes of the discovery document, the key set and the token endpoint.
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
        Router::new()
            .route("/dev/.well-known/openid-configuration", document(discovery))
            .route("/dev/protocol/openid-connect/certs", document(certs))
            .route(
                "/dev/protocol/openid-connect/token",
                post(move |form| async move { self.answer(form, &clock) }),
            )
    }

    /// Answers a request to the token endpoint (RFC 6749 section 4). Every sample user gets a token, as user or as
    /// client, without a secret.
    fn answer(&self, form: Result<Form<TokenRequest>, FormRejection>, clock: &Clock) -> Response {
        let Ok(Form(request)) = form else {
            return refuse(
                "invalid_request",
                "send a form with `grant_type`, and `username` or `client_id`",
            );
        };
        let name = match &*request.grant_type {
            "password" => request.username,
            "client_credentials" => request.client_id,
            _ => {
                return refuse("unsupported_grant_type", "use `password` or `client_credentials`");
            }
        };
        let Some(claims) = name.and_then(|name| self.users.get(&name)) else {
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

/// Returns the route of a fixed JSON document.
fn document(document: Value) -> MethodRouter {
    get(move || async move { Json(document) })
}

fn refuse(error: &str, description: &str) -> Response {
    let body = json!({"error": error, "error_description": description});
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}

fn claims(user: &SampleUser) -> anyhow::Result<Value> {
    Ok(serde_json::to_value(&user.claims)?)
}

/// Makes a new key in PKCS #8.
fn make_key() -> anyhow::Result<Vec<u8>> {
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
    let key =
        key.map_err(|_| anyhow::anyhow!("the operating system does not supply random numbers"))?;
    Ok(key.as_ref().to_vec())
}
