//! Verifies credentials, and turns them into callers with rights (`docs/semantics.md`, section 6). It knows no HTTP
//! server: it takes the text of a credential.

mod admin_keys;
mod authenticator;
mod callers;
mod closed_tenants;
mod config;
mod error;
mod identity;
mod keysets;
mod providers;
mod service_keys;
mod token;

pub use admin_keys::AdminKeys;
pub use authenticator::Authenticator;
pub use callers::{Manager, TokenHolder};
pub use closed_tenants::ClosedTenants;
pub use config::{Mode, OidcConfig};
pub use error::AuthError;
pub use identity::Identity;
pub use keysets::FETCH_TIMEOUT;
pub use providers::Providers;
pub use service_keys::authenticate_key;

/// The author of changes that the operator makes with the admin key or on the command line.
pub const ADMIN_ACTOR: &str = "admin";
