//! The settings of outgoing requests.

use portcullis_model::egress_rules::EgressRules;
use reqwest::Certificate;

use crate::names::Names;

/// The settings of outgoing requests that tenants cause.
#[derive(Clone, Debug, Default)]
pub struct EgressConfig {
    /// The addresses that requests may reach.
    pub rules: EgressRules,
    /// Certificates that are trusted besides the system's certificates.
    pub certificates: Vec<Certificate>,
    /// The names of hosts, which all clients of these settings look up together.
    pub names: Names,
}
