//! Verifies bearer tokens in both modes.

use chrono::{DateTime, Utc};
use portcullis_egress::Client;

use crate::callers::TokenHolder;
use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::keysets::{FETCH_TIMEOUT, KeySource, http_fetch};
use crate::providers::Providers;
use crate::token::{TokenError, Verifier};

/// The verifier of bearer tokens. It also determines the tenant of a token.
#[derive(Debug)]
pub enum Authenticator {
    /// `OIDC_ENABLED=false`: there are no tokens.
    Off,
    /// One provider; a token's domain is its tenant.
    Selfhost(Verifier),
    /// A token's issuer decides its tenant.
    Saas(Providers),
}

impl Authenticator {
    /// Returns a verifier for the one provider of `selfhost` mode. It fetches the key set in the background.
    pub fn selfhost(config: Option<&OidcConfig>) -> anyhow::Result<Self> {
        let Some(config) = config else { return Ok(Self::Off) };
        let client = Client::trusted(FETCH_TIMEOUT)?;
        let fetch = http_fetch(client, &config.issuer, config.jwks_uri.clone());
        let keys = KeySource::new(&config.issuer, fetch);
        keys.refresh_in_background();
        Ok(Self::Selfhost(Verifier::new(config.clone(), keys)))
    }

    /// Returns the caller that `token` proves at `now`.
    pub async fn verify(&self, token: &str, now: DateTime<Utc>) -> Result<TokenHolder, AuthError> {
        let verified = match self {
            Self::Off => Err(TokenError::Refused("bearer tokens are switched off".to_owned())),
            Self::Selfhost(verifier) => verifier.verify(token, now).await.map(|identity| {
                let tenant = identity.domain.clone();
                TokenHolder { tenant, identity, one_tenant_per_domain: true }
            }),
            Self::Saas(providers) => {
                providers.verify(token, now).await.map(|(tenant, identity)| TokenHolder {
                    tenant,
                    identity,
                    one_tenant_per_domain: false,
                })
            }
        };
        verified.map_err(AuthError::from)
    }
}
