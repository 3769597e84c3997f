//! The mode, its tenants and its identity provider.

use portcullis_auth::{Mode, OidcConfig};
use portcullis_engine::names::names;
use portcullis_engine::rbac::{MAX_DOMAIN, WILDCARD};
use portcullis_model::provider::{ClaimConfig, RolesFormat};
use url::Url;

use crate::error::ConfigError;
use crate::variables::Variables;

/// Reads the mode and its settings.
pub(crate) fn read(variables: &Variables) -> Result<Mode, ConfigError> {
    let single_tenant = single_tenant(variables)?;
    if variables.is_saas()? {
        if single_tenant.is_some() {
            let expected =
                "no value with `MODE=saas`, where the issuer of a token decides its tenant";
            return Err(ConfigError::new("SINGLE_TENANT", expected));
        }
        if variables.boolean("OIDC_ENABLED")? == Some(false) {
            let expected = "no `false` with `MODE=saas`, where tokens come from the providers that the operator registers";
            return Err(ConfigError::new("OIDC_ENABLED", expected));
        }
        return Ok(Mode::Saas { admin_keys: variables.admin_keys()? });
    }
    let oidc = oidc(variables)?;
    Ok(match single_tenant {
        Some(tenant) => Mode::SingleTenant { tenant, oidc },
        None => Mode::Selfhost(oidc),
    })
}

/// Reads the tenant of all tokens, if there is only one. Its name could also be a domain.
fn single_tenant(variables: &Variables) -> Result<Option<String>, ConfigError> {
    let expected = format!(
        "the name of a tenant: 1 to {MAX_DOMAIN} characters, not `*`, without control characters"
    );
    variables.parsed("SINGLE_TENANT", &expected, |text| {
        let is_name = text.chars().count() <= MAX_DOMAIN
            && text != WILDCARD
            && !text.contains(char::is_control);
        is_name.then(|| text.to_owned())
    })
}

impl Variables {
    /// Returns the only tenant that the service serves, if `SINGLE_TENANT` names one.
    pub fn only_tenant(&self) -> Result<Option<String>, ConfigError> {
        if self.is_saas()? { Ok(None) } else { single_tenant(self) }
    }
}

/// Reads the identity provider of `selfhost` mode; `None` when bearer tokens are off.
fn oidc(variables: &Variables) -> Result<Option<OidcConfig>, ConfigError> {
    if variables.boolean("OIDC_ENABLED")? == Some(false) {
        return Ok(None);
    }
    let issuer = "the issuer of your tokens (or OIDC_ENABLED=false)";
    let issuer = variables.required("AUTH_SERVER_URL", issuer)?;
    http_url(issuer)
        .ok_or_else(|| ConfigError::new("AUTH_SERVER_URL", "an http or https URL").not(issuer))?;
    let default = ClaimConfig::default();
    Ok(Some(OidcConfig {
        // As it is written: `iss` must be this very text, and a parsed URL may have another one.
        issuer: issuer.to_owned(),
        jwks_uri: variables.parsed("JWKS_URI", "an http or https URL", http_url)?,
        audience: variables.get("OIDC_AUDIENCE").map(str::to_owned),
        claims: ClaimConfig {
            roles_claim: variables.text("ROLES_CLAIM", default.roles_claim),
            domain_claim: variables.text("DOMAIN_CLAIM", default.domain_claim),
            admin_domain_claim: variables.text("ADMIN_DOMAIN_CLAIM", default.admin_domain_claim),
            roles_format: roles_format(variables)?,
        },
    }))
}

/// Reads the form of the claim of roles.
fn roles_format(variables: &Variables) -> Result<RolesFormat, ConfigError> {
    let names: Vec<String> = names::<RolesFormat>().map(|name| format!("`{name}`")).collect();
    let format =
        variables.parsed("ROLES_FORMAT", &format!("one of {}", names.join(", ")), |text| {
            text.parse().ok()
        })?;
    Ok(format.unwrap_or_default())
}

fn http_url(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}
