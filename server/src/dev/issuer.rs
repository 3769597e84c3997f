//! The identity provider of `portcullis dev`. It has a real key and a real key set, and its token endpoint needs no
//! password. It has the paths of a Keycloak realm, so a client for Keycloak works without changes.

use std::path::Path;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use axum::extract::rejection::FormRejection;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Form, Json, Router};
use chrono::{DateTime, TimeDelta, Utc};
use http::header::CACHE_CONTROL;
use http::{StatusCode, Uri};
use jsonwebtoken::jwk::{Jwk, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use portcullis_auth::SignInClient;
use portcullis_bundle::SampleUser;
use portcullis_model::clock::Clock;
use portcullis_model::sign_in::{DEFAULT_SCOPES, SignInIdentity};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::files;
use super::sign_in::{CLIENT, Code, SignInRequest};
use super::tenants::ServedTenants;

/// The lifetime of a token.
const LIFETIME: TimeDelta = TimeDelta::hours(24);
/// The lifetime of a code.
const CODE_LIFETIME: TimeDelta = TimeDelta::minutes(1);

/// The issuer of tokens for the users of the served tenants.
#[derive(Clone)]
pub(super) struct Issuer {
    url: String,
    key: EncodingKey,
    jwk: Jwk,
    tenants: ServedTenants,
}

impl Issuer {
    /// Opens the issuer with the key in the file `path`. The first start creates the key.
    pub(super) fn open(
        path: &Path,
        base_url: &str,
        tenants: ServedTenants,
    ) -> anyhow::Result<Self> {
        let key = files::read_or_make(path, make_key)?;
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &key).map_err(|_| {
            anyhow::anyhow!(
                "`{}` is not a P-256 key in PKCS #8; remove the file, and a new key is made",
                path.display()
            )
        })?;
        // It accepts any bytes, so that the key is checked above.
        let key = EncodingKey::from_ec_der(&key);
        let mut jwk = Jwk::from_encoding_key(&key, Algorithm::ES256)?;
        jwk.common.public_key_use = Some(PublicKeyUse::Signature);
        // The id follows from the key: a new key never has the id of an old one.
        jwk.common.key_id = Some(jwk.thumbprint(ThumbprintHash::SHA256)?);
        Ok(Self { url: format!("{base_url}/dev"), key, jwk, tenants })
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

    /// Returns the URL of the page that asks who somebody is.
    fn authorization_url(&self) -> String {
        format!("{}/protocol/openid-connect/auth", self.url)
    }

    /// Signs a token for the user of this name at `now`. The text of the error is for the user.
    fn token(&self, name: &str, now: DateTime<Utc>) -> Result<String, TokenRefusal> {
        let claims = self.tenants.with_user(name, claims);
        let claims = claims.map_err(|refused| TokenRefusal::NoUser(refused.to_string()))?;
        claims.and_then(|claims| self.sign(claims, now)).map_err(TokenRefusal::Fault)
    }

    fn sign(&self, mut claims: Value, now: DateTime<Utc>) -> anyhow::Result<String> {
        claims["iss"] = json!(self.url);
        claims["iat"] = json!(now.timestamp());
        claims["exp"] = json!((now + LIFETIME).timestamp());
        self.signed(&claims)
    }

    fn signed(&self, claims: &impl Serialize) -> anyhow::Result<String> {
        let mut header = Header::new(Algorithm::ES256);
        header.kid.clone_from(&self.jwk.common.key_id);
        Ok(jsonwebtoken::encode(&header, claims, &self.key)?)
    }

    /// Asks who somebody is.
    fn ask(&self, form: Result<Form<SignInRequest>, FormRejection>) -> Response {
        let Ok(Form(request)) = form else {
            return (StatusCode::BAD_REQUEST, "the request to sign in cannot be read\n")
                .into_response();
        };
        match request.check(self.base_url()) {
            Ok(()) => request.page(&self.tenants),
            Err(why) => (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response(),
        }
    }

    /// Sends somebody who said who it is back with a code.
    fn sign_in(&self, form: Result<Form<SignInRequest>, FormRejection>, clock: &Clock) -> Response {
        let Ok(Form(request)) = form else {
            return (StatusCode::BAD_REQUEST, "the form cannot be read\n").into_response();
        };
        let user = request.user.clone().unwrap_or_default();
        let known = self.tenants.with_user(&user, |_| ()).map_err(|none| none.to_string());
        let checked = request.check(self.base_url()).map_err(str::to_owned).and(known);
        if let Err(why) = checked {
            return (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response();
        }
        let code = request.code(&user, (clock.now() + CODE_LIFETIME).timestamp());
        match self.signed(&code) {
            Ok(code) => request.back(&code, &self.url),
            Err(error) => {
                tracing::error!(%error, "cannot sign a code");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }

    fn base_url(&self) -> &str {
        self.url.strip_suffix("/dev").unwrap_or(&self.url)
    }

    /// Returns what a code stands for; `None` if it is not one, or is not redeemed by the client that began the sign-in.
    fn redeemed(&self, request: &TokenRequest, now: DateTime<Utc>) -> Option<Code> {
        let key = DecodingKey::from_jwk(&self.jwk).ok()?;
        let mut validation = Validation::new(Algorithm::ES256);
        // The clock is a parameter.
        validation.validate_exp = false;
        let code =
            jsonwebtoken::decode::<Code>(request.code.as_deref()?, &key, &validation).ok()?;
        let (verifier, redirect_uri) =
            (request.code_verifier.as_deref()?, request.redirect_uri.as_deref()?);
        let is_good =
            now.timestamp() < code.claims.exp && code.claims.is_redeemed_by(verifier, redirect_uri);
        is_good.then_some(code.claims)
    }

    /// Answers a code with tokens: the access token of the user, and an ID token for the client.
    fn tokens(&self, request: &TokenRequest, now: DateTime<Utc>) -> Response {
        let Some(code) = self.redeemed(request, now) else {
            return refuse("invalid_grant", "the code is not good, or too old");
        };
        let id = json!({"aud": CLIENT, "nonce": code.nonce});
        let signed = self.tenants.with_user(&code.user, |user| {
            let mut id = id;
            id["sub"] = json!(user.sub);
            Ok::<_, anyhow::Error>((self.sign(claims(user)?, now)?, self.sign(id, now)?))
        });
        match signed {
            Ok(Ok((access, id))) => Json(json!({
                "access_token": access,
                "id_token": id,
                "token_type": "Bearer",
                "expires_in": LIFETIME.num_seconds(),
            }))
            .into_response(),
            Ok(Err(error)) => {
                tracing::error!(%error, "cannot sign a token");
                refuse("server_error", "the token could not be signed")
            }
            Err(none) => refuse("invalid_grant", &none.to_string()),
        }
    }

    /// Returns the routes of the discovery document, the key set and the token endpoint.
    pub(super) fn routes(self, clock: Clock) -> Router {
        let discovery = json!({
            "issuer": self.url,
            "jwks_uri": self.jwks_uri(),
            "authorization_endpoint": self.authorization_url(),
            "authorization_response_iss_parameter_supported": true,
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint": self.token_url(),
            "grant_types_supported": ["authorization_code", "client_credentials", "password"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
        });
        let certs = json!({"keys": [self.jwk]});
        let (plain, plain_clock) = (self.clone(), clock.clone());
        let (asking, asked, asked_clock) = (self.clone(), self.clone(), clock.clone());
        Router::new()
            .route("/dev/.well-known/openid-configuration", document(discovery))
            .route("/dev/protocol/openid-connect/certs", document(certs))
            .route(
                "/dev/protocol/openid-connect/token",
                post(move |form| async move { self.answer(form, &clock) }),
            )
            .route(
                "/dev/protocol/openid-connect/auth",
                get(move |form| async move { asking.ask(form) })
                    .post(move |form| async move { asked.sign_in(form, &asked_clock) }),
            )
            .route("/dev/token", get(move |uri| async move { plain.text(&uri, &plain_clock) }))
    }

    /// Answers `GET /dev/token?user=…` with a token as plain text, for a shell.
    ///
    /// A page on the internet cannot read the answer: another origin gets none from a browser without CORS headers, and
    /// other hosts than loopback are refused.
    fn text(&self, uri: &Uri, clock: &Clock) -> Response {
        let query = uri.query().unwrap_or_default();
        let user = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "user");
        let user = user.map(|(_, user)| user).unwrap_or_default();
        match self.token(&user, clock.now()) {
            Ok(token) => ([(CACHE_CONTROL, "no-store")], format!("{token}\n")).into_response(),
            Err(TokenRefusal::NoUser(known)) => {
                let text = match &*user {
                    "" => format!("`user` is missing, as in `/dev/token?user=NAME`: {known}\n"),
                    user => format!("there is no token for the user `{user}`: {known}\n"),
                };
                (StatusCode::BAD_REQUEST, text).into_response()
            }
            Err(TokenRefusal::Fault(error)) => {
                tracing::error!(%error, "cannot sign a token");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }

    /// Answers a request to the token endpoint (RFC 6749 section 4). Every user gets a token, as user or as
    /// client, without a secret.
    fn answer(&self, form: Result<Form<TokenRequest>, FormRejection>, clock: &Clock) -> Response {
        let Ok(Form(request)) = form else {
            return refuse(
                "invalid_request",
                "send a form with `grant_type`, and `username` or `client_id`",
            );
        };
        if request.grant_type == "authorization_code" {
            return self.tokens(&request, clock.now());
        }
        let name = match &*request.grant_type {
            "password" => request.username,
            "client_credentials" => request.client_id,
            _ => {
                return refuse(
                    "unsupported_grant_type",
                    "use `authorization_code`, `password` or `client_credentials`",
                );
            }
        };
        match self.token(&name.unwrap_or_default(), clock.now()) {
            Ok(token) => Json(json!({
                "access_token": token,
                "token_type": "Bearer",
                "expires_in": LIFETIME.num_seconds(),
            }))
            .into_response(),
            Err(TokenRefusal::NoUser(known)) => refuse("invalid_grant", &known),
            Err(TokenRefusal::Fault(error)) => {
                tracing::error!(%error, "cannot sign a token");
                refuse("server_error", "the token could not be signed")
            }
        }
    }
}

/// The reason why there is no token.
enum TokenRefusal {
    /// No user has the name; the text says which names there are.
    NoUser(String),
    /// The token cannot be signed.
    Fault(anyhow::Error),
}

/// A token request. Other parameters, such as `client_secret`, are ignored.
#[derive(Deserialize)]
struct TokenRequest {
    grant_type: String,
    username: Option<String>,
    client_id: Option<String>,
    code: Option<String>,
    code_verifier: Option<String>,
    redirect_uri: Option<String>,
}

/// Returns the client by which people sign in to the console.
pub(super) fn console_client() -> SignInClient {
    SignInClient {
        id: CLIENT.to_owned(),
        secret: None,
        scopes: DEFAULT_SCOPES.to_owned(),
        audience: None,
        identity: SignInIdentity::AccessToken,
    }
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
