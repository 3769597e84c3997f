//! The verification of what a provider says about a person: ID tokens (OpenID Connect Core 1.0, section 3.1.3.7) and logout
//! tokens (OpenID Connect Back-Channel Logout 1.0, section 2.6).

use std::sync::Arc;

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use jsonwebtoken::Algorithm;
use portcullis_engine::json::Json;
use portcullis_model::sign_in::SignInIdentity;

use super::outcome::{SignInError, SignInProvider};
use super::token_endpoint::Tokens;
use crate::authenticator::{Authenticator, ClientToken};
use crate::callers::TokenHolder;
use crate::error::{AuthError, refused};

/// The event of a logout token.
const LOGOUT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// A person whom a provider signed in.
#[derive(Debug)]
pub struct Login {
    /// `None` after a refresh that names the person by no ID token, as the sign-in did.
    pub holder: Option<Arc<TokenHolder>>,
    /// The identity is in the ID token, so that no access token proves it again.
    pub is_by_id_token: bool,
    pub tokens: Tokens,
    /// The end of the access token, in milliseconds since the epoch.
    pub ends_at: Option<i64>,
    /// The claims `sub` and `sid` of the ID token.
    pub subject: Option<String>,
    pub session: Option<String>,
}

impl Login {
    /// Returns the milliseconds from `now` to the end of the access token; 0 if that has no end.
    pub fn life_from(&self, now: i64) -> i64 {
        self.ends_at.map_or(0, |end| end.saturating_sub(now).max(0))
    }

