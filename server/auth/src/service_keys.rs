//! Verifies service keys (`docs/semantics.md`, section 6.8).

use std::sync::Arc;

use portcullis_fairness::{TurnLimits, TurnQueue, run_to_end};
use portcullis_model::Timestamp;
use portcullis_model::service_key::PresentedKey;
use portcullis_storage::service_keys::{self, FoundKey};
use portcullis_storage::{Store, StoreError};
use uuid::Uuid;

use crate::error::AuthError;
use crate::key_cache::KeyCache;
use crate::verified_key::VerifiedKey;

/// The writes of `last_used_at` that may wait for the store. A burst of requests with many keys would otherwise queue
/// thousands, before the writes of others.
const PENDING_USES: TurnLimits = TurnLimits { at_once: 8, waiting: 0, ..TurnLimits::NONE };

/// The verifier of service keys. It remembers the keys that the store had.
#[derive(Debug)]
pub struct ServiceKeys {
    store: Store,
    cache: KeyCache,
    pending_uses: TurnQueue,
    /// Whether a domain is a tenant, as in `selfhost` mode.
    one_tenant_per_domain: bool,
}

impl ServiceKeys {
    /// Returns a verifier that remembers no key.
    pub fn new(store: Store, one_tenant_per_domain: bool) -> Self {
        let (cache, pending_uses) = (KeyCache::default(), TurnQueue::new(PENDING_USES));
        Self { store, cache, pending_uses, one_tenant_per_domain }
    }

    /// Returns the number of keys in memory.
    pub fn len(&self) -> usize {
        self.cache.len()
    }

    /// Returns whether no key is in memory.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Verifies `presented` at `now` without the store. `None` if the key is not in memory. The caller has proved that
    /// the memory is up to date, and judges the tenant of the key.
    pub fn verify_cached(
        &self,
        presented: &PresentedKey,
        now: Timestamp,
    ) -> Option<Result<Arc<VerifiedKey>, AuthError>> {
        let key = self.cache.get(presented.id)?;
        // A key never gets another secret, so that the store would refuse a wrong one, too.
        Some(self.judge(key, presented, now))
    }

    /// Verifies `presented` at `now` by the store, and remembers the key if it is good. An unknown and a revoked key
    /// get the same error.
    pub async fn verify(
        &self,
        presented: &PresentedKey,
        now: Timestamp,
    ) -> Result<Arc<VerifiedKey>, AuthError> {
        let changes = self.cache.changes();
        // In its own task: a client that disconnects must not cancel a `begin` (transact-rs/sqlx#4385).
        let found = run_to_end(find(self.store.clone(), presented.id)).await;
        let found = found.map_err(|stopping| AuthError::Internal(stopping.into()))??;
        let found = found.ok_or_else(AuthError::unknown_key)?;
        let is_open = found.is_open;
        let key = Arc::new(VerifiedKey::new(found, self.one_tenant_per_domain));
        // First, so that only a sender who has the secret learns that the tenant is closed.
        key.must_be(presented, now)?;
        if !is_open {
            return Err(AuthError::TenantSuspended);
        }
        self.cache.keep(changes, &key);
        self.judge(key, presented, now)
    }

    fn judge(
        &self,
        key: Arc<VerifiedKey>,
        presented: &PresentedKey,
        now: Timestamp,
    ) -> Result<Arc<VerifiedKey>, AuthError> {
        key.must_be(presented, now)?;
        if key.begin_use(now) {
            let (store, uses) = (self.store.clone(), self.pending_uses.clone());
            tokio::spawn(store_use(store, uses, Arc::clone(&key), now));
        }
        Ok(key)
    }

    /// Forgets a key that is revoked. No request that begins after the return is verified with it.
    pub fn forget(&self, id: Uuid) {
        self.cache.forget(id);
    }

    /// Forgets the keys of `tenants`: others may have revoked some. No request that begins after the return is verified with
    /// them before the store is asked again.
    pub fn forget_tenants<'t>(&self, tenants: impl IntoIterator<Item = &'t str>) {
        self.cache.forget_tenants(tenants);
    }

    /// Forgets every key, as [`ServiceKeys::forget_tenants`] does.
    pub fn forget_all(&self) {
        self.cache.clear();
    }
}

/// Returns the parts of the key that was sent.
///
/// # Errors
/// The text is not a service key.
pub fn parse_key(key: &str) -> Result<PresentedKey, AuthError> {
    PresentedKey::parse(key).ok_or_else(AuthError::unknown_key)
}

async fn find(store: Store, id: Uuid) -> Result<Option<FoundKey>, StoreError> {
    store.read_all(async |tx| service_keys::find_anywhere(tx, id).await).await
}

/// Stores `last_used_at` beside the request. The request does not wait, and a failure is only logged. If too many such
/// writes wait already, a later use is stored.
async fn store_use(store: Store, uses: TurnQueue, key: Arc<VerifiedKey>, now: Timestamp) {
    let Ok(_turn) = uses.begin(key.tenant()).await else { return };
    if let Err(error) = try_store_use(&store, &key, now).await
        && !error.is_closed()
    {
        tracing::warn!(%error, "cannot store the last use of a service key");
    }
}

async fn try_store_use(store: &Store, key: &VerifiedKey, now: Timestamp) -> Result<(), StoreError> {
    let mut tx = match store.write(key.tenant(), now.millis()).await {
        // A later use is stored.
        Err(StoreError::Busy) => return Ok(()),
        begun => begun?,
    };
    service_keys::used(&mut tx, key.id(), now).await?;
    tx.commit().await?;
    Ok(())
}

#[cfg(test)]
mod tests;
