//! The sign-in of people at an identity provider: OpenID Connect Core 1.0, section 3.1, with PKCE (RFC 7636) and `iss` (RFC
//! 9207). Three requests go out: for the discovery document, for tokens and, like everywhere, for the key set.

mod attempt;
mod callback;
mod discovery;
mod login;
mod outcome;
mod requests;
mod token_endpoint;

pub use attempt::{Attempt, LIFETIME as ATTEMPT_LIFETIME, name_hash};
pub use callback::{Callback, attempt_of};
pub use discovery::Discovery;
pub use login::{Login, LogoutClaims, logout_claims};
pub use outcome::{SignInError, SignInProvider};
pub use requests::SignIns;
pub use token_endpoint::Tokens;

#[cfg(test)]
mod tests;