    /// Verifies tokens. Those of a sign-in have an ID token with `nonce`; a refresh has no nonce, and may have no ID token.
    pub(super) async fn verify(
        authenticator: &Authenticator,
        provider: &SignInProvider,
        tokens: Tokens,
        nonce: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<Self, SignInError> {
        let is_by_id_token = provider.client.identity == SignInIdentity::IdToken;
        let id = match (&tokens.id, nonce) {
            (Some(id), _) => {
                Some(id_token(authenticator, provider, (id, &tokens.access), nonce, now).await?)
            }
            (None, Some(_)) => {
                let why =
                    "the identity provider sends no ID token: its client needs the scope `openid`";
                return Err(SignInError::Refused(why.to_owned()));
            }
            (None, None) => None,
        };
        let [subject, session] =
            ["sub", "sid"].map(|name| id.as_ref().and_then(|id| text_of(id.claims.tree(), name)));
        // The seconds fit 32 bits, so that nothing overflows here.
        let told = tokens.expires_in.map(|seconds| now.timestamp_millis() + seconds * 1_000);
        let (holder, ends_at) = if is_by_id_token {
            (id.and_then(|id| id.holder), told)
        } else {
            let holder =
                authenticator.verify(&tokens.access, now).await.map_err(SignInError::Token)?;
            let end = authenticator.end_of(&tokens.access).map_err(SignInError::Token)?;
            (Some(holder), Some(millis(end)))
        };
        Ok(Self { holder, is_by_id_token, tokens, ends_at, subject, session })
    }
}

/// Returns milliseconds of seconds.
#[expect(clippy::cast_possible_truncation, reason = "a cast saturates, and the end of time is one")]
fn millis(seconds: f64) -> i64 {
    (seconds * 1_000.0) as i64
}

/// Verifies an ID token that came beside the access token `access`.
async fn id_token(
    authenticator: &Authenticator,
    provider: &SignInProvider,
    (id, access): (&str, &str),
    nonce: Option<&str>,
    now: DateTime<Utc>,
) -> Result<ClientToken, SignInError> {
    let is_by_id_token = provider.client.identity == SignInIdentity::IdToken;
    let client = &provider.client.id;
    let verified = async {
        let read = authenticator.read(id)?;
        // The issuer chooses the verifier: a token of another registered one must sign nobody in here.
        if read.issuer()? != provider.issuer {
            return refused("the ID token comes from another issuer");
        }
        let algorithm = read.algorithm();
        let token = authenticator.verify_for_client(read, client, is_by_id_token, now).await?;
        check(token.claims.tree(), algorithm, (client, access), nonce)?;
        Ok::<_, AuthError>(token)
    };
    verified.await.map_err(|error| match error {
        AuthError::TokenRefused(why) if !is_by_id_token || !is_about_person(&why) => {
            SignInError::Refused(format!("the ID token is refused: {why}"))
        }
        error => SignInError::Token(error),
    })
}

/// Returns whether a refusal is about the claims that say who a person is, which settings name.
fn is_about_person(why: &str) -> bool {
    // As `token/claims.rs` words it.
    why.starts_with("the claim `") && !why.starts_with("the claim `aud`")
}

/// Checks the claims that tie an ID token to the sign-in, the client and the access token.
fn check(
    claims: &Json<'_>,
    algorithm: Algorithm,
    (client, access): (&str, &str),
    nonce: Option<&str>,
) -> Result<(), AuthError> {
    if nonce.is_some_and(|nonce| text_of(claims, "nonce").as_deref() != Some(nonce)) {
        return refused("the claim `nonce` is not the one of this sign-in");
    }
    // OpenID Connect Core 1.0, 3.1.3.7: `azp`, if it is there, names this client.
    if claims.get("azp").is_some_and(|azp| azp.as_str() != Some(client)) {
        return refused("the claim `azp` names another client");
    }
    // OpenID Connect Core 1.0, 3.1.3.8: with the code flow `at_hash` may be missing.
    if let Some(hash) = claims.get("at_hash")
        && hash.as_str() != Some(&*left_half(algorithm, access))
    {
        return refused("the claim `at_hash` is about another access token");
    }
    if text_of(claims, "sub").is_none() {
        return refused("the claim `sub` is missing, empty or of the wrong type");
    }
    Ok(())
}

/// Returns the left half of the hash of a token, by the hash of the algorithm, in base64url (section 3.1.3.6).
fn left_half(algorithm: Algorithm, token: &str) -> String {
    let hash = match algorithm {
        Algorithm::ES384 | Algorithm::RS384 | Algorithm::PS384 => &digest::SHA384,
        // The hash of Ed25519 is SHA-512.
        Algorithm::RS512 | Algorithm::PS512 | Algorithm::EdDSA => &digest::SHA512,
        _ => &digest::SHA256,
    };
    let hashed = digest::digest(hash, token.as_bytes());
    let half = hashed.as_ref().len() / 2;
    URL_SAFE_NO_PAD.encode(hashed.as_ref().get(..half).unwrap_or_default())
}

/// The login that a logout token ends. It has one of both members at least.
#[derive(Debug)]
pub struct LogoutClaims {
    pub subject: Option<String>,
    pub session: Option<String>,
}

/// Verifies a logout token that its issuer made for `client`.
///
/// # Errors
/// The token is refused.
pub async fn logout_claims(
    authenticator: &Authenticator,
    token: &str,
    client: &str,
    now: DateTime<Utc>,
) -> Result<LogoutClaims, AuthError> {
    let read = authenticator.read(token)?;
    let verified = authenticator.verify_for_client(read, client, false, now).await?;
    let claims = verified.claims.tree();
    let event = claims.get("events").and_then(|events| events.get(LOGOUT));
    if !matches!(event, Some(Json::Object(_))) {
        return refused("the claim `events` does not name a logout");
    }
    // OpenID Connect Back-Channel Logout 1.0, 2.4: so no ID token serves as a logout token.
    if claims.get("nonce").is_some() {
        return refused("a logout token has no `nonce`");
    }
    let (subject, session) = (text_of(claims, "sub"), text_of(claims, "sid"));
    if subject.is_none() && session.is_none() {
        return refused("a logout token has `sub` or `sid`");
    }
    Ok(LogoutClaims { subject, session })
}

fn text_of(claims: &Json<'_>, name: &str) -> Option<String> {
    claims.get(name).and_then(Json::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}
