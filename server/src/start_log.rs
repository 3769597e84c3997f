//! The log line about the settings that decide whose data the service serves.

use portcullis_auth::{Mode, OidcConfig};
use portcullis_config::{Config, without_password};

/// Logs the mode, the tenant of `SINGLE_TENANT`, the URL of the database without its password, and the issuer of tokens, or the
/// source of issuers. None is a secret. The lines of the listeners follow.
pub(crate) fn log_settings(config: &Config) {
    let (mode, tenant, issuer) = match &config.mode {
        Mode::Selfhost(oidc) => ("selfhost", None, issuer(oidc.as_ref())),
        Mode::SingleTenant { tenant, oidc } => ("selfhost", Some(tenant), issuer(oidc.as_ref())),
        Mode::Saas { .. } => ("saas", None, "those that tenants register".to_owned()),
    };
    let database = without_password(&config.database_url);
    tracing::info!(mode, tenant, database, issuer, "starting");
}

fn issuer(oidc: Option<&OidcConfig>) -> String {
    oidc.map_or_else(
        || "none: OIDC_ENABLED is false".to_owned(),
        |oidc| without_password(&oidc.issuer),
    )
}
