//! The closed tenants, in memory: a check must not read the store.

use std::collections::HashSet;
use std::sync::Arc;

use arc_swap::ArcSwap;

use crate::error::AuthError;

/// The tenants that the operator suspended or is deleting. Their credentials are refused (`docs/semantics.md`, section
/// 6.9).
#[derive(Debug, Default)]
pub struct ClosedTenants(ArcSwap<HashSet<String>>);

impl ClosedTenants {
    /// Replaces the closed tenants by `tenants`.
    pub fn replace(&self, tenants: HashSet<String>) {
        self.0.store(Arc::new(tenants));
    }

    /// Returns the closed tenants.
    pub fn all(&self) -> Arc<HashSet<String>> {
        self.0.load_full()
    }

    /// Refuses a credential of `tenant` if the tenant is closed.
    pub fn must_be_open(&self, tenant: &str) -> Result<(), AuthError> {
        if self.contains(tenant) { Err(AuthError::TenantSuspended) } else { Ok(()) }
    }

    /// Returns whether `tenant` is closed.
    pub fn contains(&self, tenant: &str) -> bool {
        self.0.load().contains(tenant)
    }
}
