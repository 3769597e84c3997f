//! Outgoing HTTP requests.
//!
//! A tenant chooses the address of a webhook or of a key set, and the service stands inside the operator's network. A
//! guarded [`Client`] goes only where the [`EgressRules`] allow.

mod client;

use portcullis_model::egress_rules::EgressRules;
use reqwest::Certificate;

pub use client::{Answer, Client, RequestError};
pub use reqwest::multipart;

/// The settings of outgoing requests that tenants cause.
#[derive(Clone, Debug, Default)]
pub struct EgressConfig {
    /// Where requests may go.
    pub rules: EgressRules,
    /// Certificates that are trusted besides those of the system.
    pub certificates: Vec<Certificate>,
}
