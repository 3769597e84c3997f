//! The identity that a token proves.

use portcullis_engine::{Caller, Json};

/// A verified token.
#[derive(Debug)]
pub struct Identity {
    /// The `sub` claim.
    pub subject: String,
    /// The domain claim.
    pub domain: String,
    /// The strings of the roles claim.
    pub roles: Vec<String>,
    /// The domains that the admin-domain claim names; `*` is every domain.
    pub administers: Vec<String>,
    /// All claims.
    pub claims: Json<'static>,
}

impl Identity {
    /// Returns the caller of a check.
    pub fn caller(&self) -> Caller<'_> {
        Caller { subject: &self.subject, roles: &self.roles, claims: &self.claims }
    }

    /// Returns whether the admin-domain claim names `domain`.
    pub fn administers(&self, domain: &str) -> bool {
        self.administers.iter().any(|own| own == domain || own == "*")
    }
}
