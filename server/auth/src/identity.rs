//! The identity that a token proves.

use portcullis_engine::Caller;

use crate::claims::Claims;

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
    pub claims: Claims,
}

impl Identity {
    /// Returns the caller of a check.
    pub fn caller(&self) -> Caller<'_> {
        Caller { subject: &self.subject, roles: &self.roles, claims: self.claims.tree() }
    }

    /// Returns the bytes of the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let texts = [&self.subject, &self.domain].into_iter();
        let lists = self.roles.iter().chain(&self.administers);
        let slots = self.roles.capacity() + self.administers.capacity();
        texts.chain(lists).map(String::len).sum::<usize>()
            + slots * size_of::<String>()
            + self.claims.heap_bytes()
    }

    /// Returns whether the admin-domain claim names `domain`.
    pub fn administers(&self, domain: &str) -> bool {
        self.administers.iter().any(|own| own == domain || own == "*")
    }
}
