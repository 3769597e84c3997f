//! Sessions of the console (`docs/semantics.md`, section 19.3).

use aws_lc_rs::rand::{SecureRandom, SystemRandom};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::Timestamp;

/// Bytes of a value that nobody can guess.
const VALUE_BYTES: usize = 32;

/// The SHA-256 of a value that a browser keeps. The value itself is not stored.
pub type ValueHash = [u8; 32];

/// Returns the hash of a value.
pub fn hash_of(value: &str) -> ValueHash {
    Sha256::digest(value).into()
}

/// Returns a new random value: 43 characters of base64url.
pub fn new_value() -> String {
    let mut bytes = [0; VALUE_BYTES];
    // A machine without randomness must not begin sessions; nothing can be answered then.
    #[expect(clippy::expect_used, reason = "aws-lc-rs fails only if the process is broken")]
    SystemRandom::new().fill(&mut bytes).expect("the operating system supplies random numbers");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A session as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRecord {
    pub id: Uuid,
    pub tenant_id: String,
    pub subject: String,
    /// The registered provider, if it has a record.
    pub provider_id: Option<Uuid>,
    /// The issuer of the tokens; `None` for a session that began with a link.
    pub issuer: Option<String>,
    /// The `sub` of the ID token.
    pub login_subject: Option<String>,
    /// The session at the provider: `sid` of the ID token.
    pub login_session: Option<String>,
    /// The tokens and the identity, encrypted.
    pub tokens: Vec<u8>,
    pub created_at: Timestamp,
    pub used_at: Timestamp,
    /// The end, however it is used.
    pub ends_at: Timestamp,
    /// The end of the access token; `None` without one.
    pub token_ends_at: Option<Timestamp>,
    /// The instant until which one process refreshes the tokens.
    pub refreshing_until: Option<Timestamp>,
}

/// A link that signs somebody in once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLink {
    pub id: Uuid,
    pub tenant_id: String,
    pub subject: String,
    pub roles: Vec<String>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}
