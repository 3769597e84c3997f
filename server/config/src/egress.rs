//! The settings of outgoing requests that tenants cause.

use std::fmt::Display;

use portcullis_egress::EgressConfig;
use portcullis_model::egress_rules::EgressRules;
use reqwest::Certificate;

use crate::error::ConfigError;
use crate::variables::Variables;

impl Variables {
    /// Returns the addresses that requests may reach, and the certificates that they trust.
    pub fn egress(&self) -> Result<EgressConfig, ConfigError> {
        let allow_http = self.boolean("EGRESS_ALLOW_HTTP")?.unwrap_or(false);
        let allow = self.networks("EGRESS_ALLOW_CIDRS")?;
        let certificates = self.egress_certificates()?;
        let rules = EgressRules { allow_http, allow };
        Ok(EgressConfig { rules, certificates, ..EgressConfig::default() })
    }

    fn egress_certificates(&self) -> Result<Vec<Certificate>, ConfigError> {
        const NAME: &str = "EGRESS_CA_FILE";
        let Some(path) = self.get(NAME) else { return Ok(Vec::new()) };
        let unusable = |cause: &dyn Display| {
            ConfigError::unreadable_file(NAME, "a readable file in PEM", path, cause)
        };
        let text = std::fs::read(path).map_err(|error| unusable(&error))?;
        let certificates = Certificate::from_pem_bundle(&text).map_err(|error| unusable(&error))?;
        match certificates.is_empty() {
            true => Err(unusable(&"it has no certificate")),
            false => Ok(certificates),
        }
    }
}
