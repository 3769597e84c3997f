//! The identity providers of `saas` mode: the issuer of a token decides its tenant.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use chrono::{DateTime, Utc};
use portcullis_egress::Client;
use portcullis_model::provider::ProviderRecord;
use url::Url;

use crate::closed_tenants::ClosedTenants;
use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::identity::Identity;
use crate::keysets::{KeySource, http_fetch};
use crate::token::{TokenError, Unverified, Verifier};

/// The registered providers, by issuer. Each provider has its own key source, so that an unavailable provider does not
/// delay the tokens of others.
#[derive(Debug)]
pub struct Providers {
    /// The guarded client for key sets, whose addresses tenants choose.
    client: Client,
    by_issuer: ArcSwap<HashMap<String, Arc<Provider>>>,
}

#[derive(Debug)]
struct Provider {
    record: ProviderRecord,
    /// `None` while the tenant is closed: its key set is not fetched then.
    verifier: Option<Verifier>,
}

impl Provider {
    /// Returns whether this is the provider of `record`, in the present state of its tenant.
    fn is(&self, record: &ProviderRecord, closed: &ClosedTenants) -> bool {
        self.record == *record && self.verifier.is_none() == closed.contains(&record.tenant_id)
    }
}

impl Providers {
    /// Returns an empty set of providers. `client` must be guarded.
    pub fn new(client: Client) -> Self {
        Self { client, by_issuer: ArcSwap::default() }
    }

    /// Applies the registered providers. An unchanged provider keeps its keys. A new one fetches its keys in the
    /// background. A removed one verifies no more tokens. One whose tenant is closed neither fetches keys nor verifies
    /// tokens. One call at a time: records that were read before a registration must not be applied after it.
    pub fn replace(&self, records: Vec<ProviderRecord>, closed: &ClosedTenants) {
        let before = self.by_issuer.load();
        let same = records.len() == before.len()
            && records.iter().all(|record| {
                before.get(&record.issuer_url).is_some_and(|provider| provider.is(record, closed))
            });
        if same {
            return;
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
        self.by_issuer.store(Arc::new(after.collect()));
    }

    /// Starts to fetch the keys of a provider. A stored address is valid, so that `None` does not occur.
    fn start(&self, record: &ProviderRecord) -> Option<Verifier> {
        let jwks_uri: Url = record.jwks_uri.parse().ok()?;
        let fetch = http_fetch(self.client.clone(), &record.issuer_url, Some(jwks_uri.clone()));
        let keys = KeySource::new(&record.issuer_url, fetch);
        keys.refresh_in_background();
        let config = OidcConfig {
            issuer: record.issuer_url.clone(),
            jwks_uri: Some(jwks_uri),
            audience: record.audience.clone(),
            claims: record.claim_config.clone(),
        };
        Some(Verifier::new(config, keys))
    }

    /// Returns the tenant and the identity that `token` proves at `now`.
    pub async fn verify(
        &self,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<(String, Identity), AuthError> {
        let token = Unverified::read(token)?;
        let provider = self.by_issuer.load().get(token.issuer()?).cloned();
        let Some(provider) = provider else {
            return Err(TokenError::unknown_issuer().into());
        };
        let verifier = provider.verifier.as_ref().ok_or(AuthError::TenantSuspended)?;
        let identity = verifier.verify_read(token, now).await?;
        Ok((provider.record.tenant_id.clone(), identity))
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use portcullis_egress::EgressConfig;
    use portcullis_model::Timestamp;
    use portcullis_model::provider::ClaimConfig;
    use uuid::Uuid;

    use super::*;
    use crate::keysets::FETCH_TIMEOUT;

    fn record(issuer: &str) -> ProviderRecord {
        ProviderRecord {
            id: Uuid::nil(),
            tenant_id: "acme".to_owned(),
            issuer_url: issuer.to_owned(),
            // The guarded client refuses this address.
            jwks_uri: "https://127.0.0.1/keys".to_owned(),
            audience: None,
            claim_config: ClaimConfig::default(),
            created_at: Timestamp::from_millis(0),
        }
    }

    fn unsigned(issuer: &str) -> String {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"ES256","kid":"a"}"#);
        let payload = URL_SAFE_NO_PAD.encode(format!(r#"{{"iss":"{issuer}"}}"#));
        format!("{header}.{payload}.AAAA")
    }

    #[tokio::test]
    async fn invented_issuers_leave_nothing_behind() {
        let client = Client::guarded(&EgressConfig::default(), FETCH_TIMEOUT).expect("a client");
        let providers = Providers::new(client);
        providers.replace(vec![record("https://id.example/")], &ClosedTenants::default());
        for n in 0..10_000 {
            let token = unsigned(&format!("https://invented-{n}.example/"));
            let refused = providers.verify(&token, DateTime::UNIX_EPOCH).await;
            assert!(matches!(refused, Err(AuthError::TokenRefused(_))), "{n}: {refused:?}");
        }
        assert_eq!(providers.by_issuer.load().len(), 1);
    }
}
