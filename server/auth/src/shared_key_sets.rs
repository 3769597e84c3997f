//! Key sets by address: all providers that name one address share its key set.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use portcullis_model::jitter::Jitter;
use url::Url;

use crate::keysets::{Fetch, KeySource, Refreshes};

/// A function that returns the fetch of a key set from an address that a tenant chose.
pub(crate) type KeyFetches = Box<dyn Fn(&Url) -> Fetch + Send + Sync>;

/// The key sets of providers. One that no provider has any more is dropped by [`SharedKeySets::tidy`].
pub(crate) struct SharedKeySets {
    fetches: KeyFetches,
    refreshes: Arc<Refreshes>,
    by_address: Mutex<HashMap<Url, KeySource>>,
}

impl fmt::Debug for SharedKeySets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedKeySets").finish_non_exhaustive()
    }
}

impl SharedKeySets {
    /// Returns no key sets yet.
    pub(crate) fn new(fetches: KeyFetches, jitter: Jitter) -> Self {
        let refreshes = Arc::new(Refreshes::new(jitter));
        Self { fetches, refreshes, by_address: Mutex::default() }
    }

    /// Returns the key set at `address`. The log names it by the `issuer` that was the first to name it.
    pub(crate) fn at(&self, address: &Url, issuer: &str) -> KeySource {
        let mut by_address = self.by_address.lock();
        if let Some(known) = by_address.get(address) {
            return known.clone();
        }
        let keys = KeySource::new(issuer, (self.fetches)(address), &self.refreshes);
        by_address.insert(address.clone(), keys.clone());
        keys
    }

    /// Drops the key sets that nobody has.
    pub(crate) fn tidy(&self) {
        self.by_address.lock().retain(|_, keys| !keys.is_unshared());
    }

    /// Returns the number of key sets.
    pub(crate) fn len(&self) -> usize {
        self.by_address.lock().len()
    }
}
