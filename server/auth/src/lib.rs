//! Verifies credentials, and turns them into callers with rights (`docs/semantics.md`, section 6). It knows no HTTP
//! server: it takes the text of a credential.

mod admin_keys;
mod authenticator;
mod callers;
mod check_caller;
mod claims;
mod closed_tenants;
mod config;
mod error;
mod identity;
mod issuers;
mod key_cache;
mod keysets;
mod providers;
mod service_keys;
mod shared_key_sets;
pub mod sign_in;
#[cfg(test)]
mod testing;
mod token;
mod token_cache;
mod token_text;
mod verified_key;

pub use admin_keys::AdminKeys;
pub use authenticator::Authenticator;
pub use callers::{Manager, TokenHolder};
pub use check_caller::CheckCaller;
pub use claims::Claims;
pub use closed_tenants::ClosedTenants;
pub use config::{ConsoleConfig, MAX_TOKEN, Mode, OidcConfig, SignInClient};
pub use error::AuthError;
pub use identity::Identity;
pub use keysets::{FETCH_TIMEOUT, fetch_keys};
pub use service_keys::{ServiceKeys, parse_key};
pub use verified_key::VerifiedKey;
