//! The key of a plan.

use std::sync::Arc;

use equivalent::Equivalent;

/// The key of a plan: its tenant and its resource.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) tenant: Arc<str>,
    pub(crate) resource: Arc<str>,
}

/// Looks a [`Key`] up without allocating one. Compares the whole fields, so different keys never match. The same
/// fields in the same order have the same hash.
#[derive(Hash)]
pub(crate) struct KeyRef<'k> {
    pub(crate) tenant: &'k str,
    pub(crate) resource: &'k str,
}

impl Equivalent<Key> for KeyRef<'_> {
    #[inline]
    fn equivalent(&self, key: &Key) -> bool {
        *self.tenant == *key.tenant && *self.resource == *key.resource
    }
}
