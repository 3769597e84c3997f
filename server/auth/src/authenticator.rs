//! Verifies bearer tokens in both modes.

use chrono::{DateTime, Utc};
use portcullis_egress::Client;

use crate::callers::TokenHolder;
use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::keysets::{FETCH_TIMEOUT, KeySource, http_fetch};
use crate::providers::Providers;
use crate::token::Verifier;

/// The verifier of bearer tokens. It also determines the tenant of a token.
#[derive(Debug)]
pub enum Authenticator {
    /// `OIDC_ENABLED=false`: there are no tokens.
    Off,
    /// One provider; a token's domain is its tenant.
    Selfhost(Verifier),
    /// One provider, whose tokens all belong to one tenant.
    SingleTenant { tenant: String, verifier: Verifier },
    /// A token's issuer decides its tenant.
    Saas(Providers),
}

impl Authenticator {
    /// Returns a verifier for the one provider of `selfhost` mode. It fetches the key set in the background.
    pub fn selfhost(config: Option<&OidcConfig>) -> anyhow::Result<Self> {
        Ok(verifier(config)?.map_or(Self::Off, Self::Selfhost))
    }

    /// Returns a verifier for the one provider, whose tokens all belong to `tenant`. It fetches the key set in the
    /// background.
    pub fn single_tenant(tenant: &str, config: Option<&OidcConfig>) -> anyhow::Result<Self> {
        let tenant = tenant.to_owned();
        Ok(verifier(config)?.map_or(Self::Off, |verifier| Self::SingleTenant { tenant, verifier }))
    }

    /// Returns the caller that `token` proves at `now`.
    pub async fn verify(&self, token: &str, now: DateTime<Utc>) -> Result<TokenHolder, AuthError> {
        match self {
            Self::Off => Err(AuthError::TokenRefused("bearer tokens are switched off".to_owned())),
            Self::Selfhost(verifier) => {
                let identity = verifier.verify(token, now).await?;
                let tenant = identity.domain.clone();
                Ok(TokenHolder { tenant, identity, one_tenant_per_domain: true })
            }
            Self::SingleTenant { tenant, verifier } => {
                let identity = verifier.verify(token, now).await?;
                Ok(TokenHolder { tenant: tenant.clone(), identity, one_tenant_per_domain: false })
            }
            Self::Saas(providers) => {
                let (tenant, identity) = providers.verify(token, now).await?;
                Ok(TokenHolder { tenant, identity, one_tenant_per_domain: false })
            }
        }
    }
}

/// Returns the verifier of the tokens of one provider, or `None` if there are no tokens.
fn verifier(config: Option<&OidcConfig>) -> anyhow::Result<Option<Verifier>> {
    let Some(config) = config else { return Ok(None) };
    let client = Client::trusted(FETCH_TIMEOUT)?;
    let fetch = http_fetch(client, &config.issuer, config.jwks_uri.clone());
    let keys = KeySource::new(&config.issuer, fetch);
    keys.refresh_in_background();
    Ok(Some(Verifier::new(config.clone(), keys)))
}
