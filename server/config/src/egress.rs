//! The settings of outgoing requests that tenants cause.

use portcullis_egress::EgressConfig;
use portcullis_engine::operator::parse_network;
use portcullis_model::egress_rules::EgressRules;
use reqwest::Certificate;

use crate::error::ConfigError;
use crate::variables::Variables;

impl Variables {
    /// Returns the addresses that requests may reach, and the certificates that they trust.
    pub fn egress(&self) -> Result<EgressConfig, ConfigError> {
        let allow_http = self.boolean("EGRESS_ALLOW_HTTP")?.unwrap_or(false);
        let networks = "networks such as `10.0.0.0/8,192.168.1.7`, with host bits zero";
        let allow = self.parsed("EGRESS_ALLOW_CIDRS", networks, |text| {
            text.split(',').map(|network| parse_network(network.trim())).collect()
        })?;
        let certificates = self.parsed("EGRESS_CA_FILE", "a readable file in PEM", |path| {
            let certificates = Certificate::from_pem_bundle(&std::fs::read(path).ok()?).ok()?;
            (!certificates.is_empty()).then_some(certificates)
        })?;
        let rules = EgressRules { allow_http, allow: allow.unwrap_or_default() };
        let certificates = certificates.unwrap_or_default();
        Ok(EgressConfig { rules, certificates, ..EgressConfig::default() })
    }
}
