//! The encrypted part of a session: its tokens, and the identity where no access token proves it.

use portcullis_auth::{AuthError, Claims, Identity, TokenHolder};
use portcullis_model::session::SessionRecord;
use portcullis_storage::encryption::{Context, CryptoError, KeyRing};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The encrypted part of a session.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SealedSession {
    pub(super) access: Option<String>,
    pub(super) refresh: Option<String>,
    pub(super) id: Option<String>,
    pub(super) identity: Option<StoredIdentity>,
    /// The milliseconds from the arrival of the access token to its end; 0 if nobody says when it ends.
    pub(super) life: i64,
}

/// The identity of a session that began with a link or an ID token.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredIdentity {
    /// The tenant that the identity belongs to.
    pub(super) tenant: String,
    pub(super) subject: String,
    pub(super) domain: String,
    pub(super) roles: Vec<String>,
    pub(super) administers: Vec<String>,
    /// The claims as JSON.
    pub(super) claims: String,
}

/// The encrypted part of a stored session.
pub(super) struct Sealed<'r>(pub(super) &'r SessionRecord);

impl Sealed<'_> {
    /// Returns the tokens; `None` if no key of the ring decrypts them.
    pub(super) fn open(&self, keys: &KeyRing) -> Option<SealedSession> {
        let SessionRecord { tenant_id, id, tokens, .. } = self.0;
        let text = keys.decrypt(Context::for_session_tokens(tenant_id, *id), tokens).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

impl SealedSession {
    /// Returns the tokens as the store keeps them.
    pub(super) fn seal(
        &self,
        keys: &KeyRing,
        tenant: &str,
        session: Uuid,
    ) -> Result<Vec<u8>, CryptoError> {
        // Texts and lists of them, which can always be written.
        let text = serde_json::to_vec(self).unwrap_or_default();
        keys.encrypt(Context::for_session_tokens(tenant, session), &text)
    }
}

impl StoredIdentity {
    /// Returns the identity of a person whom a provider signed in.
    pub(super) fn of(holder: &TokenHolder) -> Self {
        let Identity { subject, domain, roles, administers, claims } = &holder.identity;
        Self {
            tenant: holder.tenant().to_owned(),
            subject: subject.clone(),
            domain: domain.clone(),
            roles: roles.clone(),
            administers: administers.clone(),
            claims: String::from_utf8_lossy(claims.text()).into_owned(),
        }
    }

    /// Returns the person in a session of `tenant`. Where a domain is a tenant, the identity's own tenant may be another one.
    pub(super) fn holder(&self, tenant: &str, per_domain: bool) -> Result<TokenHolder, AuthError> {
        let claims = Claims::read(self.claims.clone().into_bytes());
        let claims = claims
            .ok_or_else(|| AuthError::TokenRefused("the session cannot be read".to_owned()))?;
        let identity = Identity {
            subject: self.subject.clone(),
            domain: self.domain.clone(),
            roles: self.roles.clone(),
            administers: self.administers.clone(),
            claims,
        };
        let own = if per_domain { &self.tenant } else { tenant };
        Ok(TokenHolder::restored(own, identity, per_domain))
    }
}
