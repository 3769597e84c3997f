//! The key of a plan.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use equivalent::Equivalent;

/// The key of a plan: its tenant and its resource.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) tenant: Arc<str>,
    pub(crate) resource: Arc<str>,
}

/// Looks a [`Key`] up without allocating one. Compares the whole fields, so different keys never match.
pub(crate) struct KeyRef<'k> {
    pub(crate) tenant: &'k str,
    pub(crate) resource: &'k str,
}

impl Hash for KeyRef<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tenant.hash(state);
        self.resource.hash(state);
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    #[inline]
    fn equivalent(&self, key: &Key) -> bool {
        *self.tenant == *key.tenant && *self.resource == *key.resource
    }
}
