//! The tenants whose resolvers may have changed in the store.

use std::collections::HashSet;
use std::mem;

use parking_lot::Mutex;

/// The resolvers that the reconciler must compare with the store.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Everything,
    Tenants(HashSet<String>),
}

impl Scope {
    /// Returns whether the resolvers of `tenant` are compared.
    pub(crate) fn covers(&self, tenant: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Tenants(tenants) => tenants.contains(tenant),
        }
    }
}

/// Collects the changed tenants until the reconciler takes them.
#[derive(Debug)]
pub(crate) struct ChangedTenants(Mutex<Scope>);

impl Default for ChangedTenants {
    /// At the start everything counts as changed.
    fn default() -> Self {
        Self(Mutex::new(Scope::Everything))
    }
}

impl ChangedTenants {
    /// Notes that something of `tenants` changed.
    pub(crate) fn note<'t>(&self, tenants: impl IntoIterator<Item = &'t str>) {
        if let Scope::Tenants(changed) = &mut *self.0.lock() {
            changed.extend(tenants.into_iter().map(str::to_owned));
        }
    }

    /// Notes that everything may have changed.
    pub(crate) fn note_everything(&self) {
        *self.0.lock() = Scope::Everything;
    }

    /// Returns what changed since the last call.
    pub(crate) fn take(&self) -> Scope {
        mem::replace(&mut *self.0.lock(), Scope::Tenants(HashSet::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_changes_include_changes_made_meanwhile() {
        let changed = ChangedTenants::default();
        changed.note(["a"]);
        assert_eq!(changed.take(), Scope::Everything, "the start");
        assert_eq!(changed.take(), Scope::Tenants(HashSet::new()));
        changed.note(["a", "b"]);
        changed.note(["a"]);
        let scope = changed.take();
        assert!(scope.covers("a") && scope.covers("b") && !scope.covers("c"));
        changed.note(["a"]);
        changed.note_everything();
        assert!(changed.take().covers("c"));
    }
}
