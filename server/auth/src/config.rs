//! The settings of authentication.

use std::fmt;
use std::time::Duration;

use portcullis_model::provider::ClaimConfig;
use portcullis_model::sign_in::SignInIdentity;
use url::Url;

use crate::admin_keys::AdminKeys;

/// Most bytes of a token unless the operator says otherwise: a token with a hundred groups stays below half of it.
pub const MAX_TOKEN: usize = 16 * 1024;

/// The mode of the service: the source of tenants and of their tokens.
pub enum Mode {
    /// One identity provider, and every domain is a tenant. `None` when `OIDC_ENABLED` is false: bearer
    /// tokens are refused.
    Selfhost(Option<OidcConfig>),
    /// One identity provider, whose tokens all belong to `tenant`. Domains are a dimension inside it. `oidc` is as in
    /// `selfhost` mode.
    SingleTenant { tenant: String, oidc: Option<OidcConfig> },
    /// Each tenant has its own identity providers. The operator has keys.
    Saas { admin_keys: AdminKeys },
}

impl Mode {
    /// Returns whether the service accepts bearer tokens. Without them only service keys serve.
    pub fn has_tokens(&self) -> bool {
        !matches!(self, Self::Selfhost(None) | Self::SingleTenant { oidc: None, .. })
    }

    /// Returns whether a domain is a tenant.
    pub fn has_a_tenant_per_domain(&self) -> bool {
        matches!(self, Self::Selfhost(_))
    }

    /// Returns whether the service serves `tenant`: with a single tenant, no other one.
    pub fn serves(&self, tenant: &str) -> bool {
        match self {
            Self::SingleTenant { tenant: only, .. } => only == tenant,
            Self::Selfhost(_) | Self::Saas { .. } => true,
        }
    }
}

impl fmt::Debug for Mode {
    /// Shows the mode without the keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Selfhost(_) => "Selfhost",
            Self::SingleTenant { .. } => "SingleTenant",
            Self::Saas { .. } => "Saas",
        })
    }
}

/// An identity provider, and the claims of its tokens.
#[derive(Clone, Debug)]
pub struct OidcConfig {
    /// The `iss` that every token must have.
    pub issuer: String,
    /// The address of the key set; `None` takes it from the issuer's discovery document.
    pub jwks_uri: Option<Url>,
    /// The audience that `aud` must contain, if it is set.
    pub audience: Option<String>,
    pub claims: ClaimConfig,
}

/// The settings of the console.
#[derive(Clone, Debug)]
pub struct ConsoleConfig {
    /// The client at the one provider of `selfhost` mode, if it has one.
    pub client: Option<SignInClient>,
    /// Longest time of a session without a request.
    pub idle: Duration,
    /// Longest time of a session.
    pub longest: Duration,
    /// Whether links work without a public address: the service listens on a loopback address alone.
    pub is_local: bool,
}

/// The client of an identity provider by which people sign in.
#[derive(Clone)]
pub struct SignInClient {
    pub id: String,
    pub secret: Option<String>,
    /// The scopes, with spaces between them.
    pub scopes: String,
    pub audience: Option<String>,
    pub identity: SignInIdentity,
}

impl fmt::Debug for SignInClient {
    /// Shows the client without its secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, scopes, audience, identity, .. } = self;
        write!(f, "SignInClient({id}, {scopes}, {audience:?}, {identity:?})")
    }
}
