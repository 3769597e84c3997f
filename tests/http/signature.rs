//! The time of one signature, which a token that was never seen before needs.

use std::hint::black_box;
use std::time::Instant;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
    VerificationAlgorithm,
};

use crate::tokens::Algorithm;

/// Verifications of one measurement.
const ROUNDS: u32 = 2_000;
/// A message of the length of a token.
const MESSAGE: [u8; 600] = [b'x'; 600];

/// Returns the microseconds of one verification.
pub(crate) fn micros(algorithm: Algorithm) -> f64 {
    let random = SystemRandom::new();
    match algorithm {
        Algorithm::Rs256 => {
            let pair = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key");
            let mut signature = vec![0; pair.public_modulus_len()];
            let signed = pair.sign(&RSA_PKCS1_SHA256, &random, &MESSAGE, &mut signature);
            signed.expect("a signature");
            timed(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref(), &signature)
        }
        Algorithm::Es256 => {
            let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key");
            let signature = pair.sign(&random, &MESSAGE).expect("a signature");
            timed(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref(), signature.as_ref())
        }
    }
}

fn timed(algorithm: &'static dyn VerificationAlgorithm, key: &[u8], signature: &[u8]) -> f64 {
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        let key = UnparsedPublicKey::new(algorithm, black_box(key));
        key.verify(&MESSAGE, black_box(signature)).expect("a good signature");
    }
    begun.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS)
}
