//! The caller that a token proves.

use portcullis_engine::{Caller, Json};

/// A verified token.
#[derive(Debug)]
pub struct Identity {
    /// `sub`
    pub subject: String,
    /// The domain claim.
    pub domain: String,
    /// The strings of the roles claim.
    pub roles: Vec<String>,
    /// The domains that the admin-domain claim names; `*` is every one.
    pub administers: Vec<String>,
    /// All claims.
    pub claims: Json<'static>,
}

impl Identity {
    /// The caller as decisions see it.
    pub fn caller(&self) -> Caller<'_> {
        Caller { subject: &self.subject, roles: &self.roles, claims: &self.claims }
    }

    /// Whether the admin-domain claim names `domain`.
    pub fn administers(&self, domain: &str) -> bool {
        names(&self.administers, domain)
    }
}

pub(crate) fn names(domains: &[String], domain: &str) -> bool {
    domains.iter().any(|own| own == domain || own == "*")
}
