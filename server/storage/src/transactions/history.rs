//! The history of a tenant: its revision, and random ids of its last commits (`docs/semantics.md`, section 2.9).
//!
//! A database that lost commits counts on from a smaller revision, so that a revision names two states. The ids of the
//! commits tell both apart.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::transactions::error::StoreError;

/// The commits whose ids a tenant keeps. A replica that is further behind cannot tell whether commits were lost.
pub const REMEMBERED_COMMITS: usize = 32;
/// The hexadecimal digits of an id.
pub(crate) const ID_DIGITS: usize = 16;
/// The bits of a revision that count the changes. The bits above them are the epoch.
const EPOCH_SHIFT: u32 = 32;

/// Returns the epoch of a revision: the number of times that the history of the tenant was replaced.
pub fn epoch(revision: u64) -> u64 {
    revision >> EPOCH_SHIFT
}

/// Returns the revision of `epoch` that counts as many changes as `revision`.
pub(crate) fn in_epoch(revision: u64, epoch: u64) -> u64 {
    (epoch << EPOCH_SHIFT) | (revision & ((1 << EPOCH_SHIFT) - 1))
}

/// A place in the history of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryPosition {
    pub revision: u64,
    /// The ids of the last commits, the newest first. There may be fewer than commits.
    commits: Vec<u64>,
}

impl HistoryPosition {
    /// Reads the ids as the store keeps them; what is not an id ends them.
    pub(crate) fn read(revision: u64, history: &str) -> Self {
        let ids = history
            .as_bytes()
            .chunks_exact(ID_DIGITS)
            .map_while(|digits| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        Self { revision, commits: ids.collect() }
    }

    /// Returns the ids as the store keeps them.
    pub(crate) fn history(&self) -> String {
        self.commits.iter().fold(String::new(), |mut text, id| {
            // Writing to a text cannot fail.
            let _ = write!(text, "{id:016x}");
            text
        })
    }

    /// Returns the position after one more commit.
    ///
    /// # Errors
    /// [`StoreError::Random`]
    pub(crate) fn next(&self) -> Result<Self, StoreError> {
        let mut id = [0; 8];
        aws_lc_rs::rand::fill(&mut id).map_err(|_| StoreError::Random)?;
        let kept = self.commits.iter().copied().take(REMEMBERED_COMMITS - 1);
        let commits = [u64::from_be_bytes(id)].into_iter().chain(kept).collect();
        Ok(Self { revision: self.revision + 1, commits })
    }

    /// Returns the position with the ids of the last commit and the one before alone: enough for who follows.
    pub fn recent(&self) -> Self {
        Self { revision: self.revision, commits: self.commits.iter().copied().take(2).collect() }
    }

    /// Returns whether both can be places of one history: the commit of the earlier one is the later one's too, as far as
    /// it is known.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let (earlier, later) =
            if self.revision <= other.revision { (self, other) } else { (other, self) };
        let behind = usize::try_from(later.revision - earlier.revision).unwrap_or(usize::MAX);
        match (earlier.commits.first(), later.commits.get(behind)) {
            // The newest id comes first: that of the earlier commit is as far behind as the revisions are apart.
            (Some(own), Some(known)) => own == known,
            _ => true,
        }
    }

    /// Returns whether the ids tell if `earlier` is a place of the same history: there are enough of them, or none is kept
    /// beyond them.
    pub fn tells_of(&self, earlier: &Self) -> bool {
        let behind = usize::try_from(self.revision.saturating_sub(earlier.revision));
        let ids = self.commits.len();
        ids == REMEMBERED_COMMITS
            || earlier.commits.is_empty()
            || behind.is_ok_and(|behind| behind < ids)
    }

    /// Returns this position with the ids of `earlier`, a place of the same history, behind its own.
    #[must_use]
    pub fn after(mut self, earlier: &Self) -> Self {
        let behind = usize::try_from(self.revision.saturating_sub(earlier.revision));
        if behind.is_ok_and(|behind| behind <= self.commits.len()) {
            self.commits.truncate(behind.unwrap_or_default());
            self.commits.extend(&earlier.commits);
            self.commits.truncate(REMEMBERED_COMMITS);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(revision: u64, commits: &[u64]) -> HistoryPosition {
        HistoryPosition { revision, commits: commits.to_vec() }
    }

    #[test]
    fn places_of_one_history_agree() {
        let five = position(5, &[5, 4, 3]);
        for (other, expected) in [
            (position(5, &[5]), true),
            (position(5, &[50]), false),
            (position(6, &[6, 5]), true),
            (position(6, &[6, 50]), false),
            (position(4, &[4]), true),
            (position(4, &[40]), false),
            // Nothing is known about the commit of revision 5.
            (position(9, &[9, 8]), true),
            (position(5, &[]), true),
        ] {
            assert_eq!(five.agrees_with(&other), expected, "{other:?}");
            assert_eq!(other.agrees_with(&five), expected, "{other:?}");
        }
    }

    #[test]
    fn ids_are_kept_from_place_to_place() {
        let mut here = position(1, &[1]);
        for _ in 0..100 {
            let next = here.next().expect("random numbers");
            assert_eq!(next.recent().after(&here), next);
            assert!(next.agrees_with(&here));
            here = next;
        }
        assert_eq!((here.revision, here.commits.len()), (101, REMEMBERED_COMMITS));
        assert_eq!(HistoryPosition::read(101, &here.history()), here);
    }

    #[test]
    fn an_epoch_begins_above_every_revision_of_the_last() {
        let revision = in_epoch(7, 3);
        assert_eq!((epoch(revision), epoch(7), in_epoch(revision, 0)), (3, 0, 7));
    }
}
