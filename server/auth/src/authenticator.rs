//! Verifies bearer tokens in all modes.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use portcullis_egress::Client;
use portcullis_model::provider::ProviderRecord;
use portcullis_model::service_key::resembles_key;
use portcullis_storage::Store;
use uuid::Uuid;

use crate::callers::TokenHolder;
use crate::claims::Claims;
use crate::closed_tenants::ClosedTenants;
use crate::config::OidcConfig;
use crate::error::AuthError;
use crate::identity::Identity;
use crate::issuers::Issuers;
use crate::providers::Providers;
use crate::token::{Proof, Unverified, Validity};
use crate::token_cache::{CachedToken, TokenCache};
use crate::token_text::TokenText;

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
    /// Most bytes of a token.
    max_token: usize,
}

impl Authenticator {
    /// Returns a verifier for the one provider. All its tokens belong to `tenant`; `None` if the domain of a token is its
    /// tenant. A token has at most `max_token` bytes. It fetches the key set in the background.
    pub fn one(
        config: Option<&OidcConfig>,
        tenant: Option<&str>,
        max_token: usize,
    ) -> anyhow::Result<Self> {
        let issuer = config.map(|config| Issuers::one(config, tenant)).transpose()?;
        Ok(Self::new(issuer, max_token))
    }

    /// Returns a verifier for the providers that are registered in `store`. `client` fetches their key sets, and must be
    /// guarded. A token has at most `max_token` bytes.
    pub fn saas(client: Client, store: Store, max_token: usize) -> Self {
        Self::new(Some(Issuers::registered(client, store)), max_token)
    }

    pub(crate) fn new(issuers: Option<Issuers>, max_token: usize) -> Self {
        Self { issuers, tokens: TokenCache::default(), max_token }
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
        let presented = self.tokens.presented(token);
        if let Some(holder) = self.tokens.find(presented, |known| issuers.vouch_for(known, now)) {
            return Ok(holder);
        }
        // In a box, so that the request of a remembered token has no room for the state of a verification.
        Box::pin(self.verify_anew(issuers, presented, now)).await
    }

    /// Verifies `token`, and remembers it if it is good.
    async fn verify_anew(
        &self,
        issuers: &Issuers,
        token: TokenText<&str>,
        now: DateTime<Utc>,
    ) -> Result<Arc<TokenHolder>, AuthError> {
        let read = Unverified::read(token.text(), self.max_token)?;
        let (verifier, tenant) = issuers.choose(read.issuer()?).await?;
        let Proof { identity, key, validity } = verifier.verify(read, now).await?;
        let holder = Arc::new(holder_of(identity, tenant));
        self.tokens.keep(token, CachedToken::new(&verifier, key, validity, &holder));
        Ok(holder)
    }

    /// Returns the claims of a token that its issuer made for its client `client`, as an ID token or a logout token is. With
    /// `wants_identity` also the person that the claims are about, as the API would read an access token with them.
    ///
    /// # Errors
    /// As for [`verify`](Self::verify), and the token is for another client.
    pub(crate) async fn verify_for_client(
        &self,
        token: Unverified<'_>,
        client: &str,
        wants_identity: bool,
        now: DateTime<Utc>,
    ) -> Result<ClientToken, AuthError> {
        let Some(issuers) = &self.issuers else {
            return Err(AuthError::TokenRefused(SWITCHED_OFF.to_owned()));
        };
        let (verifier, tenant) = issuers.choose(token.issuer()?).await?;
        let claims = verifier.verify_for_client(token, client, now).await?;
        let holder = match wants_identity {
            true => {
                // Claims own their text, so that the identity needs a copy beside those that are returned.
                let copy = Claims::read(claims.text().to_vec());
                let identity = copy.map(|claims| verifier.identity(claims)).transpose()?;
                identity.map(|identity| Arc::new(holder_of(identity, tenant)))
            }
            false => None,
        };
        Ok(ClientToken { claims, holder })
    }

    /// Reads a token without a look at its signature.
    pub(crate) fn read<'t>(&self, token: &'t str) -> Result<Unverified<'t>, AuthError> {
        Unverified::read(token, self.max_token)
    }

    /// Returns the issuer that a token names, which chooses who verifies it.
    ///
    /// # Errors
    /// The text is not a token.
    pub fn issuer_of(&self, token: &str) -> Result<String, AuthError> {
        Ok(self.read(token)?.issuer()?.to_owned())
    }

    /// Returns the end of a verified token, in seconds since the epoch.
    pub(crate) fn end_of(&self, token: &str) -> Result<f64, AuthError> {
        Ok(Validity::from_claims(self.read(token)?.claims())?.end())
    }

    /// Returns which of `tenants` have identity providers in memory. The caller reads their records next.
    pub fn remembered_tenants<'t>(&self, tenants: &[&'t str]) -> Vec<&'t str> {
        self.registered().map_or_else(Vec::new, |registered| registered.remembered(tenants))
    }

    /// Applies what the store has of `tenants`, whose access changed: their providers and whether they are closed. Every
    /// token that is verified after the return obeys it. One call at a time: records that were read before a
    /// registration must not be applied after it.
    pub fn apply(&self, tenants: &[&str], providers: &[ProviderRecord], closed: &ClosedTenants) {
        let gone = self.registered().map(|known| known.apply(tenants, providers, closed));
        // No provider vouches for these tokens any more: this frees their memory.
        for tenant in gone.unwrap_or_default() {
            self.tokens.forget(&tenant);
        }
        for tenant in tenants.iter().filter(|tenant| closed.contains(tenant)) {
            self.tokens.forget(tenant);
        }
    }

    /// Forgets every registered provider, and the tokens of closed tenants: everything may have changed.
    pub fn forget_providers(&self, closed: &ClosedTenants) {
        let gone = self.registered().map(Providers::clear).unwrap_or_default();
        for tenant in gone.iter().chain(&*closed.all()) {
            self.tokens.forget(tenant);
        }
    }

    /// Forgets the providers that nobody used for an hour. Call it every minute. Returns the ids of the providers whose use
    /// should be noted in the store.
    pub fn tidy(&self) -> Vec<Uuid> {
        let (idle, used) = self.registered().map(Providers::tidy).unwrap_or_default();
        for tenant in idle {
            self.tokens.forget(&tenant);
        }
        used
    }

    /// Reads the providers of `issuers`, and fetches their key sets, so that their first tokens do not wait.
    pub async fn warm_up(&self, issuers: &[String]) {
        if let Some(registered) = self.registered() {
            registered.warm_up(issuers).await;
        }
    }

    fn registered(&self) -> Option<&Providers> {
        match &self.issuers {
            Some(Issuers::Registered(registered)) => Some(registered),
            _ => None,
        }
    }

    /// Returns the numbers of issuers and of key sets in memory.
    pub fn providers(&self) -> (usize, usize) {
        self.registered().map(Providers::len).unwrap_or_default()
    }

    /// Returns the number of tokens in memory.
    pub fn remembered(&self) -> usize {
        self.tokens.len()
    }
}

/// A verified token that is for a client.
pub(crate) struct ClientToken {
    pub(crate) claims: Claims,
    /// The person, if it was wanted.
    pub(crate) holder: Option<Arc<TokenHolder>>,
}

/// Returns the holder of a token of `tenant`; of the tenant that is its domain if it is `None`.
fn holder_of(identity: Identity, tenant: Option<String>) -> TokenHolder {
    let one_tenant_per_domain = tenant.is_none();
    let tenant = tenant.unwrap_or_else(|| identity.domain.clone());
    TokenHolder { tenant, identity, one_tenant_per_domain }
}

#[cfg(test)]
mod tests;
