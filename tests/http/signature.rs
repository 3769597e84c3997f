//! The signatures that the echo verifies, one for each request, as a service does for tokens that were never seen before.

use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
    ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair,
    VerificationAlgorithm,
};

use crate::tokens::Algorithm;

/// The length of a message: that of a token.
const LENGTH: usize = 600;
/// Enough signatures that a branch predictor learns none of them.
const MESSAGES: u16 = 1_024;

/// Signed messages, and the key that verifies them.
pub(crate) struct Signatures {
    key: ParsedPublicKey,
    signed: Vec<(Vec<u8>, Vec<u8>)>,
    next: AtomicUsize,
}

impl Signatures {
    /// Returns signatures by a new key.
    pub(crate) fn by(algorithm: Algorithm) -> Self {
        let random = SystemRandom::new();
        match algorithm {
            Algorithm::Rs256 => {
                let pair = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key");
                Self::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref(), |message| {
                    let mut signature = vec![0; pair.public_modulus_len()];
                    let signed = pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature);
                    signed.expect("a signature");
                    signature
                })
            }
            Algorithm::Es256 => {
                let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
                Self::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref(), |message| {
                    pair.sign(&random, message).expect("a signature").as_ref().to_vec()
                })
            }
        }
    }

    fn new(
        algorithm: &'static dyn VerificationAlgorithm,
        key: &[u8],
        sign: impl Fn(&[u8]) -> Vec<u8>,
    ) -> Self {
        let messages = (0..MESSAGES).map(|number| number.to_be_bytes().repeat(LENGTH / 2));
        let signed = messages.map(|message| {
            let signature = sign(&message);
            (message, signature)
        });
        let key = ParsedPublicKey::new(algorithm, key).expect("a public key");
        Self { key, signed: signed.collect(), next: AtomicUsize::new(0) }
    }

    /// Verifies the next one. The key is parsed already.
    pub(crate) fn verify_next(&self) {
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.signed.len();
        let (message, signature) = &self.signed[next];
        self.key.verify_sig(message, signature).expect("a good signature");
    }
}
