//! Secrets at rest: AES-256-GCM with a key ring. The first key encrypts and all keys decrypt, so that an operator can
//! rotate keys (`docs/semantics.md`, section 7.10).
//!
//! An encrypted value is `version (1 byte) | key id (4) | nonce (12) | ciphertext | tag (16)`. The value is bound to
//! its [`Context`], which is not stored with it: a value that was copied into another row does not decrypt.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::{hmac, rand};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The version of the only format.
const VERSION: u8 = 1;
/// Bytes of an AES-256 key.
const KEY_BYTES: usize = 32;
/// Bytes of a message authentication code: a guess succeeds once in 2^128.
pub const MAC_BYTES: usize = 16;
/// Makes the key of message authentication codes differ from the one that encrypts.
const MAC_LABEL: &[u8] = b"portcullis message authentication 1";
/// Bytes of a key id. If two keys of a ring have the same id, both are tried.
const ID_BYTES: usize = 4;

/// The id of a key: the first bytes of its SHA-256. An encrypted value names the key that encrypted it.
pub type KeyId = [u8; ID_BYTES];

/// A value cannot be encrypted or decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CryptoError {
    /// The value is too short, or another version of the service wrote it.
    #[error("the format of the encrypted value is unknown")]
    Format,
    /// The key of the value is not in the ring.
    #[error("the key of the encrypted value is no longer in ENCRYPTION_KEY")]
    UnknownKey,
    /// The tag does not match.
    #[error("the encrypted value was changed, or belongs to another record")]
    Forged,
    /// The library did not supply random numbers, or refused to encrypt.
    #[error("the cryptographic library failed")]
    Library,
}

/// The place of an encrypted value. The value decrypts with the same context only.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    pub tenant: &'c str,
    /// The id of the record.
    pub record: Uuid,
    /// The table and the column.
    pub column: &'static str,
}

impl<'c> Context<'c> {
    /// The place of the secret of a webhook.
    pub fn for_webhook_secret(tenant: &'c str, webhook: Uuid) -> Self {
        Self { tenant, record: webhook, column: "webhooks.secret" }
    }

    /// The place of the secrets of a resolver.
    pub fn for_resolver_secrets(tenant: &'c str, resolver: Uuid) -> Self {
        Self { tenant, record: resolver, column: "resolvers.secrets" }
    }

    /// The place of the request of a proposal, which may hold secrets.
    pub fn for_proposed_request(tenant: &'c str, proposal: Uuid) -> Self {
        Self { tenant, record: proposal, column: "proposals.request" }
    }

    /// The place of the secret of the client of an identity provider.
    pub fn for_client_secret(tenant: &'c str, provider: Uuid) -> Self {
        Self { tenant, record: provider, column: "identity_providers.client_secret" }
    }

    /// The place of the tokens of a session.
    pub fn for_session_tokens(tenant: &'c str, session: Uuid) -> Self {
        Self { tenant, record: session, column: "console_sessions.tokens" }
    }

    /// The place of a sign-in that has begun, which the browser keeps.
    pub fn for_sign_in_attempt(tenant: &'c str) -> Self {
        Self { tenant, record: Uuid::nil(), column: "console.attempt" }
    }

    /// Returns each part after its length, so that no two contexts give the same bytes.
    fn associated_data(&self) -> Vec<u8> {
        let mut data = Vec::new();
        for part in [self.tenant.as_bytes(), self.record.as_bytes(), self.column.as_bytes()] {
            data.extend((part.len() as u64).to_be_bytes());
            data.extend(part);
        }
        data
    }
}

/// The keys for secrets at rest. Cheap to clone.
#[derive(Clone)]
pub struct KeyRing {
    /// Encrypts.
    first: Arc<Key>,
    /// Decrypt values from before the last rotation.
    older: Arc<[Key]>,
}

struct Key {
    /// The first bytes of the key's SHA-256.
    id: KeyId,
    /// Draws a random nonce for each message, so that no caller can repeat one. NIST SP 800-38D section 8.3
    /// bounds such a key to 2^32 messages; a message here is a secret that somebody registered.
    cipher: RandomizedNonceKey,
    /// Authenticates texts that clients keep, such as cursors.
    mac: hmac::Key,
}

/// Reads the key with this number, counted from 1.
fn parse_key((text, number): (&str, usize)) -> Result<Key, String> {
    Key::parse(text).ok_or_else(|| {
        format!("{KEY_BYTES} bytes in base64, or several such keys separated by commas; key {number} is not valid")
    })
}

