//! The keys of a set that may verify tokens (RFC 7517).

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use portcullis_engine::json::{self, Json};

use super::public_key::PublicKey;

/// Most keys of a set: real ones have two to ten.
const MAX_KEYS: usize = 64;
/// Shortest RSA modulus, in bits (NIST SP 800-131A).
const MIN_RSA_BITS: usize = 2_048;

/// The keys of one set that may verify tokens.
#[derive(Debug)]
pub(crate) struct KeySet(Vec<VerificationKey>);

#[derive(Debug)]
struct VerificationKey {
    kid: Option<String>,
    jwk: Jwk,
    /// The key with the algorithms that its type, its curve and its own `alg` allow.
    key: Arc<PublicKey>,
}

impl KeySet {
    /// Returns the number of keys.
    pub(crate) fn number(&self) -> usize {
        self.0.len()
    }

    /// Reads a JWK set. It leaves out keys that cannot verify a token: symmetric and unknown keys, keys for another use,
    /// and RSA keys that are too short.
    pub(crate) fn parse(text: &[u8]) -> anyhow::Result<Self> {
        let set = json::parse(text)?;
        let Some(keys) = set.get("keys").and_then(Json::as_array) else {
            anyhow::bail!("a key set is an object with an array `keys`");
        };
        anyhow::ensure!(keys.len() <= MAX_KEYS, "the key set has more than {MAX_KEYS} keys");
        let keys: Vec<_> = keys.iter().filter_map(VerificationKey::parse).collect();
        anyhow::ensure!(!keys.is_empty(), "the key set has no key that can verify tokens");
        Ok(Self(keys))
    }

    /// Returns whether the set has a key with this `kid`.
    pub(super) fn knows(&self, kid: &str) -> bool {
        self.0.iter().any(|key| key.kid.as_deref() == Some(kid))
    }

    /// Returns the one key that fits the algorithm, of those with this `kid` if there is one. A key that the set lists
    /// several times is one key; of several keys that fit it returns none, because the token does not say which it means.
    pub(super) fn find(&self, algorithm: Algorithm, kid: Option<&str>) -> Option<&Arc<PublicKey>> {
        let mut fitting = self
            .0
            .iter()
            .filter(|key| key.key.fits(algorithm) && (kid.is_none() || key.kid.as_deref() == kid));
        let key = fitting.next()?;
        fitting.all(|other| other.jwk.algorithm == key.jwk.algorithm).then_some(&key.key)
    }

    /// Lets each key that `before` has too, with the same material and members, be the one of `before`.
    pub(super) fn keep_keys_of(&mut self, before: &Self) {
        for key in &mut self.0 {
            if let Some(same) = before.0.iter().find(|other| other.jwk == key.jwk) {
                key.key = Arc::clone(&same.key);
            }
        }
    }
}

impl VerificationKey {
    fn parse(json: &Json<'_>) -> Option<Self> {
        let jwk: Jwk = serde_json::from_str(&json.to_string()).ok()?;
        let for_signatures = jwk
            .common
            .public_key_use
            .as_ref()
            .is_none_or(|r#use| *r#use == PublicKeyUse::Signature);
        let may_verify = jwk
            .common
            .key_operations
            .as_ref()
            .is_none_or(|operations| operations.contains(&KeyOperations::Verify));
        let strong = match &jwk.algorithm {
            AlgorithmParameters::RSA(rsa) => rsa_bits(&rsa.n) >= MIN_RSA_BITS,
            AlgorithmParameters::EllipticCurve(_) | AlgorithmParameters::OctetKeyPair(_) => true,
            _ => false,
        };
        if !(for_signatures && may_verify && strong) {
            return None;
        }
        let material = DecodingKey::from_jwk(&jwk).ok()?;
        let own = json.get("alg").and_then(Json::as_str);
        let key = Arc::new(PublicKey::new(material, algorithms(&jwk, own)));
        Some(Self { kid: jwk.common.key_id.clone(), jwk, key })
    }
}

/// Returns the algorithms that a key may verify, by its type, its curve and its `own` `alg`.
fn algorithms(jwk: &Jwk, own: Option<&str>) -> Vec<Algorithm> {
    let by_type: &[Algorithm] = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => &[
            Algorithm::RS256,
            Algorithm::RS384,
            Algorithm::RS512,
            Algorithm::PS256,
            Algorithm::PS384,
            Algorithm::PS512,
        ],
        AlgorithmParameters::EllipticCurve(parameters) => match parameters.curve {
            EllipticCurve::P256 => &[Algorithm::ES256],
            EllipticCurve::P384 => &[Algorithm::ES384],
            _ => &[],
        },
        AlgorithmParameters::OctetKeyPair(parameters) => match parameters.curve {
            EllipticCurve::Ed25519 => &[Algorithm::EdDSA],
            _ => &[],
        },
        _ => &[],
    };
    let allowed = by_type
        .iter()
        .copied()
        .filter(|algorithm| own.is_none_or(|own| algorithm_named(own) == Some(*algorithm)));
    allowed.collect()
}

/// Returns the algorithm with this name in a header or a key. `Ed25519` is the name of EdDSA on that curve (RFC 9864), which is
/// the only one that is accepted.
pub(crate) fn algorithm_named(name: &str) -> Option<Algorithm> {
    if name == "Ed25519" { Some(Algorithm::EdDSA) } else { name.parse().ok() }
}

/// Returns the number of bits of a modulus in base64url.
fn rsa_bits(modulus: &str) -> usize {
    let Ok(bytes) = URL_SAFE_NO_PAD.decode(modulus) else { return 0 };
    // Leading zeros would make a short key look long.
    let significant = bytes.iter().skip_while(|byte| **byte == 0);
    let leading = significant.clone().next().map_or(8, |byte| byte.leading_zeros() as usize);
    (significant.count() * 8).saturating_sub(leading)
}

#[cfg(test)]
mod tests;
