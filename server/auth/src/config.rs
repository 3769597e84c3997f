//! Settings that say whose tokens count.

use std::fmt;

use portcullis_model::provider::ClaimConfig;
use url::Url;

/// Who the tenants are.
#[derive(Clone)]
pub enum Mode {
    /// One identity provider, and every domain is a tenant. `None` when `OIDC_ENABLED` is false: bearer
    /// tokens are refused.
    Selfhost(Option<OidcConfig>),
    /// Tenants bring their providers; the operator has a key.
    Saas { admin_key: String },
}

impl fmt::Debug for Mode {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Selfhost(_) => "Selfhost",
            Self::Saas { .. } => "Saas",
        })
    }
}

/// An identity provider and how its tokens are read.
#[derive(Clone, Debug)]
pub struct OidcConfig {
    /// What every token's `iss` must equal.
    pub issuer: String,
    /// `None`: from the issuer's discovery document.
    pub jwks_uri: Option<Url>,
    /// What `aud` must hold, when set.
    pub audience: Option<String>,
    pub claims: ClaimConfig,
}