impl KeyRing {
    /// Reads `ENCRYPTION_KEY`: one key or several, separated by commas.
    ///
    /// # Errors
    /// The text completes "expected …" and contains no part of a key.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (first, older) = match text.split_once(',') {
            Some((first, older)) => (first, Some(older)),
            None => (text, None),
        };
        let older = older.into_iter().flat_map(|older| older.split(','));
        Ok(Self {
            first: Arc::new(parse_key((first, 1))?),
            older: older.zip(2..).map(parse_key).collect::<Result<_, _>>()?,
        })
    }

    /// Generates a random key, in the form that [`KeyRing::parse`] reads.
    pub fn generate_key() -> Result<String, CryptoError> {
        let mut key = [0; KEY_BYTES];
        rand::fill(&mut key).map_err(|_| CryptoError::Library)?;
        Ok(STANDARD.encode(key))
    }

    /// Returns the id of the key that encrypts.
    pub fn first_id(&self) -> KeyId {
        self.first.id
    }

    /// Returns the keys, the one that encrypts first.
    fn all(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&*self.first).chain(&*self.older)
    }

    /// Returns whether a key of the ring has this id.
    pub fn has(&self, id: KeyId) -> bool {
        self.all().any(|key| key.id == id)
    }

    /// Returns whether another key of the ring has the id of the first. Then nobody can tell which of the two encrypted a
    /// value.
    pub fn is_ambiguous(&self) -> bool {
        self.older.iter().any(|key| key.id == self.first.id)
    }

    /// Encrypts `plain` for `context`.
    pub fn encrypt(&self, context: Context<'_>, plain: &[u8]) -> Result<Vec<u8>, CryptoError> {
        let mut sealed = plain.to_vec();
        let bound = Aad::from(context.associated_data());
        let nonce = self
            .first
            .cipher
            .seal_in_place_append_tag(bound, &mut sealed)
            .map_err(|_| CryptoError::Library)?;
        Ok([&[VERSION], &self.first.id[..], nonce.as_ref(), &sealed].concat())
    }

    /// Decrypts a value that [`KeyRing::encrypt`] made for the same context.
    ///
    /// # Errors
    /// The value has another format, its key is not in the ring, or it was not made for `context`.
    pub fn decrypt(&self, context: Context<'_>, encrypted: &[u8]) -> Result<Vec<u8>, CryptoError> {
        let (version, rest) = encrypted.split_first().ok_or(CryptoError::Format)?;
        let (id, rest) = rest.split_first_chunk::<ID_BYTES>().ok_or(CryptoError::Format)?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE_LEN>().ok_or(CryptoError::Format)?;
        if *version != VERSION {
            return Err(CryptoError::Format);
        }
        let mut candidates = self.all().filter(|key| key.id == *id).peekable();
        if candidates.peek().is_none() {
            return Err(CryptoError::UnknownKey);
        }
        let bound = context.associated_data();
        candidates.find_map(|key| key.open(nonce, &bound, sealed)).ok_or(CryptoError::Forged)
    }
}

impl KeyRing {
    /// Returns the message authentication code of `parts`, by the first key.
    pub fn authenticate(&self, parts: &[&[u8]]) -> [u8; MAC_BYTES] {
        code(&self.first.authenticate(parts))
    }

    /// Returns the message authentication codes of `parts`, by each key, the first one first.
    pub fn codes_of(&self, parts: &[&[u8]]) -> impl Iterator<Item = [u8; MAC_BYTES]> {
        self.all().map(move |key| code(&key.authenticate(parts)))
    }

    /// Returns whether a key of the ring made the code for these parts.
    pub fn is_authentic(&self, parts: &[&[u8]], mac: &[u8; MAC_BYTES]) -> bool {
        self.all().any(|key| {
            let tag = key.authenticate(parts);
            // A tag has 32 bytes. The empty default would equal no code, because lengths are compared, too.
            let own = tag.as_ref().get(..MAC_BYTES).unwrap_or_default();
            // In constant time: the duration says nothing about how many bytes of a guess are right.
            verify_slices_are_equal(own, mac).is_ok()
        })
    }
}

/// Returns the bytes of a tag.
fn code(tag: &hmac::Tag) -> [u8; MAC_BYTES] {
    let mut code = [0; MAC_BYTES];
    code.iter_mut().zip(tag.as_ref()).for_each(|(byte, own)| *byte = *own);
    code
}

impl fmt::Debug for KeyRing {
    /// Writes the number of keys and no key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyRing({} keys)", 1 + self.older.len())
    }
}

impl Key {
    /// `None` unless `bytes` are as many as the cipher takes.
    fn new(bytes: &[u8]) -> Option<Self> {
        let cipher = RandomizedNonceKey::new(&AES_256_GCM, bytes).ok()?;
        // A digest has 32 bytes, so that its first ones are always there.
        let id = *Sha256::digest(bytes).first_chunk()?;
        let derived = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, bytes), MAC_LABEL);
        let mac = hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref());
        Some(Self { id, cipher, mac })
    }

    fn authenticate(&self, parts: &[&[u8]]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.mac);
        for part in parts {
            // With its length, so that a byte that moves from one part to the next changes the code.
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        context.sign()
    }

    fn parse(text: &str) -> Option<Self> {
        Self::new(&STANDARD.decode(text.trim()).ok()?)
    }

    fn open(&self, nonce: &[u8; NONCE_LEN], bound: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let mut buffer = sealed.to_vec();
        let nonce = Nonce::from(nonce);
        let plain = self.cipher.open_in_place(nonce, Aad::from(bound), &mut buffer).ok()?.len();
        // The tag is still at the end of the buffer.
        buffer.truncate(plain);
        Some(buffer)
    }
}

#[cfg(test)]
mod tests;
