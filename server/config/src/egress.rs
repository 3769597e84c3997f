//! The settings of outgoing requests that tenants cause.

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
        let certificates = self.parsed("EGRESS_CA_FILE", "a readable file in PEM", |path| {
            let certificates = Certificate::from_pem_bundle(&std::fs::read(path).ok()?).ok()?;
            (!certificates.is_empty()).then_some(certificates)
        })?;
        let rules = EgressRules { allow_http, allow };
        let certificates = certificates.unwrap_or_default();
        Ok(EgressConfig { rules, certificates, ..EgressConfig::default() })
    }
}
