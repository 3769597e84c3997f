//! Verifies a JWT (RFC 7519) against the key set of its issuer.
//!
//! `jsonwebtoken` checks only the signature. This module checks the size, the header and the one key that may verify the
//! token before the signature, and every claim after it, at a given instant.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use jsonwebtoken::Algorithm;
use portcullis_engine::json::{self, Json};
use portcullis_engine::rbac::WILDCARD;
use portcullis_engine::request::claimed_roles;

use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::identity::Identity;
use crate::keysets::{KeySource, NoKeys};

/// Longest token, in bytes: a token with a hundred roles stays below half of it.
const MAX_TOKEN: usize = 8 * 1024;
/// Longest subject and domain, in characters, as in checks and rules (`docs/semantics.md`, sections 2.1 and 6.5).
const MAX_NAME: usize = 256;
/// Largest difference between the clocks of issuer and service, in seconds.
const LEEWAY: f64 = 30.0;
/// Header members that would change the verified text or the key. An attacker writes the header.
const REFUSED_HEADERS: [&str; 8] = ["crit", "jku", "jwk", "x5u", "x5c", "zip", "enc", "b64"];

/// The reason why a token proves no identity.
#[derive(Debug)]
pub enum TokenError {
    /// The token is bad. The text is for the client.
    Refused(String),
    /// The issuer's keys could not be fetched. The text is for the log.
    NoKeys(String),
}

impl From<NoKeys> for TokenError {
    fn from(error: NoKeys) -> Self {
        Self::NoKeys(error.to_string())
    }
}

impl From<TokenError> for AuthError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Refused(why) => Self::TokenRefused(why),
            TokenError::NoKeys(why) => Self::NoKeys(why),
        }
    }
}

impl TokenError {
    /// The error of a token whose issuer is not registered.
    pub(crate) fn unknown_issuer() -> Self {
        Self::Refused("the claim `iss` names an issuer that is not registered here".to_owned())
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, TokenError> {
    Err(TokenError::Refused(why.into()))
}

/// The verifier of the tokens of one provider.
#[derive(Debug)]
pub struct Verifier {
    config: OidcConfig,
    keys: KeySource,
}

/// A token whose parts are decoded but not verified.
struct Decoded<'t> {
    algorithm: Algorithm,
    kid: Option<String>,
    payload: Vec<u8>,
    message: &'t str,
    signature: &'t str,
}

impl Decoded<'_> {
    fn claims(&self) -> Result<Json<'static>, TokenError> {
        strict_object(&self.payload, "payload")
    }
}

impl Verifier {
    pub fn new(config: OidcConfig, keys: KeySource) -> Self {
        Self { config, keys }
    }

    /// Returns the identity that `token` proves at `now`.
    pub async fn verify(&self, token: &str, now: DateTime<Utc>) -> Result<Identity, TokenError> {
        self.verify_read(Unverified::read(token)?, now).await
    }

    /// Returns the identity that `token` proves at `now`. The token is read already if its issuer chose this verifier.
    pub(crate) async fn verify_read(
        &self,
        token: Unverified<'_>,
        now: DateTime<Utc>,
    ) -> Result<Identity, TokenError> {
        if token.issuer()? != self.config.issuer {
            return Err(TokenError::unknown_issuer());
        }
        self.verify_signature(&token.decoded).await?;
        self.identity(token.claims, now)
    }

    /// Verifies that the one matching key has signed the token. It does not check the payload.
    async fn verify_signature(&self, decoded: &Decoded<'_>) -> Result<(), TokenError> {
        let key = self.keys.find(decoded.algorithm, decoded.kid.as_deref()).await?;
        let Some(key) = key else {
            return refused(
                "the issuer's key set does not have exactly one key that matches the token",
            );
        };
        let message = decoded.message.as_bytes();
        let verified =
            jsonwebtoken::crypto::verify(decoded.signature, message, &key, decoded.algorithm);
        if !matches!(verified, Ok(true)) {
            return refused("the signature does not match");
        }
        Ok(())
    }

    /// Checks the claims of a token whose signature is valid, and returns its identity.
    fn identity(&self, claims: Json<'static>, now: DateTime<Utc>) -> Result<Identity, TokenError> {
        check_times(&claims, now)?;
        if let Some(audience) = &self.config.audience {
            check_audience(&claims, audience)?;
        }
        let config = &self.config.claims;
        let roles = claims.claim(&config.roles_claim).and_then(claimed_roles);
        let Some(roles) = roles else {
            return refused(missing(&config.roles_claim));
        };
        let administers =
            claims.claim(&config.admin_domain_claim).and_then(claimed_roles).unwrap_or_default();
        Ok(Identity {
            subject: short_claim(&claims, "sub")?.to_owned(),
            domain: one_domain(&claims, &config.domain_claim)?.to_owned(),
            roles,
            administers,
            claims,
        })
    }
}

/// A token that is read but not verified.
pub(crate) struct Unverified<'t> {
    decoded: Decoded<'t>,
    claims: Json<'static>,
}

impl<'t> Unverified<'t> {
    /// Reads a token and its claims.
    pub(crate) fn read(token: &'t str) -> Result<Self, TokenError> {
        let decoded = decode(token)?;
        let claims = decoded.claims()?;
        Ok(Self { decoded, claims })
    }

