//! The instant of a question, and what it had to do with expiries.

use chrono::{DateTime, Utc};
use hashbrown::HashMap;

use super::edge::Edge;

/// The instants at which edges expire.
pub(super) type Expiries = HashMap<Edge, DateTime<Utc>>;

/// The instant of a question.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    now: DateTime<Utc>,
    /// The first instant after `now` at which an edge that was looked at expires.
    until: DateTime<Utc>,
    /// The first expired edges that were looked at.
    expired: Vec<Edge>,
    /// The number of expired edges to note.
    room: usize,
}

impl Moment {
    /// Starts at `now`. Notes no expired edge.
    pub(crate) fn new(now: DateTime<Utc>) -> Self {
        Self::noting(now, 0)
    }

    /// Starts at `now`. Notes the first `room` expired edges.
    pub(crate) fn noting(now: DateTime<Utc>, room: usize) -> Self {
        Self { now, until: DateTime::<Utc>::MAX_UTC, expired: Vec::new(), room }
    }

    /// Returns the first instant at which another answer is possible.
    pub(crate) fn until(&self) -> DateTime<Utc> {
        self.until
    }

    /// Returns the noted edges.
    pub(crate) fn into_expired(self) -> Vec<Edge> {
        self.expired
    }

    /// Returns whether an edge counts that has one of these expiries.
    pub(super) fn counts(&mut self, expiries: &Expiries, edge: Edge) -> bool {
        let Some(expiry) = expiries.get(&edge).copied() else { return true };
        if expiry > self.now {
            self.until = self.until.min(expiry);
            return true;
        }
        if self.expired.len() < self.room && !self.expired.contains(&edge) {
            self.expired.push(edge);
        }
        false
    }
}
