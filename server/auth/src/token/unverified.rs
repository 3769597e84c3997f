//! Reads a token: its size, its parts and its header. Nothing of it is verified.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Algorithm;
use portcullis_engine::json::{self, Json};

use super::claims::text_claim;
use crate::claims::Claims;
use crate::error::{AuthError, refused};
use crate::keysets::algorithm_named;

/// The accepted algorithms, all asymmetric: `none` proves nothing, and the key of a MAC would be public.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];
/// Header members that would change the verified text. Members that name or hold a key (`jku`, `jwk`, `x5u`, `x5c`) are
/// ignored: an attacker writes the header, and only the issuer's key set has keys.
const REFUSED_HEADERS: [&str; 4] = ["crit", "zip", "enc", "b64"];

/// The parts of a token that its signature and the choice of the key are about.
pub(super) struct Signed<'t> {
    pub(super) algorithm: Algorithm,
    pub(super) kid: Option<String>,
    pub(super) message: &'t str,
    pub(super) signature: &'t str,
}

/// A token that is read but not verified.
pub(crate) struct Unverified<'t> {
    pub(super) signed: Signed<'t>,
    pub(super) claims: Claims,
}

impl<'t> Unverified<'t> {
    /// Reads a token of at most `most` bytes, and its claims.
    pub(crate) fn read(token: &'t str, most: usize) -> Result<Self, AuthError> {
        let (signed, payload) = decode(token, most)?;
        let Some(claims) = Claims::read(payload) else {
            return refused(no_object("payload"));
        };
        Ok(Self { signed, claims })
    }

    /// Returns the claims, which nobody has verified.
    pub(crate) fn claims(&self) -> &Json<'_> {
        self.claims.tree()
    }

    /// Returns the algorithm that the header names.
    pub(crate) fn algorithm(&self) -> Algorithm {
        self.signed.algorithm
    }

    /// Returns the `iss`. It may only be used to choose the verifier.
    pub(crate) fn issuer(&self) -> Result<&str, AuthError> {
        text_claim(self.claims.tree(), "iss")
    }
}

/// Splits a token of at most `most` bytes into its parts, decodes them, and checks the header. Returns the payload beside the
/// rest.
pub(super) fn decode(token: &str, most: usize) -> Result<(Signed<'_>, Vec<u8>), AuthError> {
    if token.len() > most {
        return refused(format!(
            "the token has {} bytes, more than the {most} of `MAX_TOKEN_BYTES`",
            token.len()
        ));
    }
    // RFC 7515, 5.2: the signature is about the first two parts as they were sent, dot included.
    let split = token.rsplit_once('.').and_then(|(message, signature)| {
        let (header, payload) = message.split_once('.')?;
        (!payload.contains('.')).then_some((message, header, payload, signature))
    });
    let Some((message, header, payload, signature)) = split else {
        return refused("expected a token of three parts separated by `.`");
    };
    let header = decode_part(header, "header")?;
    let Ok(header @ Json::Object(_)) = json::parse(&header) else {
        return refused(no_object("header"));
    };
    if let Some(name) = REFUSED_HEADERS.into_iter().find(|name| header.get(name).is_some()) {
        return refused(format!("the token's header has `{name}`, which is not accepted"));
    }
    let algorithm = header.get("alg").and_then(Json::as_str).and_then(algorithm_named);
    let Some(algorithm) = algorithm.filter(|one| ALGORITHMS.contains(one)) else {
        return refused("the token's algorithm is not accepted");
    };
    let kid = match header.get("kid") {
        None => None,
        Some(Json::String(kid)) => Some(kid.clone().into_owned()),
        Some(_) => return refused("the token's `kid` is not a string"),
    };
    let payload = decode_part(payload, "payload")?;
    Ok((Signed { algorithm, kid, message, signature }, payload))
}

fn decode_part(part: &str, what: &str) -> Result<Vec<u8>, AuthError> {
    URL_SAFE_NO_PAD.decode(part).or_else(|_| refused(no_object(what)))
}

fn no_object(what: &str) -> String {
    format!("the {what} of the token is not a JSON object without duplicate keys, in base64url")
}
