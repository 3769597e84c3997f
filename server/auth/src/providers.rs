//! The identity providers of `saas` mode: the issuer of a token decides its tenant (`docs/semantics.md`, section 6.10).

mod memory;

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::future::{BoxFuture, join_all};
use portcullis_fairness::{TurnLimits, TurnQueue};
use portcullis_model::provider::ProviderRecord;
use portcullis_storage::StoreError;
use url::Url;
use uuid::Uuid;

use crate::closed_tenants::ClosedTenants;
use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::shared_key_sets::SharedKeySets;
use crate::token::Verifier;
use crate::token_cache::CachedToken;
use memory::{Provider, ProviderMemory};

/// The reads of issuers that are not in memory. The turns of one issuer follow each other, so that it is read once for all
/// who wait, and invented issuers leave connections to other requests.
const READS: TurnLimits = TurnLimits { at_once: 8, per_tenant: 1, ..TurnLimits::NONE };
/// Longest issuer that is looked for, in bytes: four for each of the 2,048 characters that a registration may have.
const MAX_ISSUER: usize = 8_192;

/// A function that reads the provider of an issuer, with the state of its tenant.
pub(crate) type ProviderLookup = Box<
    dyn Fn(String) -> BoxFuture<'static, Result<Option<FoundProvider>, StoreError>> + Send + Sync,
>;

/// A provider that the store has.
#[derive(Clone, Debug)]
pub(crate) struct FoundProvider {
    pub(crate) record: ProviderRecord,
    /// Whether the tenant is closed.
    pub(crate) is_closed: bool,
}

/// The registered providers. One is read when a token first names its issuer, and forgotten when nobody uses it.
pub(crate) struct Providers {
    lookup: ProviderLookup,
    key_sets: SharedKeySets,
    memory: ProviderMemory,
    /// Each issuer has its own turns.
    reads: TurnQueue,
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Providers").field("memory", &self.memory).finish_non_exhaustive()
    }
}

impl Providers {
    /// Returns providers, none of them in memory.
    pub(crate) fn new(lookup: ProviderLookup, key_sets: SharedKeySets) -> Self {
        let memory = ProviderMemory::default();
        Self { lookup, key_sets, memory, reads: TurnQueue::new(READS) }
    }

    /// Returns the verifier of the tokens of `issuer`, and their tenant. Reads the provider unless it is in memory.
    ///
    /// # Errors
    /// The issuer is not registered, its tenant is closed, or the store failed.
    pub(crate) async fn choose(&self, issuer: &str) -> Result<(Arc<Verifier>, String), AuthError> {
        let known = match self.memory.find(issuer) {
            Some(known) => known,
            None => self.read(issuer).await?,
        };
        let provider = known.ok_or_else(AuthError::unknown_issuer)?;
        let verifier = provider.verifier.as_ref().ok_or(AuthError::TenantSuspended)?;
        Ok((Arc::clone(verifier), provider.record.tenant_id.clone()))
    }

    /// Reads the provider of `issuer`, once for all who wait. `None` if nobody registered it.
    async fn read(&self, issuer: &str) -> Result<Option<Arc<Provider>>, AuthError> {
        if issuer.len() > MAX_ISSUER {
            return Ok(None);
        }
        let _turn = self.reads.begin_patiently(issuer).await;
        // The read of another token may have found it during the wait.
        if let Some(known) = self.memory.find(issuer) {
            return Ok(known);
        }
        let changes = self.memory.changes();
        // In its own task: a client that disconnects must not cancel a `begin` (transact-rs/sqlx#4385).
        let found = tokio::spawn((self.lookup)(issuer.to_owned())).await;
        let found = found.map_err(|failed| AuthError::Internal(failed.into()))??;
        let known = found.and_then(|found| self.provider(found));
        self.memory.keep(changes, issuer, known.as_ref());
        Ok(known)
    }

    /// Returns a provider of the store. A stored address is valid, so that `None` does not occur.
    fn provider(&self, found: FoundProvider) -> Option<Arc<Provider>> {
        let FoundProvider { record, is_closed } = found;
        let jwks_uri: Url = record.jwks_uri.parse().ok()?;
        let verifier = (!is_closed).then(|| {
            let keys = self.key_sets.at(&jwks_uri, &record.issuer_url);
            let config = OidcConfig {
                issuer: record.issuer_url.clone(),
                jwks_uri: Some(jwks_uri),
                audience: record.audience.clone(),
                claims: record.claim_config.clone(),
            };
            Arc::new(Verifier::new(config, keys))
        });
        Some(Arc::new(Provider::new(record, verifier)))
    }

    /// Returns which of `tenants` have providers in memory. What is being read now is not kept: it may be older than
    /// what the caller reads next.
    pub(crate) fn remembered<'t>(&self, tenants: &[&'t str]) -> Vec<&'t str> {
        self.memory.begin_comparison(tenants)
    }

    /// Applies what the store has of `tenants`, whose access changed. An unchanged provider keeps its keys. A removed one
    /// verifies no more tokens. One whose tenant is closed neither fetches keys nor verifies tokens. Returns the tenants of
    /// which a provider is changed or removed.
    pub(crate) fn apply(
        &self,
        tenants: &[&str],
        records: &[ProviderRecord],
        closed: &ClosedTenants,
    ) -> Vec<String> {
        self.memory.retain(tenants, |provider| {
            let is_closed = closed.contains(&provider.record.tenant_id);
            records.contains(&provider.record) && provider.verifier.is_none() == is_closed
        })
    }

    /// Forgets every provider. Returns the tenants of the forgotten ones.
    pub(crate) fn clear(&self) -> Vec<String> {
        self.memory.clear()
    }

    /// Forgets the providers that nobody used for a while, and returns the tenants of those and the ids of the providers
    /// whose use should be noted in the store.
    pub(crate) fn tidy(&self) -> (Vec<String>, Vec<Uuid>) {
        let tidied = self.memory.tidy();
        self.key_sets.tidy();
        tidied
    }

    /// Reads the providers of `issuers` and fetches their key sets.
    pub(crate) async fn warm_up(&self, issuers: &[String]) {
        for issuers in issuers.chunks(READS.at_once) {
            join_all(issuers.iter().map(|issuer| self.warm_up_one(issuer))).await;
        }
    }

    async fn warm_up_one(&self, issuer: &str) {
        if let Ok((verifier, _)) = self.choose(issuer).await {
            verifier.warm_up().await;
        }
    }

    /// Returns whether the provider that is registered now vouches for `known` at `now`.
    pub(crate) fn vouch_for(&self, known: &CachedToken, now: DateTime<Utc>) -> bool {
        self.memory.with(known.issuer(), |provider| {
            let verifier = provider.verifier.as_ref();
            verifier.is_some_and(|verifier| known.is_good(verifier, now))
        })
    }

    /// Returns the numbers of issuers and of key sets in memory.
    pub(crate) fn len(&self) -> (usize, usize) {
        (self.memory.len(), self.key_sets.len())
    }
}

#[cfg(test)]
mod tests;
