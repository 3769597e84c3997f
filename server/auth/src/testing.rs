//! Keys and tokens for the tests of this crate.

use std::sync::{Arc, LazyLock};

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey};
use portcullis_model::jitter::Jitter;
use serde_json::{Value, json};

use crate::keysets::{Fetch, KeySet, KeySource, Refreshes};

pub(crate) const ISSUER: &str = "https://id.example/realms/acme";

pub(crate) static EC: LazyLock<TestKey> = LazyLock::new(TestKey::ec);
pub(crate) static OTHER: LazyLock<TestKey> = LazyLock::new(TestKey::ec);
pub(crate) static EC_384: LazyLock<TestKey> = LazyLock::new(TestKey::ec_384);
pub(crate) static ED: LazyLock<TestKey> = LazyLock::new(TestKey::ed);
pub(crate) static RSA: LazyLock<TestKey> = LazyLock::new(TestKey::rsa);

/// A key pair of an issuer.
pub(crate) struct TestKey {
    pub(crate) signing: EncodingKey,
    /// The public half, without `kid`.
    pub(crate) public: Value,
}

impl TestKey {
    fn new(signing: EncodingKey, algorithm: Algorithm) -> Self {
        let jwk = Jwk::from_encoding_key(&signing, algorithm).expect("a public key");
        let mut public = serde_json::to_value(jwk).expect("JSON");
        public.as_object_mut().expect("an object").remove("alg");
        Self { signing, public }
    }

    fn ec() -> Self {
        let key =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        Self::new(EncodingKey::from_ec_der(key.expect("random").as_ref()), Algorithm::ES256)
    }

    fn ec_384() -> Self {
        let key =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, &SystemRandom::new());
        Self::new(EncodingKey::from_ec_der(key.expect("random").as_ref()), Algorithm::ES384)
    }

    fn ed() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8v1(&SystemRandom::new()).expect("random");
        Self::new(EncodingKey::from_ed_der(key.as_ref()), Algorithm::EdDSA)
    }

    pub(crate) fn rsa() -> Self {
        let key = aws_lc_rs::rsa::KeyPair::generate(KeySize::Rsa2048).expect("random");
        let der = AsDer::<Pkcs8V1Der<'_>>::as_der(&key).expect("DER");
        let text = STANDARD.encode(der.as_ref());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
        Self::new(EncodingKey::from_rsa_pem(pem.as_bytes()).expect("PEM"), Algorithm::RS256)
    }

    /// Returns the public half with more members.
    pub(crate) fn jwk(&self, members: Value) -> Value {
        let mut jwk = self.public.clone();
        for (name, value) in members.as_object().expect("an object") {
            jwk[name] = value.clone();
        }
        jwk
    }
}

/// The present of the tests.
pub(crate) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 0).expect("in range")
}

/// Good claims.
pub(crate) fn claims() -> Value {
    json!({
        "iss": ISSUER,
        "sub": "ann",
        "dom": "acme",
        "realm_access": {"roles": ["reader", 7]},
        "exp": now().timestamp() + 60,
    })
}

/// The header of a token that [`EC`] signs.
pub(crate) fn header() -> Value {
    json!({"alg": "ES256", "typ": "JWT", "kid": "ec"})
}

/// Signs exactly these texts with `algorithm`, whatever the header says.
pub(crate) fn sign_texts(
    header: &str,
    claims: &str,
    key: &TestKey,
    algorithm: Algorithm,
) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = jsonwebtoken::crypto::sign(message.as_bytes(), &key.signing, algorithm);
    format!("{message}.{}", signature.expect("a signature"))
}

/// Signs a token with [`EC`].
pub(crate) fn sign(header: &Value, claims: &Value) -> String {
    sign_texts(&header.to_string(), &claims.to_string(), &EC, Algorithm::ES256)
}

/// Returns a source that always has these keys.
pub(crate) fn key_source(keys: Vec<Value>) -> KeySource {
    let text = json!({"keys": keys}).to_string().into_bytes();
    let fetch: Fetch = Arc::new(move || {
        let text = text.clone();
        Box::pin(async move { KeySet::parse(&text) })
    });
    KeySource::new(ISSUER, fetch, &Arc::new(Refreshes::new(Jitter::new(|| 1.0))))
}
