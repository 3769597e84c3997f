//! The erasures of persons that this process was asked for.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The most persons whose names are in memory. The records of others are found by reading all records of the tenant.
const MAX_NAMES: usize = 1_000;

/// The erasures of persons that this process was asked for.
#[derive(Debug, Default)]
pub(crate) struct Erasures {
    /// By tenant and code of the subject: the database does not name the persons, and a name finds records faster.
    names: Mutex<BTreeMap<(String, Vec<u8>), String>>,
    /// There is one that is not done.
    pub(crate) due: Notify,
    /// One is done.
    pub(crate) done: Notify,
}

impl Erasures {
    /// Remembers the name of a person.
    pub(crate) fn add(&self, tenant: &str, code: &[u8], subject: &str) {
        let mut names = self.names.lock();
        if names.len() < MAX_NAMES {
            names.insert((tenant.to_owned(), code.to_owned()), subject.to_owned());
        }
    }

    /// Returns the name of a person, if it is known.
    pub(crate) fn name(&self, tenant: &str, code: &[u8]) -> Option<String> {
        self.names.lock().get(&(tenant.to_owned(), code.to_owned())).cloned()
    }

    /// Forgets the person, whose erasure is done.
    pub(crate) fn end(&self, tenant: &str, code: &[u8]) {
        self.names.lock().remove(&(tenant.to_owned(), code.to_owned()));
        self.done.notify_waiters();
    }
}
