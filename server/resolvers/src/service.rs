//! The one service type: what the rest of the server calls.

use std::ops::Deref;
use std::sync::Arc;

use portcullis_model::clock::Clock;
use portcullis_storage::Store;
use portcullis_storage::encryption::KeyRing;

use crate::Resolvers;
use crate::admission::Admissions;
use crate::loading::Loading;

/// Attribute resolvers in service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ResolverService(Arc<Parts>);

/// The parts of a [`ResolverService`].
#[derive(Debug)]
pub struct Parts {
    pub(crate) registry: Resolvers,
    pub(crate) loading: Loading,
    pub(crate) admissions: Admissions,
    pub(crate) store: Store,
    /// Encrypts secrets at rest.
    pub(crate) keys: KeyRing,
    pub(crate) clock: Clock,
}

impl ResolverService {
    /// A service without resolvers so far.
    pub fn new(registry: Resolvers, store: Store, keys: KeyRing, clock: Clock) -> Self {
        let (loading, admissions) = (Loading::default(), Admissions::default());
        Self(Arc::new(Parts { registry, loading, admissions, store, keys, clock }))
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.0
    }
}

impl Deref for ResolverService {
    type Target = Resolvers;

    fn deref(&self) -> &Resolvers {
        &self.0.registry
    }
}
