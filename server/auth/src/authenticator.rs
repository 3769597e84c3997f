//! Verifies bearer tokens in both modes.

use chrono::{DateTime, Utc};
use portcullis_egress::Client;
use portcullis_model::service_key::resembles_key;

use crate::callers::TokenHolder;
use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::keysets::{FETCH_TIMEOUT, KeySource, http_fetch};
use crate::providers::Providers;
use crate::token::Verifier;

/// The answer to a service key in the place of a token.
const KEY_AS_TOKEN: &str =
    "expected a token, not a service key: send the key in the header `X-Service-Api-Key`";
/// The answer to a token with `OIDC_ENABLED=false`.
const SWITCHED_OFF: &str = "bearer tokens are switched off (`OIDC_ENABLED=false`): send a service key in the header \
    `X-Service-Api-Key`";

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
        if resembles_key(token) {
            return Err(AuthError::TokenRefused(KEY_AS_TOKEN.to_owned()));
        }
        match self {
            Self::Off => Err(AuthError::TokenRefused(SWITCHED_OFF.to_owned())),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_sends_a_key_as_a_token_learns_the_right_header() {
        let off = Authenticator::Off;
        for (token, expected) in [("pck_019e301f05c0_x", KEY_AS_TOKEN), ("a.b.c", SWITCHED_OFF)] {
            let refused = off.verify(token, DateTime::UNIX_EPOCH).await;
            let Err(AuthError::TokenRefused(why)) = refused else { panic!("{refused:?}") };
            assert_eq!(why, expected);
            assert!(why.contains("`X-Service-Api-Key`"), "{why}");
        }
    }
}
