//! Whether SQLite can write its file: after a failure the next write and the readiness probe try it first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::StoreError;

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

/// Returns what keeps SQLite from writing, by the code of the error (<https://www.sqlite.org/rescode.html>).
pub(crate) fn sqlite_fault(error: &sqlx::Error) -> Option<&'static str> {
    let sqlx::Error::Database(error) = error else { return None };
    let code: u32 = error.code()?.parse().ok()?;
    match code & 0xff {
        _ if error.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_none() => None,
        8 => Some("the database is read-only"),
        13 => Some("the disk is full"),
        14 => Some("the file of the database cannot be opened"),
        // Of the faults of a disk those of a write, of its synchronization, and of a change of a file's size.
        10 if matches!(code >> 8, 3..=6 | 19) => Some("the disk is full or fails"),
        _ => None,
    }
}
