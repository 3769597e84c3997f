//! Who calls: credentials become verified callers, and the type of a handler's parameter says what right
//! the caller must have (semantics.md section 6).

mod keysets;
mod token;

use axum::extract::FromRequestParts;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName};
use http::request::Parts;
use portcullis_engine::{Caller, Json};

use crate::app::App;
use crate::config::OidcConfig;
use crate::error::ApiError;
use keysets::{KeySource, http_fetch};
use token::TokenError;
pub(crate) use token::Verifier;

const SERVICE_KEY: HeaderName = HeaderName::from_static("x-service-api-key");
const ADMIN_KEY: HeaderName = HeaderName::from_static("x-admin-api-key");

/// A verified token.
#[derive(Debug)]
pub(crate) struct Identity {
    /// `sub`
    pub(crate) subject: String,
    /// The domain claim.
    pub(crate) domain: String,
    /// The strings of the roles claim.
    pub(crate) roles: Vec<String>,
    /// The domains that the admin-domain claim names; `*` is every one.
    pub(crate) administers: Vec<String>,
    /// All claims.
    pub(crate) claims: Json<'static>,
}

impl Identity {
    /// The caller as decisions see it.
    pub(crate) fn caller(&self) -> Caller<'_> {
        Caller { subject: &self.subject, roles: &self.roles, claims: &self.claims }
    }

    /// Whether the admin-domain claim names `domain`.
    pub(crate) fn administers(&self, domain: &str) -> bool {
        self.administers.iter().any(|own| own == domain || own == "*")
    }
}

/// A caller with a token: may ask for decisions.
#[derive(Debug)]
pub(crate) struct TenantMember(pub(crate) Identity);

impl TenantMember {
    /// The tenant of a check in `domain`. In `selfhost` mode a domain is a tenant, so that a foreign
    /// one is open only to those who administer it.
    pub(crate) fn tenant_of<'d>(&self, domain: &'d str) -> Result<&'d str, ApiError> {
        if domain == self.0.domain || self.0.administers(domain) {
            return Ok(domain);
        }
        Err(ApiError::AccessDenied(format!(
            "domain `{domain}` is not the token's own, and its admin-domain claim does not name it"
        )))
    }
}

/// A caller who may change the rules of the tenant.
#[derive(Debug)]
pub(crate) struct TenantManager(pub(crate) Identity);

impl TenantManager {
    /// The tenant that is managed: always the token's own.
    pub(crate) fn tenant(&self) -> &str {
        &self.0.domain
    }

    /// The domain that a rule without one gets.
    pub(crate) fn domain(&self) -> &str {
        &self.0.domain
    }

    /// Who is written down as the author.
    pub(crate) fn actor(&self) -> &str {
        &self.0.subject
    }

    /// Refuses a rule in a domain that is another tenant's, unless the admin-domain claim names it;
    /// `*` is every domain of the own tenant (semantics.md section 10, "Domains").
    pub(crate) fn may_write_domain(&self, domain: &str) -> Result<(), ApiError> {
        if domain == "*" || domain == self.0.domain || self.0.administers(domain) {
            return Ok(());
        }
        Err(ApiError::AccessDenied(format!(
            "domain `{domain}` belongs to another tenant, and the token's admin-domain claim does not name it"
        )))
    }
}

impl FromRequestParts<App> for TenantMember {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let token = bearer_token(&parts.headers)?;
        let Some(verifier) = &app.verifier else {
            return Err(ApiError::TokenRefused("bearer tokens are switched off".to_owned()));
        };
        match verifier.verify(token, app.clock.now()).await {
            Ok(identity) => Ok(Self(identity)),
            Err(TokenError::Refused(why)) => Err(ApiError::TokenRefused(why)),
            Err(TokenError::NoKeys(why)) => {
                Err(ApiError::Unavailable("the identity provider's key set", why.into()))
            }
        }
    }
}

impl FromRequestParts<App> for TenantManager {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let TenantMember(identity) = TenantMember::from_request_parts(parts, app).await?;
        let by_role = identity.roles.iter().any(|role| app.manager_roles.contains(role));
        if by_role || identity.administers(&identity.domain) {
            return Ok(Self(identity));
        }
        Err(ApiError::AccessDenied(
            "managing needs a manager: a token with a manager role, or one whose admin-domain claim \
             names its domain"
                .to_owned(),
        ))
    }
}

/// The bearer token of a request that has exactly one credential.
fn bearer_token(headers: &HeaderMap) -> Result<&str, ApiError> {
    let sent = |name: &HeaderName| headers.get_all(name).iter().count();
    let (bearer, keys) = (sent(&AUTHORIZATION), sent(&SERVICE_KEY) + sent(&ADMIN_KEY));
    match (bearer, keys) {
        (1, 0) => {}
        (0, 0) => return Err(ApiError::NoCredential),
        (0, 1) => {
            return Err(ApiError::TokenRefused(
                "this route needs a bearer token, not a key".to_owned(),
            ));
        }
        _ => {
            return Err(ApiError::BadRequest(
                "more than one credential was sent: send exactly one".to_owned(),
            ));
        }
    }
    let value = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    value
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim_start())
        .ok_or_else(|| {
            ApiError::TokenRefused("the Authorization header is not `Bearer <token>`".to_owned())
        })
}

/// The verifier of the one provider that `config` names; its key set is fetched in the background.
pub(crate) fn selfhost_verifier(config: &OidcConfig) -> anyhow::Result<Verifier> {
    let keys = KeySource::new(http_fetch(&config.issuer, config.jwks_uri.clone())?);
    keys.refresh_in_background();
    Ok(Verifier::new(config.clone(), keys))
}
