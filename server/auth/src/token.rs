//! Verifies a JWT (RFC 7519) against the key set of its issuer.
//!
//! The key checks only the signature. This module checks the size, the header and the one key that may verify the
//! token before the signature, and every claim after it, at a given instant.

mod claims;
mod unverified;
mod validity;

use chrono::{DateTime, Utc};
use portcullis_engine::request::claimed_roles;

use crate::claims::Claims;
use crate::config::OidcConfig;
use crate::error::{AuthError, refused};
use crate::identity::Identity;
use crate::keysets::{KeySource, UsedKey};
use claims::{check_audience, missing, one_domain, roles_of, short_claim};
use unverified::Signed;
pub(crate) use unverified::Unverified;
pub(crate) use validity::Validity;

/// The verifier of the tokens of one provider. A changed provider gets another verifier.
#[derive(Debug)]
pub(crate) struct Verifier {
    config: OidcConfig,
    keys: KeySource,
}

/// Everything that a verified token proves, and that the proof depends on.
#[derive(Debug)]
pub(crate) struct Proof {
    pub(crate) identity: Identity,
    /// The key that verified the signature.
    pub(crate) key: UsedKey,
    pub(crate) validity: Validity,
}

/// A token whose issuer, signature and times are good.
struct Checked {
    claims: Claims,
    key: UsedKey,
    validity: Validity,
}

impl Verifier {
    /// Returns the verifier of tokens that `config` describes.
    pub(crate) fn new(config: OidcConfig, keys: KeySource) -> Self {
        Self { config, keys }
    }

    /// Returns the issuer of the tokens.
    pub(crate) fn issuer(&self) -> &str {
        &self.config.issuer
    }

    /// Fetches the key set unless it is in memory.
    pub(crate) async fn warm_up(&self) {
        self.keys.warm_up().await;
    }

    /// Returns whether `key` would be used again: it is still the one key of the issuer that fits.
    pub(crate) fn has(&self, key: &UsedKey) -> bool {
        self.keys.has(key)
    }

    /// Returns the proof of `token` at `now`. The token is read already if its issuer chose this verifier.
    pub(crate) async fn verify(
        &self,
        token: Unverified<'_>,
        now: DateTime<Utc>,
    ) -> Result<Proof, AuthError> {
        let Checked { claims, key, validity } = self.check(token, now).await?;
        if let Some(audience) = &self.config.audience {
            check_audience(claims.tree(), audience)?;
        }
        Ok(Proof { identity: self.identity(claims)?, key, validity })
    }

    /// Returns the claims of a token that the provider made for its client `client`.
    pub(crate) async fn verify_for_client(
        &self,
        token: Unverified<'_>,
        client: &str,
        now: DateTime<Utc>,
    ) -> Result<Claims, AuthError> {
        let Checked { claims, .. } = self.check(token, now).await?;
        check_audience(claims.tree(), client)?;
        Ok(claims)
    }

    /// Checks the issuer, the signature and the times of a token.
    async fn check(&self, token: Unverified<'_>, now: DateTime<Utc>) -> Result<Checked, AuthError> {
        if token.issuer()? != self.config.issuer {
            return Err(AuthError::unknown_issuer());
        }
        let key = self.verify_signature(token.signed).await?;
        let validity = Validity::from_claims(token.claims.tree())?;
        validity.check(now)?;
        Ok(Checked { claims: token.claims, key, validity })
    }

    /// Verifies that the one matching key has signed the token, and returns the key. It does not check the payload.
    async fn verify_signature(&self, signed: Signed<'_>) -> Result<UsedKey, AuthError> {
        let Signed { algorithm, kid, message, signature } = signed;
        let Some(key) = self.keys.find(algorithm, kid).await? else {
            return refused(
                "the issuer's key set does not have exactly one key that matches the token",
            );
        };
        if !key.has_signed(message, signature) {
            return refused("the signature does not match");
        }
        Ok(key)
    }

    /// Returns the identity that the claims of a verified token are about.
    pub(crate) fn identity(&self, claims: Claims) -> Result<Identity, AuthError> {
        let tree = claims.tree();
        let config = &self.config.claims;
        let roles = tree.claim(&config.roles_claim);
        let roles = roles.and_then(|claim| roles_of(claim, config.roles_format));
        let Some(roles) = roles else {
            return refused(missing(&config.roles_claim));
        };
        let administers =
            tree.claim(&config.admin_domain_claim).and_then(claimed_roles).unwrap_or_default();
        Ok(Identity {
            subject: short_claim(tree, "sub")?.to_owned(),
            domain: one_domain(tree, &config.domain_claim)?.to_owned(),
            roles,
            administers,
            claims,
        })
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wycheproof;
