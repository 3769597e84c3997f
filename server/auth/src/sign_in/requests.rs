//! The requests of a sign-in.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use portcullis_egress::Client;
use url::Url;

use super::attempt::Attempt;
use super::callback::{Callback, checked_code};
use super::discovery::{Discoveries, Discovery};
use super::login::Login;
use super::outcome::{SignInError, SignInProvider};
use super::token_endpoint;
use crate::authenticator::Authenticator;
use crate::config::SignInClient;

/// Makes the requests of a sign-in.
#[derive(Debug)]
pub struct SignIns {
    client: Client,
    discoveries: Discoveries,
}

impl SignIns {
    /// Returns sign-ins whose requests `client` makes. It must be guarded if tenants choose the addresses.
    pub fn new(client: Client) -> Self {
        Self { client, discoveries: Discoveries::default() }
    }

    /// Returns what the discovery document of `issuer` says.
    ///
    /// # Errors
    /// It cannot be fetched, or is another issuer's.
    pub async fn discover(
        &self,
        tenant: &str,
        issuer: &str,
    ) -> Result<Arc<Discovery>, SignInError> {
        let client = self.client.for_tenant(tenant);
        self.discoveries.of(&client, tenant, issuer).await.map_err(SignInError::Provider)
    }

    /// Returns the address at the provider to which the browser goes with `attempt`.
    ///
    /// # Errors
    /// As for [`discover`](Self::discover).
    pub async fn authorization_url(
        &self,
        provider: &SignInProvider,
        attempt: &Attempt,
        redirect_uri: &str,
    ) -> Result<Url, SignInError> {
        let discovery = self.discover(attempt.tenant_text(), &provider.issuer).await?;
        let mut url = discovery.authorization_endpoint.clone();
        let SignInClient { id, scopes, audience, .. } = &provider.client;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", scopes)
            .append_pair("state", &attempt.state)
            .append_pair("nonce", &attempt.nonce)
            .append_pair("code_challenge", &attempt.challenge())
            .append_pair("code_challenge_method", "S256");
        if let Some(audience) = audience {
            url.query_pairs_mut().append_pair("audience", audience);
        }
        Ok(url)
    }

    /// Ends a sign-in: redeems the code of `callback`, and verifies the tokens.
    ///
    /// # Errors
    /// The callback does not fit the attempt, the provider refuses, or a token does not serve.
    pub async fn finish(
        &self,
        authenticator: &Authenticator,
        (provider, attempt): (&SignInProvider, &Attempt),
        callback: &Callback,
        redirect_uri: &str,
        now: DateTime<Utc>,
    ) -> Result<Login, SignInError> {
        let discovery = self.discover(attempt.tenant_text(), &provider.issuer).await?;
        let code = checked_code(callback, &discovery)?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", &*attempt.verifier),
        ];
        let client = self.client.for_tenant(attempt.tenant_text());
        let tokens = token_endpoint::request(&client, &discovery, &provider.client, &form).await?;
        Login::verify(authenticator, provider, tokens, Some(&attempt.nonce), now).await
    }

    /// Returns the tokens that come in the place of those with `refresh`. `None` if the provider does not renew them.
    ///
    /// # Errors
    /// The provider cannot be asked, or a token does not serve.
    pub async fn refresh(
        &self,
        authenticator: &Authenticator,
        (tenant, provider): (&str, &SignInProvider),
        refresh: &str,
        now: DateTime<Utc>,
    ) -> Result<Option<Login>, SignInError> {
        let discovery = self.discover(tenant, &provider.issuer).await?;
        let form = [("grant_type", "refresh_token"), ("refresh_token", refresh)];
        let client = self.client.for_tenant(tenant);
        let tokens = token_endpoint::request(&client, &discovery, &provider.client, &form).await;
        let mut tokens = match tokens {
            Ok(tokens) => tokens,
            Err(SignInError::Refused(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        // RFC 6749, 6: without a new refresh token the old one stays.
        tokens.refresh.get_or_insert_with(|| refresh.to_owned());
        Login::verify(authenticator, provider, tokens, None, now).await.map(Some)
    }
}
