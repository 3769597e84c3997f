//! Verifies bearer tokens in all modes.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use portcullis_egress::Client;
use portcullis_model::provider::ProviderRecord;
use portcullis_model::service_key::resembles_key;

use crate::callers::TokenHolder;
use crate::closed_tenants::ClosedTenants;
use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::issuers::Issuers;
use crate::token::{Proof, Unverified};
use crate::token_cache::{CachedToken, TokenCache};

/// The answer to a service key in the place of a token.
const KEY_AS_TOKEN: &str =
    "expected a token, not a service key: send the key in the header `X-Service-Api-Key`";
/// The answer to a token with `OIDC_ENABLED=false`.
const SWITCHED_OFF: &str = "bearer tokens are switched off (`OIDC_ENABLED=false`): send a service key in the header \
    `X-Service-Api-Key`";

/// The verifier of bearer tokens. It also determines the tenant of a token. It remembers the tokens that it verified.
#[derive(Debug)]
pub struct Authenticator {
    /// `None` with `OIDC_ENABLED=false`: there are no tokens.
    issuers: Option<Issuers>,
    tokens: TokenCache,
}

impl Authenticator {
    /// Returns a verifier for the one provider of `selfhost` mode. It fetches the key set in the background.
    pub fn selfhost(config: Option<&OidcConfig>) -> anyhow::Result<Self> {
        let issuer = config.map(|config| Issuers::one(config, None)).transpose()?;
        Ok(Self::new(issuer))
    }

    /// Returns a verifier for the one provider, whose tokens all belong to `tenant`. It fetches the key set in the
    /// background.
    pub fn single_tenant(tenant: &str, config: Option<&OidcConfig>) -> anyhow::Result<Self> {
        let issuer = config.map(|config| Issuers::one(config, Some(tenant))).transpose()?;
        Ok(Self::new(issuer))
    }

    /// Returns a verifier for the providers that tenants register. `client` fetches their key sets, and must be guarded.
    pub fn saas(client: Client) -> Self {
        Self::new(Some(Issuers::registered(client)))
    }

    fn new(issuers: Option<Issuers>) -> Self {
        Self { issuers, tokens: TokenCache::default() }
    }

    /// Returns the caller that `token` proves at `now`.
    ///
    /// # Errors
    /// The token is refused, the tenant of its issuer is closed, or the key set cannot be had.
    pub async fn verify(
        &self,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<Arc<TokenHolder>, AuthError> {
        if resembles_key(token) {
            return Err(AuthError::TokenRefused(KEY_AS_TOKEN.to_owned()));
        }
        let Some(issuers) = &self.issuers else {
            return Err(AuthError::TokenRefused(SWITCHED_OFF.to_owned()));
        };
        if let Some(holder) = self.tokens.find(token, |known| issuers.vouch_for(known, now)) {
            return Ok(holder);
        }
        // In a box, so that the request of a remembered token has no room for the state of a verification.
        Box::pin(self.verify_anew(issuers, token, now)).await
    }

    /// Verifies `token`, and remembers it if it is good.
    async fn verify_anew(
        &self,
        issuers: &Issuers,
        token: &str,
        now: DateTime<Utc>,
    ) -> Result<Arc<TokenHolder>, AuthError> {
        let read = Unverified::read(token)?;
        let (verifier, tenant) = issuers.choose(read.issuer()?)?;
        let Proof { identity, key, validity } = verifier.verify(read, now).await?;
        let one_tenant_per_domain = tenant.is_none();
        let tenant = tenant.unwrap_or_else(|| identity.domain.clone());
        let holder = Arc::new(TokenHolder { tenant, identity, one_tenant_per_domain });
        self.tokens.keep(token, CachedToken::new(&verifier, key, validity, &holder));
        Ok(holder)
    }

    /// Returns whether tenants register providers.
    pub fn has_registered_providers(&self) -> bool {
        matches!(self.issuers, Some(Issuers::Registered(_)))
    }

    /// Applies the registered providers and the closed tenants. Every token that is verified after the return obeys them.
    /// One call at a time: records that were read before a registration must not be applied after it.
    pub fn apply(&self, providers: Vec<ProviderRecord>, closed: &ClosedTenants) {
        let mut gone: HashSet<String> = closed.all().iter().cloned().collect();
        if let Some(Issuers::Registered(registered)) = &self.issuers {
            gone.extend(registered.replace(providers, closed));
        }
        for tenant in gone {
            self.tokens.forget(&tenant);
        }
    }

    /// Returns the number of tokens in memory.
    pub fn remembered(&self) -> usize {
        self.tokens.len()
    }
}

#[cfg(test)]
mod tests;
