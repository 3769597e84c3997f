//! The issuers whose tokens the service accepts.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use portcullis_egress::Client;
use portcullis_model::jitter::Jitter;
use portcullis_storage::{Store, StoreError, providers, tenants};
use url::Url;

use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::keysets::{FETCH_TIMEOUT, KeySource, Refreshes, http_fetch};
use crate::providers::{FoundProvider, Providers};
use crate::shared_key_sets::SharedKeySets;
use crate::token::Verifier;
use crate::token_cache::CachedToken;

/// The issuers of tokens.
#[derive(Debug)]
pub(crate) enum Issuers {
    /// One provider. All its tokens belong to `tenant`; `None` if the domain of a token is its tenant.
    One { verifier: Arc<Verifier>, tenant: Option<String> },
    /// The providers that tenants register: the issuer of a token decides its tenant.
    Registered(Box<Providers>),
}

impl Issuers {
    /// Returns the one provider of `config`. It fetches the key set in the background.
    pub(crate) fn one(config: &OidcConfig, tenant: Option<&str>) -> anyhow::Result<Self> {
        let client = Client::trusted(FETCH_TIMEOUT)?;
        let fetch = http_fetch(client, &config.issuer, config.jwks_uri.clone());
        let refreshes = Arc::new(Refreshes::new(Jitter::system()));
        let keys = KeySource::new(&config.issuer, fetch, &refreshes);
        keys.refresh_for_ever();
        let verifier = Arc::new(Verifier::new(config.clone(), keys));
        Ok(Self::One { verifier, tenant: tenant.map(str::to_owned) })
    }

    /// Returns the providers that are registered in `store`. `client` fetches their key sets, and must be guarded.
    pub(crate) fn registered(client: Client, store: Store) -> Self {
        let fetches = Box::new(move |address: &Url| {
            // Several tenants may share a key set. So each host has the share of a tenant, under a name that no tenant can
            // have, which would take that share: their ids have no space.
            let host = address.host_str().unwrap_or_default();
            let client = client.for_tenant(&format!("host {host}"));
            // The issuer is needed for discovery alone.
            http_fetch(client, "", Some(address.clone()))
        });
        let key_sets = SharedKeySets::new(fetches, Jitter::system());
        let lookup = Box::new(move |issuer: String| -> BoxFuture<'static, _> {
            let store = store.clone();
            Box::pin(async move { find(&store, &issuer).await })
        });
        Self::Registered(Box::new(Providers::new(lookup, key_sets)))
    }

    /// Returns the verifier of the tokens of `issuer`, and their tenant; `None` if the domain of a token is its tenant.
    ///
    /// # Errors
    /// The issuer is not registered, its tenant is closed, or the store failed.
    pub(crate) async fn choose(
        &self,
        issuer: &str,
    ) -> Result<(Arc<Verifier>, Option<String>), AuthError> {
        match self {
            // The verifier compares the issuer with its own.
            Self::One { verifier, tenant } => Ok((Arc::clone(verifier), tenant.clone())),
            Self::Registered(providers) => {
                let (verifier, tenant) = providers.choose(issuer).await?;
                Ok((verifier, Some(tenant)))
            }
        }
    }

    /// Returns whether `known` would be verified again at `now` with the same result. Its issuer, the record of the
    /// provider and the key are looked up as they are now.
    pub(crate) fn vouch_for(&self, known: &CachedToken, now: DateTime<Utc>) -> bool {
        match self {
            Self::One { verifier, .. } => known.is_good(verifier, now),
            Self::Registered(providers) => providers.vouch_for(known, now),
        }
    }
}

/// Reads the provider of `issuer`, with the state of its tenant.
async fn find(store: &Store, issuer: &str) -> Result<Option<FoundProvider>, StoreError> {
    let mut tx = store.begin_read_all().await?;
    // In one transaction, so that the state is the one that the tenant of this record has.
    let record = providers::find_anywhere(&mut tx, issuer).await?;
    let is_closed = match &record {
        Some(record) => tenants::is_closed(&mut tx, &record.tenant_id).await?,
        None => false,
    };
    tx.end().await?;
    Ok(record.map(|record| FoundProvider { record, is_closed }))
}
