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
    let refused = |why: String| Err(SignInError::Refused(why));
    match &callback.iss {
        Some(iss) if *iss != discovery.issuer => {
            return refused("the answer comes from another identity provider".to_owned());
        }
        None if discovery.names_issuer => {
            return refused("the answer does not name its identity provider".to_owned());
        }
        _ => {}
    }
    if let Some(error) = &callback.error {
        return refused(format!("the identity provider answers {}", quoted(error)));
    }
    callback
        .code
        .as_deref()
        .ok_or_else(|| SignInError::Refused("the answer has no code".to_owned()))
}

/// Returns the attempt that the browser keeps for the state of `callback`.
///
/// # Errors
/// There is none, it is another one's or it began too long ago.
pub fn attempt_of(
    keys: &KeyRing,
    callback: &Callback,
    sealed: Option<&str>,
    now: DateTime<Utc>,
) -> Result<Attempt, SignInError> {
    let refused = |why: &str| SignInError::Refused(why.to_owned());
    let state = callback.state.as_deref().ok_or_else(|| refused("the answer has no state"))?;
    let sealed = sealed.ok_or_else(|| refused("this browser has not begun this sign-in"))?;
    let attempt = Attempt::open(keys, state, sealed)
        .ok_or_else(|| refused("this browser has not begun this sign-in"))?;
    if !attempt.is_young(now) {
        return Err(refused("the sign-in took too long"));
    }
    Ok(attempt)
}
