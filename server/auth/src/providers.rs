//! The identity providers of `saas` mode: the issuer of a token decides its tenant.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;
use chrono::{DateTime, Utc};
use portcullis_model::provider::ProviderRecord;
use url::Url;

use crate::closed_tenants::ClosedTenants;
use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::keysets::{Fetch, KeySource};
use crate::token::{TokenError, Verifier};
use crate::token_cache::CachedToken;

/// The registered providers, by issuer. Each provider has its own key source, so that an unavailable provider does not
/// delay the tokens of others.
pub(crate) struct Providers {
    key_fetches: KeyFetches,
    by_issuer: ArcSwap<HashMap<String, Arc<Provider>>>,
}

/// A function that returns the fetch of a key set, for an issuer and an address that a tenant chose.
pub(crate) type KeyFetches = Box<dyn Fn(&str, Url) -> Fetch + Send + Sync>;

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Providers").field("by_issuer", &self.by_issuer).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Provider {
    record: ProviderRecord,
    /// `None` while the tenant is closed: its key set is not fetched then. A changed record gets another verifier.
    verifier: Option<Arc<Verifier>>,
}

impl Provider {
    /// Returns whether this is the provider of `record`, in the present state of its tenant.
    fn is(&self, record: &ProviderRecord, closed: &ClosedTenants) -> bool {
        self.record == *record && self.verifier.is_none() == closed.contains(&record.tenant_id)
    }
}

impl Providers {
    /// Returns an empty set of providers.
    pub(crate) fn new(key_fetches: KeyFetches) -> Self {
        Self { key_fetches, by_issuer: ArcSwap::default() }
    }

    /// Applies the registered providers. An unchanged provider keeps its keys. A new one fetches its keys in the
    /// background. A removed one verifies no more tokens. One whose tenant is closed neither fetches keys nor verifies
    /// tokens. Returns the tenants of which a provider is changed or removed. One call at a time: records that were read
    /// before a registration must not be applied after it.
    pub(crate) fn replace(
        &self,
        records: Vec<ProviderRecord>,
        closed: &ClosedTenants,
    ) -> Vec<String> {
        let before = self.by_issuer.load();
        let same = records.len() == before.len()
            && records.iter().all(|record| {
                before.get(&record.issuer_url).is_some_and(|provider| provider.is(record, closed))
            });
        if same {
            return Vec::new();
        }
        let after = records.into_iter().filter_map(|record| {
            let issuer = record.issuer_url.clone();
            let kept = before.get(&issuer).filter(|provider| provider.is(&record, closed));
            if let Some(kept) = kept {
                return Some((issuer, Arc::clone(kept)));
            }
            let is_closed = closed.contains(&record.tenant_id);
            let verifier = if is_closed { None } else { Some(self.start(&record)?) };
            Some((issuer, Arc::new(Provider { record, verifier })))
        });
        let after: HashMap<String, Arc<Provider>> = after.collect();
        let is_gone = |(issuer, provider): &(&String, &Arc<Provider>)| {
            after.get(*issuer).is_none_or(|kept| !Arc::ptr_eq(kept, provider))
        };
        let gone = before.iter().filter(is_gone);
        let gone = gone.map(|(_, provider)| provider.record.tenant_id.clone()).collect();
        self.by_issuer.store(Arc::new(after));
        gone
    }

    /// Starts to fetch the keys of a provider. A stored address is valid, so that `None` does not occur.
    fn start(&self, record: &ProviderRecord) -> Option<Arc<Verifier>> {
        let jwks_uri: Url = record.jwks_uri.parse().ok()?;
        let fetch = (self.key_fetches)(&record.issuer_url, jwks_uri.clone());
        let keys = KeySource::new(&record.issuer_url, fetch);
        keys.refresh_in_background();
        let config = OidcConfig {
            issuer: record.issuer_url.clone(),
            jwks_uri: Some(jwks_uri),
            audience: record.audience.clone(),
            claims: record.claim_config.clone(),
        };
        Some(Arc::new(Verifier::new(config, keys)))
    }

    /// Returns the verifier of the tokens of `issuer`, and their tenant.
    ///
    /// # Errors
    /// The issuer is not registered, or its tenant is closed.
    pub(crate) fn choose(&self, issuer: &str) -> Result<(Arc<Verifier>, String), AuthError> {
        let by_issuer = self.by_issuer.load();
        let Some(provider) = by_issuer.get(issuer) else {
            return Err(TokenError::unknown_issuer().into());
        };
        let verifier = provider.verifier.as_ref().ok_or(AuthError::TenantSuspended)?;
        Ok((Arc::clone(verifier), provider.record.tenant_id.clone()))
    }

    /// Returns whether the provider that is registered now vouches for `known` at `now`.
    pub(crate) fn vouch_for(&self, known: &CachedToken, now: DateTime<Utc>) -> bool {
        let by_issuer = self.by_issuer.load();
        let provider = by_issuer.get(known.issuer());
        let verifier = provider.and_then(|provider| provider.verifier.as_ref());
        verifier.is_some_and(|verifier| known.is_good(verifier, now))
    }
}

#[cfg(test)]
mod tests {
    use portcullis_model::Timestamp;
    use portcullis_model::provider::ClaimConfig;
    use uuid::Uuid;

    use super::*;

    fn record(issuer: &str) -> ProviderRecord {
        ProviderRecord {
            id: Uuid::nil(),
            tenant_id: "acme".to_owned(),
            issuer_url: issuer.to_owned(),
            jwks_uri: "https://127.0.0.1/keys".to_owned(),
            audience: None,
            claim_config: ClaimConfig::default(),
            created_at: Timestamp::from_millis(0),
        }
    }

    #[tokio::test]
    async fn invented_issuers_leave_nothing_behind() {
        let nothing = |_: &str, _| -> Fetch { Arc::new(|| Box::pin(std::future::pending())) };
        let providers = Providers::new(Box::new(nothing));
        providers.replace(vec![record("https://id.example/")], &ClosedTenants::default());
        for n in 0..10_000 {
            let refused = providers.choose(&format!("https://invented-{n}.example/"));
            assert!(matches!(refused, Err(AuthError::TokenRefused(_))), "{n}: {refused:?}");
        }
        assert_eq!(providers.by_issuer.load().len(), 1);
    }
}
