//! The facts about tenants that their plans share (`docs/semantics.md`, section 12).

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use portcullis_engine::{Plan, TenantFacts};

/// The number of tenants from which on the ones without plans are looked for.
const FEW: usize = 64;

/// The facts that plans in memory have, by tenant, so that the thousand plans of a tenant keep them once.
#[derive(Debug, Default)]
pub(crate) struct SharedFacts(Mutex<HashMap<Box<str>, Weak<TenantFacts>>>);

impl SharedFacts {
    /// Returns `plan` of `tenant` with the facts that another plan of the tenant has, if they are equal.
    pub(crate) fn shared_by(&self, tenant: &str, plan: Plan) -> Plan {
        match plan.facts().map(|facts| self.share(tenant, facts)) {
            Some(facts) => plan.with_facts(facts),
            None => plan,
        }
    }

    /// Returns the number of tenants.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Returns equal facts that another plan of the tenant has, or new ones.
    pub(crate) fn share(&self, tenant: &str, facts: &TenantFacts) -> Arc<TenantFacts> {
        let mut known = self.0.lock();
        let present = known.get(tenant).and_then(Weak::upgrade);
        if let Some(present) = present
            && (std::ptr::eq(&*present, facts) || *present == *facts)
        {
            return present;
        }
        // Only before the map would grow, so that the search costs little for each insert.
        if known.len() >= FEW && known.len() == known.capacity() {
            known.retain(|_, facts| facts.strong_count() > 0);
        }
        let facts = Arc::new(facts.clone());
        known.insert(tenant.into(), Arc::downgrade(&facts));
        facts
    }
}

#[cfg(test)]
mod tests {
    use portcullis_engine::Precedence;

    use super::*;

    #[test]
    fn plans_of_a_tenant_share_equal_facts() {
        let shared = SharedFacts::default();
        let facts =
            || TenantFacts { directory: Some(Precedence::Request), ..TenantFacts::default() };
        let first = shared.share("acme", &facts());
        assert!(Arc::ptr_eq(&first, &shared.share("acme", &facts())));
        assert!(!Arc::ptr_eq(&first, &shared.share("other", &facts())));
        let other = shared.share("acme", &TenantFacts::default());
        assert!(!Arc::ptr_eq(&first, &other));
    }

    #[test]
    fn tenants_without_plans_leave() {
        let shared = SharedFacts::default();
        for number in 0..10_000 {
            shared.share(&format!("t{number}"), &TenantFacts::default());
        }
        assert!(shared.0.lock().len() < 1_000);
    }
}
