//! A sign-in that has begun. The browser keeps it, sealed: nobody fills a table without a credential.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, TimeDelta, Utc};
use portcullis_model::session::{hash_of, new_value};
use portcullis_storage::encryption::{Context, CryptoError, KeyRing};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The longest time of a sign-in.
pub const LIFETIME: TimeDelta = TimeDelta::seconds(600);
/// Hexadecimal digits of a hash in the name of a cookie.
const NAME_DIGITS: usize = 16;

/// A sign-in that has begun.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attempt {
    pub state: String,
    pub(crate) nonce: String,
    /// The secret of PKCE.
    pub(crate) verifier: String,
    /// The id of the tenant; `None` if the token names it.
    pub tenant: Option<String>,
    /// The registered provider; `None` for the one provider of `selfhost` mode.
    pub provider: Option<Uuid>,
    /// The path to go to; `None` is the first page.
    pub to: Option<String>,
    /// Seconds since the epoch.
    began: i64,
}

impl Attempt {
    /// Begins a sign-in at `now`.
    pub fn begin(
        tenant: Option<String>,
        provider: Option<Uuid>,
        to: Option<String>,
        now: DateTime<Utc>,
    ) -> Self {
        let [state, nonce, verifier] = [(); 3].map(|()| new_value());
        Self { state, nonce, verifier, tenant, provider, to, began: now.timestamp() }
    }

    /// Returns the tenant for which requests go out; empty if it is not known.
    pub(crate) fn tenant_text(&self) -> &str {
        self.tenant.as_deref().unwrap_or_default()
    }

    /// Returns the challenge of PKCE (RFC 7636, section 4.2).
    pub(crate) fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(&self.verifier))
    }

    /// Returns whether the sign-in may end at `now`.
    pub(crate) fn is_young(&self, now: DateTime<Utc>) -> bool {
        // An attempt that has not begun yet, because the clock was set back, does not count either.
        (0..LIFETIME.num_seconds()).contains(&(now.timestamp() - self.began))
    }

    /// Returns the attempt as the browser keeps it.
    ///
    /// # Errors
    /// The library did not encrypt.
    pub fn seal(&self, keys: &KeyRing) -> Result<String, CryptoError> {
        let text = serde_json::to_vec(self).map_err(|_| CryptoError::Format)?;
        // The state is bound to the text, so that no other attempt of the browser takes its place.
        let sealed = keys.encrypt(Context::for_sign_in_attempt(&self.state), &text)?;
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Returns the attempt with this state; `None` if the text is not one.
    pub(super) fn open(keys: &KeyRing, state: &str, sealed: &str) -> Option<Self> {
        let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let text = keys.decrypt(Context::for_sign_in_attempt(state), &sealed).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

/// Returns the first hexadecimal digits of the SHA-256 of a state or of the id of a tenant, as names of cookies have them.
pub fn name_hash(text: &str) -> String {
    let digits = hash_of(text).into_iter().map(|byte| format!("{byte:02x}"));
    digits.take(NAME_DIGITS / 2).collect()
}
