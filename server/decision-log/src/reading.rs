//! The part of the record that a reader wants, and the outcome.

use std::fmt;
use std::io;
use std::time::Duration;

use portcullis_fairness::{Stopping, TurnRefusal};
use portcullis_storage::StoreError;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The order in which records are visited. The id of a record is a UUIDv7 of the instant of its check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecisionOrder {
    #[default]
    NewestFirst,
    OldestFirst,
}

/// The part of the record that is visited, and how.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct DecisionSpan {
    /// Records with a greater id.
    pub after: Option<Uuid>,
    /// Records with a smaller id.
    pub before: Option<Uuid>,
    pub order: DecisionOrder,
    /// Whether counts of allows that were left out are visited, too: their texts have `left_out`.
    pub counts: bool,
    /// The most records that the visitor wants of any replica; `None` if it wants all.
    pub limit: Option<usize>,
    /// The most bytes of their texts, beyond which it wants one record more; `None` if it wants all.
    #[serde(default)]
    pub bytes: Option<usize>,
}

/// The room of a page for the texts of its records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRoom {
    /// The most bytes; `None` if there is room for all.
    most: Option<usize>,
    taken: usize,
}

/// The limit of the work of a visit.
pub struct ReadLimit {
    /// The time after which it ends. What it reads first it reads in any case.
    pub(crate) time: Duration,
    /// Whether somebody waits for its outcome.
    pub(crate) is_awaited: Box<dyn Fn() -> bool + Send>,
    /// Whether the visit may have this number of bytes of texts in memory.
    pub(crate) may_hold: Box<dyn FnMut(usize) -> bool + Send>,
}

impl ReadLimit {
    /// No limit: the visit reads everything.
    pub fn none() -> Self {
        Self::new(Duration::MAX, || true)
    }

    /// A visit ends after `time`, and when `is_awaited` says that nobody waits for it.
    pub fn new(time: Duration, is_awaited: impl Fn() -> bool + Send + 'static) -> Self {
        Self { time, is_awaited: Box::new(is_awaited), may_hold: Box::new(|_| true) }
    }

    /// Returns the limit of a visit that asks `may_hold` before it reads texts: whether it may have their bytes in
    /// memory. One that wants all reads a part again later where there is no room for all of it; one that may not have a
    /// single text, or the first ones, has no outcome.
    #[must_use]
    pub fn charging(self, may_hold: impl FnMut(usize) -> bool + Send + 'static) -> Self {
        Self { may_hold: Box::new(may_hold), ..self }
    }
}

impl fmt::Debug for ReadLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadLimit").field("time", &self.time).finish_non_exhaustive()
    }
}

/// The outcome of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visited<T> {
    pub into: T,
    /// The replicas that did not answer: their records that are not sealed are missing.
    pub silent: usize,
    /// The id at which the limit ended the visit: this record and those after it in the order were not visited.
    pub rest: Option<Uuid>,
}

impl<T> Visited<T> {
    /// Returns whether every record was visited that the visitor wanted.
    pub fn is_complete(&self) -> bool {
        self.silent == 0 && self.rest.is_none()
    }
}

/// A record that is visited.
#[derive(Clone, Copy, Debug)]
pub struct RawRecord<'r> {
    pub id: Uuid,
    /// The JSON text of a [`DecisionRecord`](portcullis_model::decision::DecisionRecord).
    pub json: &'r [u8],
}

/// The reason why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("cannot read the record of decisions: {0}")]
    Read(#[source] io::Error),
    #[error("cannot read the manifest of the record of decisions: {0}")]
    Manifest(#[from] StoreError),
    /// Too many questions to other replicas wait.
    #[error(transparent)]
    Busy(#[from] TurnRefusal),
    #[error(transparent)]
    Stopping(#[from] Stopping),
    /// The memory of the caller is spent.
    #[error("there is no memory for the records")]
    NoRoom,
}

/// The kind of the error of a visit that may not have the texts in memory.
pub(crate) const SPENT: io::ErrorKind = io::ErrorKind::OutOfMemory;

impl From<io::Error> for QueryError {
    fn from(error: io::Error) -> Self {
        if error.kind() == SPENT { Self::NoRoom } else { Self::Read(error) }
    }
}

impl PageRoom {
    pub(crate) fn new(most: Option<usize>) -> Self {
        Self { most, taken: 0 }
    }

    /// Takes the room for a text of this length. Returns whether there was room; the first text always has it.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let taken = self.taken.saturating_add(bytes);
        // A page without any record would keep its reader at the same place for ever.
        let fits = self.taken == 0 || self.most.is_none_or(|most| taken <= most);
        if fits {
            self.taken = taken;
        }
        fits
    }
}

impl DecisionOrder {
    /// Returns a number that ascends in this order.
    pub(crate) fn key(self, id: Uuid) -> u128 {
        match self {
            // The complement reverses the order, and is its own inverse.
            Self::NewestFirst => !id.as_u128(),
            Self::OldestFirst => id.as_u128(),
        }
    }

    /// Returns the id with this number.
    pub(crate) fn id(self, key: u128) -> Uuid {
        match self {
            Self::NewestFirst => Uuid::from_u128(!key),
            Self::OldestFirst => Uuid::from_u128(key),
        }
    }
}
