//! RBAC: each field of a rule is a number, and the four numbers are the key of one table.

use super::{Hashed, Symbols};
use crate::model::SampleRule;
use crate::plain_request::{PlainRequest, PlainScalar};

#[derive(Default)]
pub(super) struct RuleTable {
    principals: Symbols,
    domains: Symbols,
    resources: Symbols,
    actions: Symbols,
    allows: Hashed<[u32; 4], bool>,
}

impl RuleTable {
    pub(super) fn new(rules: &[SampleRule]) -> Self {
        let mut table = Self::default();
        for rule in rules {
            let key = [
                table.principals.intern(&rule.sub),
                table.domains.intern(&rule.dom),
                table.resources.intern(&rule.obj),
                table.actions.intern(&rule.act),
            ];
            *table.allows.entry(key).or_insert(true) &= rule.allow;
        }
        table
    }

    /// Returns false if a rule denies, else true if a rule allows.
    pub(super) fn decide(&self, request: &PlainRequest<'_>) -> Option<bool> {
        let resource = self.resources.get(request.resource)?;
        let domain = self.domains.get(request.domain)?;
        let action = self.actions.get(request.action)?;
        let mut decision = None;
        let roles = request.attributes.user.0.iter().find(|(name, _)| *name == "roles");
        let roles: &[&str] = match roles {
            Some((_, PlainScalar::Texts(roles))) => roles,
            _ => &[],
        };
        for principal in [request.subject].iter().chain(roles) {
            let Some(principal) = self.principals.get(principal) else { continue };
            match self.allows.get(&[principal, domain, resource, action]) {
                Some(false) => return Some(false),
                Some(true) => decision = Some(true),
                None => {}
            }
        }
        decision
    }
}
