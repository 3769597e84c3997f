//! The identity providers of `saas` mode: the issuer of a token decides its tenant.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use chrono::{DateTime, Utc};
use tokio::sync::Mutex;
use url::Url;

use crate::config::OidcConfig;
use crate::identity::Identity;
use crate::keysets::{KeySource, http_fetch};
use crate::token::{TokenError, Unverified, Verifier};
use portcullis_egress::Client;
use portcullis_model::provider::ProviderRecord;

/// Every registered provider, by issuer. A provider's keys are its own: one that is dead delays nobody
/// else's tokens.
#[derive(Debug)]
pub struct Providers {
    /// Fetches key sets from addresses that tenants chose.
    client: Client,
    by_issuer: ArcSwap<HashMap<String, Arc<Provider>>>,
    /// Held while the records are read and taken over.
    reloading: Mutex<()>,
}

#[derive(Debug)]
struct Provider {
    record: ProviderRecord,
    verifier: Verifier,
}

impl Providers {
    /// No provider so far; `client` must be a guarded one.
    pub fn new(client: Client) -> Self {
        Self { client, by_issuer: ArcSwap::default(), reloading: Mutex::new(()) }
    }

    /// Takes over what `read` says is registered. One at a time: what was read before a registration or a
    /// removal must not be taken over after it.
    pub async fn reload<E>(
        &self,
        read: impl Future<Output = Result<Vec<ProviderRecord>, E>>,
    ) -> Result<(), E> {
        let _one_at_a_time = self.reloading.lock().await;
        self.replace(read.await?);
        Ok(())
    }

    /// Takes over what is registered now. A provider that was there keeps its keys; a new one fetches
    /// them in the background; one that is gone verifies nothing from here on.
    fn replace(&self, records: Vec<ProviderRecord>) {
        let before = self.by_issuer.load();
        let same = records.len() == before.len()
            && records.iter().all(|record| {
                before.get(&record.issuer_url).is_some_and(|provider| provider.record == *record)
            });
        if same {
            return;
        }
        let after = records.into_iter().filter_map(|record| {
            let issuer = record.issuer_url.clone();
            let kept = before.get(&issuer).filter(|provider| provider.record == record);
            Some((issuer, kept.cloned().or_else(|| self.start(record))?))
        });
        self.by_issuer.store(Arc::new(after.collect()));
    }

    fn start(&self, record: ProviderRecord) -> Option<Arc<Provider>> {
        let jwks_uri: Url = record.jwks_uri.parse().ok()?;
        let fetch = http_fetch(self.client.clone(), &record.issuer_url, Some(jwks_uri.clone()));
        let keys = KeySource::new(fetch);
        keys.refresh_in_background();
        let config = OidcConfig {
            issuer: record.issuer_url.clone(),
            jwks_uri: Some(jwks_uri),
            audience: record.audience.clone(),
            claims: record.claim_config.clone(),
        };
        Some(Arc::new(Provider { record, verifier: Verifier::new(config, keys) }))
    }

    /// The tenant and identity that `token` proves at `now`.
    pub async fn verify(
        &self,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<(String, Identity), TokenError> {
        let token = Unverified::read(token)?;
        let provider = self.by_issuer.load().get(token.issuer()?).cloned();
        let Some(provider) = provider else {
            return Err(TokenError::unknown_issuer());
        };
        let identity = provider.verifier.verify_read(token, now).await?;
        Ok((provider.record.tenant_id.clone(), identity))
    }
}
