//! A service key that the store has, with all that its uses need.

use std::sync::atomic::{AtomicI64, Ordering};

use portcullis_model::Timestamp;
use portcullis_model::audit::{CredentialKind, Origin};
use portcullis_model::service_key::{Permission, PresentedKey};
use portcullis_storage::service_keys::FoundKey;
use uuid::Uuid;

use crate::callers::Manager;
use crate::error::{AuthError, must_have};

/// Longest lag of `last_used_at`, in milliseconds. It prevents a write per request of a busy key.
const LAST_USED_LAG: i64 = 60_000;

/// A service key that the store has. Nothing of a key changes but its last use.
#[derive(Debug)]
pub struct VerifiedKey {
    id: Uuid,
    secret_hash: Vec<u8>,
    permissions: Vec<Permission>,
    expires_at: Option<Timestamp>,
    tenant: String,
    /// The name of the key as an actor: `key:<id>`.
    actor: String,
    /// The domain of a rule without one.
    rule_domain: String,
    /// The one domain of the key's checks; `None` if each check names its own.
    check_domain: Option<String>,
    one_tenant_per_domain: bool,
    /// Milliseconds. The last use that was stored, or that this process began to store.
    last_used_at: AtomicI64,
}

impl VerifiedKey {
    /// Returns the key of a record. In `selfhost` mode, where a domain is a tenant, its domain is the tenant's own.
    pub(crate) fn new(found: FoundKey, one_tenant_per_domain: bool) -> Self {
        let FoundKey { record, tenant, slug, .. } = found;
        let (rule_domain, check_domain) = if one_tenant_per_domain {
            (tenant.clone(), Some(tenant.clone()))
        } else {
            let own = record.domain.clone().or(slug).unwrap_or_else(|| tenant.clone());
            (own, record.domain)
        };
        // The name and the description stay in the store: nobody needs them here, and they may be long.
        Self {
            id: record.id,
            secret_hash: record.secret_hash,
            permissions: record.permissions,
            expires_at: record.expires_at,
            actor: format!("key:{}", record.id),
            tenant,
            rule_domain,
            check_domain,
            one_tenant_per_domain,
            // The first use of a key without one is always due.
            last_used_at: AtomicI64::new(record.last_used_at.map_or(i64::MIN, Timestamp::millis)),
        }
    }

    pub(crate) fn id(&self) -> Uuid {
        self.id
    }

    /// The tenant of the key.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// The key as the author of changes: `key:<id>`.
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// Refuses another key than this one, and this one if it has expired at `now`. Only a sender who has the secret learns
    /// that it expired.
    pub(crate) fn must_be(
        &self,
        presented: &PresentedKey,
        now: Timestamp,
    ) -> Result<(), AuthError> {
        if !presented.proves(&self.secret_hash) {
            return Err(AuthError::unknown_key());
        }
        match self.expires_at {
            Some(expiry) if expiry <= now => Err(AuthError::CredentialRefused(format!(
                "the service key expired at {expiry}; create another one"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns whether the last use at `now` must be stored. True for one caller at a time.
    pub(crate) fn begin_use(&self, now: Timestamp) -> bool {
        let (last, now) = (self.last_used_at.load(Ordering::Relaxed), now.millis());
        let is_due = now.saturating_sub(last) >= LAST_USED_LAG;
        let relaxed = Ordering::Relaxed;
        is_due && self.last_used_at.compare_exchange(last, now, relaxed, relaxed).is_ok()
    }

    /// Refuses a key without `permission`.
    pub fn must_have(&self, permission: Permission) -> Result<(), AuthError> {
        must_have(&self.permissions, permission)
    }

    /// Returns the domain of a check that names `domain`.
    ///
    /// # Errors
    /// The key has another domain, or neither the key nor the check has one.
    pub(crate) fn domain_of<'d>(&'d self, domain: Option<&'d str>) -> Result<&'d str, AuthError> {
        match (self.check_domain.as_deref(), domain) {
            (Some(own), None) => Ok(own),
            (Some(own), Some(named)) if own == named => Ok(own),
            (Some(own), Some(named)) => Err(AuthError::AccessDenied(format!(
                "expected `{own}`, the domain of the service key, not `{named}`"
            ))),
            (None, Some(named)) => Ok(named),
            (None, None) => Err(AuthError::DomainMissing),
        }
    }

    /// Returns the holder of the key as a caller who may manage the tenant, as far as the permissions go.
    pub fn manager(&self) -> Manager {
        Manager {
            tenant: self.tenant.clone(),
            domain: self.rule_domain.clone(),
            origin: Origin::new(&self.actor, CredentialKind::ServiceKey)
                .with_key(self.id().to_string()),
            one_tenant_per_domain: self.one_tenant_per_domain,
            permissions: self.permissions.clone(),
            deadline: None,
        }
    }
}
