//! Signing keys that are really generated, their public halves as JWKs, and tokens made by hand: a library
//! would refuse to write most of what an attacker sends.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384,
    RSA_PSS_SHA512, RsaKeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// A key pair of an identity provider.
pub(crate) struct Key {
    kid: String,
    secret: Secret,
    /// The members of the key set beside the key itself: `use`, `alg`, …
    extra: Value,
}

enum Secret {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl Key {
    pub(crate) fn p256(kid: &str) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING);
        Self::new(kid, Secret::P256(pair.expect("a key")))
    }

    pub(crate) fn p384(kid: &str) -> Self {
        let pair = EcdsaKeyPair::generate(&ECDSA_P384_SHA384_FIXED_SIGNING);
        Self::new(kid, Secret::P384(pair.expect("a key")))
    }

    pub(crate) fn ed25519(kid: &str) -> Self {
        Self::new(kid, Secret::Ed25519(Ed25519KeyPair::generate().expect("a key")))
    }

    pub(crate) fn rsa(kid: &str) -> Self {
        Self::new(kid, Secret::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).expect("a key")))
    }

    fn new(kid: &str, secret: Secret) -> Self {
        Self { kid: kid.to_owned(), secret, extra: json!({"use": "sig"}) }
    }

    /// Replaces what the key set says about the key besides the key itself.
    pub(crate) fn with(mut self, extra: Value) -> Self {
        self.extra = extra;
        self
    }

    /// The algorithm that it signs tokens with unless told otherwise.
    fn algorithm(&self) -> &'static str {
        match self.secret {
            Secret::P256(_) => "ES256",
            Secret::P384(_) => "ES384",
            Secret::Ed25519(_) => "EdDSA",
            Secret::Rsa(_) => "RS256",
        }
    }

    /// The header of its tokens.
    pub(crate) fn header(&self) -> Value {
        json!({"alg": self.algorithm(), "typ": "JWT", "kid": self.kid})
    }

    /// Returns the entry of the key in a key set.
    pub(crate) fn jwk(&self) -> Value {
        let mut jwk = match &self.secret {
            Secret::P256(pair) => ec_jwk("P-256", pair.public_key().as_ref()),
            Secret::P384(pair) => ec_jwk("P-384", pair.public_key().as_ref()),
            Secret::Ed25519(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": base64(pair.public_key().as_ref())})
            }
            Secret::Rsa(pair) => {
                let [n, e] = der_integers(pair.public_key().as_ref());
                json!({"kty": "RSA", "n": base64(n), "e": base64(e)})
            }
        };
        jwk["kid"] = json!(self.kid);
        for (name, value) in self.extra.as_object().into_iter().flatten() {
            jwk[name] = value.clone();
        }
        jwk
    }

    /// Returns the public half in the forms that somebody might take for the secret of a MAC.
    pub(crate) fn public_forms(&self) -> Vec<Vec<u8>> {
        let Secret::P256(pair) = &self.secret else { return vec![] };
        let der = AsDer::as_der(pair.public_key()).expect("a public key").as_ref().to_vec();
        let text = base64::engine::general_purpose::STANDARD.encode(&der);
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----\n");
        let jwk = self.jwk();
        let coordinate = URL_SAFE_NO_PAD.decode(jwk["x"].as_str().unwrap_or_default());
        vec![
            der,
            pem.into_bytes(),
            pair.public_key().as_ref().to_vec(),
            jwk.to_string().into_bytes(),
            coordinate.expect("base64url"),
        ]
    }

    /// A token with this header and these claims.
    pub(crate) fn token(&self, header: &Value, claims: &Value) -> String {
        self.token_of_text(&header.to_string(), &claims.to_string())
    }

    /// A token of header and claims as they are written, signed as the header's `alg` says.
    pub(crate) fn token_of_text(&self, header: &str, claims: &str) -> String {
        let message = format!("{}.{}", base64(header.as_bytes()), base64(claims.as_bytes()));
        let algorithm = serde_json::from_str::<Value>(header).unwrap_or_default();
        let algorithm = algorithm["alg"].as_str().unwrap_or_default();
        let signature = self.sign(algorithm, message.as_bytes());
        format!("{message}.{}", base64(&signature))
    }

    fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        let pair = match &self.secret {
            Secret::P256(pair) | Secret::P384(pair) => {
                return pair.sign(&random, message).expect("a signature").as_ref().to_vec();
            }
            Secret::Ed25519(pair) => return pair.sign(message).as_ref().to_vec(),
            Secret::Rsa(pair) => pair,
        };
        let encoding: &'static dyn aws_lc_rs::signature::RsaEncoding = match algorithm {
            "RS384" => &RSA_PKCS1_SHA384,
            "RS512" => &RSA_PKCS1_SHA512,
            "PS256" => &RSA_PSS_SHA256,
            "PS384" => &RSA_PSS_SHA384,
            "PS512" => &RSA_PSS_SHA512,
            _ => &RSA_PKCS1_SHA256,
        };
        let mut signature = vec![0; pair.public_modulus_len()];
        pair.sign(encoding, &random, message, &mut signature).expect("a signature");
        signature
    }
}

fn ec_jwk(curve: &str, point: &[u8]) -> Value {
    // An uncompressed point: 4, then both coordinates.
    let (x, y) = point[1..].split_at(point.len() / 2);
    json!({"kty": "EC", "crv": curve, "x": base64(x), "y": base64(y)})
}

/// The two integers of an RSA public key (RFC 8017, appendix A.1.1), without leading zeros.
fn der_integers(sequence: &[u8]) -> [&[u8]; 2] {
    let (content, _) = der_value(sequence);
    let (n, rest) = der_value(content);
    let (e, _) = der_value(rest);
    [n, e].map(|integer| integer.strip_prefix(&[0]).unwrap_or(integer))
}

/// The content of the first value, and what follows it.
fn der_value(der: &[u8]) -> (&[u8], &[u8]) {
    let (length, start) = match der[1] {
        0x81 => (usize::from(der[2]), 3),
        0x82 => (usize::from(u16::from_be_bytes([der[2], der[3]])), 4),
        short => (usize::from(short), 2),
    };
    der[start..].split_at(length)
}

/// A token whose MAC has `secret` as its key.
pub(crate) fn mac_token(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let message = format!(
        "{}.{}",
        base64(header.to_string().as_bytes()),
        base64(claims.to_string().as_bytes())
    );
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    format!("{message}.{}", base64(hmac::sign(&key, message.as_bytes()).as_ref()))
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
