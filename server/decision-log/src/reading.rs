//! The part of the record that a reader wants, and the outcome.

use std::io;

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
}

/// The outcome of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visited<T> {
    pub into: T,
    /// The replicas that did not answer: their records that are not at rest are missing.
    pub silent: usize,
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
    Read(#[from] io::Error),
    #[error("cannot read the manifest of the record of decisions: {0}")]
    Manifest(#[from] StoreError),
    /// Too many questions to other replicas wait.
    #[error(transparent)]
    Busy(#[from] TurnRefusal),
    #[error(transparent)]
    Stopping(#[from] Stopping),
}

impl DecisionOrder {
    /// Returns a number that ascends in this order.
    pub(crate) fn key(self, id: Uuid) -> u128 {
        match self {
            Self::NewestFirst => !id.as_u128(),
            Self::OldestFirst => id.as_u128(),
        }
    }
}
