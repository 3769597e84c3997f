//! The error of authentication and authorization.

use std::error::Error;

use portcullis_model::service_key::Permission;
use portcullis_storage::StoreError;

/// The reason why a credential proves no caller, or why a caller does not have the right.
#[derive(Debug)]
pub enum AuthError {
    /// The token is bad; the text says why and never holds the token.
    TokenRefused(String),
    /// The key is bad, or the route does not accept keys; the text never holds the key.
    CredentialRefused(String),
    /// The caller does not have the right.
    AccessDenied(String),
    /// The caller has no domain, and the check names none.
    DomainMissing,
    /// The credential is good, but the operator suspended its tenant, or is deleting it.
    TenantSuspended,
    /// The closed tenants were not read for so long that the tenant may be closed.
    TenantsUnknown,
    /// The key set of the identity provider is not available; the text is for the log.
    NoKeys(String),
    /// The store failed.
    Store(StoreError),
    /// A task failed; the cause is for the log alone.
    Internal(Box<dyn Error + Send + Sync>),
}

impl AuthError {
    /// Returns the error of every key that the store does not have, whatever the reason.
    pub(crate) fn unknown_key() -> Self {
        Self::CredentialRefused("the service key is unknown or revoked".to_owned())
    }

    /// Returns the error of a token whose issuer is not registered.
    pub(crate) fn unknown_issuer() -> Self {
        let why = "the claim `iss` names an issuer that is not registered here";
        Self::TokenRefused(why.to_owned())
    }
}

/// Refuses a token.
pub(crate) fn refused<T>(why: impl Into<String>) -> Result<T, AuthError> {
    Err(AuthError::TokenRefused(why.into()))
}

/// Refuses a caller with `permissions` who does not have `permission`.
pub(crate) fn must_have(
    permissions: &[Permission],
    permission: Permission,
) -> Result<(), AuthError> {
    if permissions.contains(&permission) {
        return Ok(());
    }
    Err(AuthError::AccessDenied(format!(
        "the service key does not have the permission `{}`",
        permission.into_str()
    )))
}

impl From<StoreError> for AuthError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
