//! The log line about the settings that decide whose data the service serves.

use portcullis_auth::{Mode, OidcConfig};
use portcullis_config::{Config, without_password};

/// The fault of a service where [`Config::nobody_signs_in`].
pub(crate) const NO_PUBLIC_URL: &str = "CONSOLE_CLIENT_ID needs PUBLIC_URL, to which the identity provider sends people back: without it \
                                        nobody signs in to the console there";

/// Logs the mode, the tenant of `SINGLE_TENANT`, the URL of the database without its password, the issuer of tokens, or the
/// source of issuers, and the place of the record of decisions. None is a secret. The lines of the listeners follow.
pub(crate) fn log_settings(config: &Config) {
    let (mode, tenant, issuer) = match &config.mode {
        Mode::Selfhost(oidc) => ("selfhost", None, issuer(oidc.as_ref())),
        Mode::SingleTenant { tenant, oidc } => ("selfhost", Some(tenant), issuer(oidc.as_ref())),
        Mode::Saas { .. } => ("saas", None, "those that tenants register".to_owned()),
    };
    let database = without_password(&config.database_url);
    let record = config.decision_log.as_ref().map(|record| record.place.to_string());
    let decisions = record.unwrap_or_else(|| "off".to_owned());
    tracing::info!(mode, tenant, database, issuer, decisions, "starting");
    if config.nobody_signs_in() {
        tracing::warn!("{NO_PUBLIC_URL}");
    }
    for name in &config.ignored_proxies {
        tracing::warn!("`{name}` is ignored: the service uses no proxy");
    }
}

fn issuer(oidc: Option<&OidcConfig>) -> String {
    oidc.map_or_else(
        || "none: OIDC_ENABLED is false".to_owned(),
        |oidc| without_password(&oidc.issuer),
    )
}
