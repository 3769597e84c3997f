//! Whether SQLite can write its file: after a failure the next write and the readiness probe try it first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::transactions::error::StoreError;
use crate::transactions::sqlite_fault::sqlite_fault;

/// Remembers that a write failed because the file could not be written. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteFault(Arc<AtomicBool>);

impl WriteFault {
    /// Notes `error` if it says that the file cannot be written.
    pub(crate) fn note(&self, error: &StoreError) {
        if error.write_fault().is_some() {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the outcome of a statement, with its error noted.
    pub(crate) fn noting<T>(&self, outcome: Result<T, sqlx::Error>) -> Result<T, sqlx::Error> {
        outcome.inspect_err(|error| {
            if sqlite_fault(error).is_some() {
                self.0.store(true, Ordering::Relaxed);
            }
        })
    }

    pub(crate) fn is_noted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}
