//! The log line about the settings that decide whose data the service serves.

use portcullis_auth::{Mode, OidcConfig};
use portcullis_config::{Config, without_password};

/// The settings that the start logs. None is a secret.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StartSettings {
    mode: &'static str,
    /// The tenant of `SINGLE_TENANT`.
    tenant: Option<String>,
    /// The URL of the database, without its password.
    database: String,
    /// The issuer of tokens, or the source of issuers.
    issuer: String,
}

impl StartSettings {
    pub(crate) fn new(config: &Config) -> Self {
        let (mode, tenant, issuer) = match &config.mode {
            Mode::Selfhost(oidc) => ("selfhost", None, issuer(oidc.as_ref())),
            Mode::SingleTenant { tenant, oidc } => {
                ("selfhost", Some(tenant.clone()), issuer(oidc.as_ref()))
            }
            Mode::Saas { .. } => ("saas", None, "those that tenants register".to_owned()),
        };
        Self { mode, tenant, database: without_password(&config.database_url), issuer }
    }

    /// Writes the line. The lines of the listeners follow it.
    pub(crate) fn log(&self) {
        let Self { mode, tenant, database, issuer } = self;
        tracing::info!(mode, tenant, database, issuer, "starting");
    }
}

fn issuer(oidc: Option<&OidcConfig>) -> String {
    oidc.map_or_else(
        || "none: OIDC_ENABLED is false".to_owned(),
        |oidc| without_password(&oidc.issuer),
    )
}
