//! The answer that the browser brings back from a provider.

use chrono::{DateTime, Utc};
use portcullis_engine::excerpt::quoted;
use portcullis_storage::encryption::KeyRing;

use super::attempt::Attempt;
use super::discovery::Discovery;
use super::outcome::SignInError;

/// The answer that the browser brings back from the provider.
#[derive(Clone, Debug, Default)]
pub struct Callback {
    pub code: Option<String>,
    pub state: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
}

/// Returns the code of a callback that comes from the provider itself.
pub(super) fn checked_code<'c>(
    callback: &'c Callback,
    discovery: &Discovery,
) -> Result<&'c str, SignInError> {
    // First: the answer of another provider says nothing about this sign-in (RFC 9207).
    match &callback.iss {
        Some(iss) if *iss != discovery.issuer => {
            return Err(refused("the answer comes from another identity provider"));
        }
        None if discovery.names_issuer => {
            return Err(refused("the answer does not name its identity provider"));
        }
        _ => {}
    }
    if let Some(error) = &callback.error {
        return Err(refused(format!("the identity provider answers {}", quoted(error))));
    }
    callback.code.as_deref().ok_or_else(|| refused("the answer has no code"))
}

fn refused(why: impl Into<String>) -> SignInError {
    SignInError::Refused(why.into())
}

/// Returns the attempt that the browser keeps for the state of `callback`.
///
/// # Errors
/// The browser keeps no attempt, or another one, or it began too long ago.
pub fn attempt_of(
    keys: &KeyRing,
    callback: &Callback,
    sealed: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Attempt, SignInError> {
    let state = callback.state.as_deref().ok_or_else(|| refused("the answer has no state"))?;
    let sealed = sealed.ok_or_else(|| refused("this browser has not begun this sign-in"))?;
    let attempt = Attempt::open(keys, state, sealed)
        .ok_or_else(|| refused("this browser has not begun this sign-in"))?;
    if !attempt.is_young(now) {
        return Err(refused("the sign-in took too long"));
    }
    Ok(attempt)
}
