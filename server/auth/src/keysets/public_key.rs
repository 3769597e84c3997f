//! A public key in the form that verifies fastest.

use std::sync::OnceLock;

use aws_lc_rs::rsa::PublicKeyComponents;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, ParsedPublicKey,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512,
    RSA_PSS_2048_8192_SHA256, RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};

/// A public key with the algorithms that it may verify.
///
/// Each algorithm has the key parsed from its first good signature on: to parse an RSA key takes a seventh of a verification.
#[derive(Debug)]
pub(super) struct PublicKey {
    material: DecodingKey,
    algorithms: Vec<(Algorithm, OnceLock<ParsedPublicKey>)>,
}

impl PublicKey {
    /// Returns a key that may verify signatures of these algorithms.
    pub(super) fn new(
        material: DecodingKey,
        algorithms: impl IntoIterator<Item = Algorithm>,
    ) -> Self {
        let algorithms = algorithms.into_iter().map(|algorithm| (algorithm, OnceLock::new()));
        Self { material, algorithms: algorithms.collect() }
    }

    /// Returns whether the key may verify signatures of `algorithm`.
    pub(super) fn fits(&self, algorithm: Algorithm) -> bool {
        self.parsed_for(algorithm).is_some()
    }

    /// Returns whether `signature`, in base64url, is one of `message` by this key and `algorithm` (RFC 7515, section 5.2).
    pub(super) fn has_signed(&self, algorithm: Algorithm, message: &str, signature: &str) -> bool {
        let Some(parsed) = self.parsed_for(algorithm) else { return false };
        let Ok(signature) = URL_SAFE_NO_PAD.decode(signature) else { return false };
        if let Some(key) = parsed.get() {
            return key.verify_sig(message.as_bytes(), &signature).is_ok();
        }
        let Some(key) = parse(&self.material, algorithm) else { return false };
        // Only a key that verified something is kept parsed.
        if key.verify_sig(message.as_bytes(), &signature).is_err() {
            return false;
        }
        // Another thread may have stored the same key.
        let _ = parsed.set(key);
        true
    }

    /// Returns the place of the key that is parsed for `algorithm`, if the key may verify it.
    fn parsed_for(&self, algorithm: Algorithm) -> Option<&OnceLock<ParsedPublicKey>> {
        let mut algorithms = self.algorithms.iter();
        algorithms.find(|(own, _)| *own == algorithm).map(|(_, parsed)| parsed)
    }
}

/// Returns the key in the form that verifies `algorithm`; `None` if it is not a key of that kind.
fn parse(material: &DecodingKey, algorithm: Algorithm) -> Option<ParsedPublicKey> {
    match material.kind() {
        DecodingKeyKind::RsaModulusExponent { n, e } => {
            PublicKeyComponents { n, e }.to_parsed_public_key(rsa(algorithm)?).ok()
        }
        DecodingKeyKind::SecretOrDer(point) => match algorithm {
            Algorithm::ES256 => ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).ok(),
            Algorithm::ES384 => ParsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, point).ok(),
            Algorithm::EdDSA => ParsedPublicKey::new(&ED25519, point).ok(),
            _ => None,
        },
    }
}

/// Returns the parameters of an RSA algorithm (RFC 7518, sections 3.3 and 3.5).
fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::RS256 => &RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}
