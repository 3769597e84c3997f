//! The reasons why a token proves no identity.

use crate::error::AuthError;
use crate::keysets::NoKeys;

/// The reason why a token proves no identity.
#[derive(Debug)]
pub(crate) enum TokenError {
    /// The token is bad. The text is for the client.
    Refused(String),
    /// The issuer's keys could not be fetched. The text is for the log.
    NoKeys(String),
}

impl From<NoKeys> for TokenError {
    fn from(error: NoKeys) -> Self {
        Self::NoKeys(error.to_string())
    }
}

impl From<TokenError> for AuthError {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Refused(why) => Self::TokenRefused(why),
            TokenError::NoKeys(why) => Self::NoKeys(why),
        }
    }
}

impl TokenError {
    /// Returns the error of a token whose issuer is not registered.
    pub(crate) fn unknown_issuer() -> Self {
        Self::Refused("the claim `iss` names an issuer that is not registered here".to_owned())
    }
}

/// Refuses a token.
pub(super) fn refused<T>(why: impl Into<String>) -> Result<T, TokenError> {
    Err(TokenError::Refused(why.into()))
}
