//! The issuers whose tokens the service accepts.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use portcullis_egress::Client;

use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::keysets::{FETCH_TIMEOUT, KeySource, http_fetch};
use crate::providers::Providers;
use crate::token::Verifier;
use crate::token_cache::CachedToken;

/// The issuers of tokens.
#[derive(Debug)]
pub(crate) enum Issuers {
    /// One provider. All its tokens belong to `tenant`; `None` if the domain of a token is its tenant.
    One { verifier: Arc<Verifier>, tenant: Option<String> },
    /// The providers that tenants register: the issuer of a token decides its tenant.
    Registered(Providers),
}

impl Issuers {
    /// Returns the one provider of `config`. It fetches the key set in the background.
    pub(crate) fn one(config: &OidcConfig, tenant: Option<&str>) -> anyhow::Result<Self> {
        let client = Client::trusted(FETCH_TIMEOUT)?;
        let fetch = http_fetch(client, &config.issuer, config.jwks_uri.clone());
        let keys = KeySource::new(&config.issuer, fetch);
        keys.refresh_in_background();
        let verifier = Arc::new(Verifier::new(config.clone(), keys));
        Ok(Self::One { verifier, tenant: tenant.map(str::to_owned) })
    }

    /// Returns registered providers, of which there are none yet. `client` fetches their key sets, and must be guarded.
    pub(crate) fn registered(client: Client) -> Self {
        let fetches = move |issuer: &str, uri| http_fetch(client.clone(), issuer, Some(uri));
        Self::Registered(Providers::new(Box::new(fetches)))
    }

    /// Returns the verifier of the tokens of `issuer`, and their tenant; `None` if the domain of a token is its tenant.
    ///
    /// # Errors
    /// The issuer is not registered, or its tenant is closed.
    pub(crate) fn choose(
        &self,
        issuer: &str,
    ) -> Result<(Arc<Verifier>, Option<String>), AuthError> {
        match self {
            // The verifier compares the issuer with its own.
            Self::One { verifier, tenant } => Ok((Arc::clone(verifier), tenant.clone())),
            Self::Registered(providers) => {
                let (verifier, tenant) = providers.choose(issuer)?;
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