    /// Returns the `iss`. It may only be used to choose the verifier.
    pub(crate) fn issuer(&self) -> Result<&str, TokenError> {
        text_claim(&self.claims, "iss")
    }
}

fn missing(claim: &str) -> String {
    format!("the claim `{claim}` is missing, empty or of the wrong type")
}

/// Returns a claim, which must be a non-empty string without control characters.
fn text_claim<'c>(claims: &'c Json<'_>, name: &str) -> Result<&'c str, TokenError> {
    let text = claims.claim(name).and_then(Json::as_str);
    match text {
        Some(text) if !text.is_empty() && !text.contains(char::is_control) => Ok(text),
        _ => refused(missing(name)),
    }
}

/// Returns a text claim that is used in checks and rules, and therefore has their greatest length.
fn short_claim<'c>(claims: &'c Json<'_>, name: &str) -> Result<&'c str, TokenError> {
    let text = text_claim(claims, name)?;
    if text.chars().count() > MAX_NAME {
        return refused(missing(name));
    }
    Ok(text)
}

/// Returns the domain claim. `*` is refused: in rules and in the admin-domain claim it stands for every domain, and no
/// caller belongs to every domain.
fn one_domain<'c>(claims: &'c Json<'_>, name: &str) -> Result<&'c str, TokenError> {
    match short_claim(claims, name)? {
        WILDCARD => refused(format!("the claim `{name}` is `*`, which is not a domain")),
        domain => Ok(domain),
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of this millennium fit a double")]
fn check_times(claims: &Json<'_>, now: DateTime<Utc>) -> Result<(), TokenError> {
    let now = now.timestamp_millis() as f64 / 1_000.0;
    let Some(expires) = numeric_date(claims, "exp")? else {
        return refused(missing("exp"));
    };
    if now >= expires + LEEWAY {
        return refused("the token has expired");
    }
    if numeric_date(claims, "nbf")?.is_some_and(|from| now < from - LEEWAY) {
        return refused("the token is not valid yet");
    }
    Ok(())
}

/// Returns a NumericDate (RFC 7519, section 2): seconds since the epoch, fractions allowed.
fn numeric_date(claims: &Json<'_>, name: &str) -> Result<Option<f64>, TokenError> {
    match claims.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::Number(number)) => Ok(Some(number.as_f64())),
        Some(_) => refused(missing(name)),
    }
}

fn check_audience(claims: &Json<'_>, expected: &str) -> Result<(), TokenError> {
    let audiences = match claims.get("aud") {
        Some(text @ Json::String(_)) => std::slice::from_ref(text),
        Some(Json::Array(items)) => items,
        _ => return refused(missing("aud")),
    };
    if audiences.iter().any(|audience| audience.as_str() == Some(expected)) {
        return Ok(());
    }
    refused("the claim `aud` does not name this service")
}

/// Splits a token into its parts, decodes them, and checks the header.
fn decode(token: &str) -> Result<Decoded<'_>, TokenError> {
    if token.len() > MAX_TOKEN {
        return refused(format!("the token is larger than {MAX_TOKEN} bytes"));
    }
    let split = token.rsplit_once('.').and_then(|(message, signature)| {
        let (header, payload) = message.split_once('.')?;
        (!payload.contains('.')).then_some((message, header, payload, signature))
    });
    let Some((message, header, payload, signature)) = split else {
        return refused("expected a token of three parts separated by `.`");
    };
    let header = strict_object(&decode_part(header, "header")?, "header")?;
    if let Some(name) = REFUSED_HEADERS.into_iter().find(|name| header.get(name).is_some()) {
        return refused(format!("the token's header has `{name}`, which is not accepted"));
    }
    let Some(algorithm) = header.get("alg").and_then(Json::as_str).and_then(allowed_algorithm)
    else {
        return refused("the token's algorithm is not accepted");
    };
    let kid = match header.get("kid") {
        None => None,
        Some(Json::String(kid)) => Some(kid.clone().into_owned()),
        Some(_) => return refused("the token's `kid` is not a string"),
    };
    let payload = decode_part(payload, "payload")?;
    Ok(Decoded { algorithm, kid, payload, message, signature })
}

fn decode_part(part: &str, what: &str) -> Result<Vec<u8>, TokenError> {
    URL_SAFE_NO_PAD.decode(part).or_else(|_| refused(no_object(what)))
}

fn strict_object(text: &[u8], what: &str) -> Result<Json<'static>, TokenError> {
    match json::parse(text) {
        Ok(object @ Json::Object(_)) => Ok(object.into_owned()),
        _ => refused(no_object(what)),
    }
}

fn no_object(what: &str) -> String {
    format!("the {what} of the token is not a JSON object without duplicate keys, in base64url")
}

/// Returns the algorithm of this name, if it is asymmetric. `none` proves nothing, and the key of a MAC would be public.
fn allowed_algorithm(name: &str) -> Option<Algorithm> {
    Some(match name {
        "RS256" => Algorithm::RS256,
        "RS384" => Algorithm::RS384,
        "RS512" => Algorithm::RS512,
        "PS256" => Algorithm::PS256,
        "PS384" => Algorithm::PS384,
        "PS512" => Algorithm::PS512,
        "ES256" => Algorithm::ES256,
        "ES384" => Algorithm::ES384,
        "EdDSA" => Algorithm::EdDSA,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wycheproof;
