//! Notices that the database lost commits, for example by a failover to a standby that lagged, or by a restored backup
//! (`docs/semantics.md`, section 2.9).

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;
use portcullis_storage::{HistoryPosition, epoch};

/// The last place in the history of each tenant that has plans in memory. Plans of another history decide wrongly, and
/// their revisions say nothing about it.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    known: Mutex<HashMap<Box<str>, HistoryPosition>>,
    /// The tenants that lost commits, and whose epoch could not begin.
    unsettled: Mutex<HashSet<Box<str>>>,
}

/// The relation of a place in a history to the last one that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuity {
    /// Both can be places of one history, or another process has begun an epoch since.
    Continues,
    /// The database lost the commit of this revision, the last one that is known.
    Lost(u64),
}

impl Histories {
    /// Returns the last known place of `tenant`.
    pub(crate) fn last(&self, tenant: &str) -> Option<HistoryPosition> {
        self.known.lock().get(tenant).cloned()
    }

    /// Returns the tenants.
    pub(crate) fn tenants(&self) -> Vec<Box<str>> {
        self.known.lock().keys().cloned().collect()
    }

    /// Returns whether `position` is the last known place of `tenant`.
    pub(crate) fn is_at(&self, tenant: &str, position: &HistoryPosition) -> bool {
        let known = self.known.lock();
        let last = known.get(tenant);
        last.is_some_and(|last| last.revision == position.revision && last.agrees_with(position))
    }

    /// Notes that the epoch of `tenant` could not begin.
    pub(crate) fn add_unsettled(&self, tenant: &str) {
        self.unsettled.lock().insert(tenant.into());
    }

    /// Removes the tenants whose epochs could not begin, and returns them.
    pub(crate) fn take_unsettled(&self) -> Vec<Box<str>> {
        self.unsettled.lock().drain().collect()
    }

    /// Notes the place that a commit of any process reached. Commits may come out of order.
    pub(crate) fn note_commit(&self, tenant: &str, position: HistoryPosition) -> Continuity {
        self.note_read(tenant, None, position)
    }

    /// Notes a place that was read from the database; `before` is the last one that was known when the read began.
    pub(crate) fn note_read(
        &self,
        tenant: &str,
        before: Option<&HistoryPosition>,
        position: HistoryPosition,
    ) -> Continuity {
        let mut known = self.known.lock();
        let last = known.entry(tenant.into()).or_default();
        note_read(last, before.map_or(0, |before| before.revision), position)
    }

    /// Forgets the history of `tenant`.
    pub(crate) fn forget(&self, tenant: &str) {
        self.known.lock().remove(tenant);
    }

    /// Keeps the tenants for which `keeps` holds, and those that are unsettled.
    pub(crate) fn retain(&self, keeps: impl Fn(&str) -> bool) {
        let unsettled = self.unsettled.lock();
        self.known.lock().retain(|tenant, _| keeps(tenant) || unsettled.contains(tenant));
    }

    /// Returns the number of tenants.
    pub(crate) fn len(&self) -> usize {
        self.known.lock().len()
    }
}

/// Notes in `last`, the last known place of a history, one that was read from the database when revision `before` was
/// known. A database never goes back.
pub(crate) fn note_read(
    last: &mut HistoryPosition,
    before: u64,
    position: HistoryPosition,
) -> Continuity {
    // The database had this revision when the read began.
    if position.revision < before {
        return Continuity::Lost(before);
    }
    let (known, new) = (epoch(last.revision), epoch(position.revision));
    if new < known || (new == known && !last.agrees_with(&position)) {
        return Continuity::Lost(last.revision);
    }
    // A commit that is noted late adds nothing to a later place.
    if position.revision > last.revision {
        *last = if new == known { position.after(last) } else { position };
    }
    Continuity::Continues
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn position(revision: u64, commits: &[u64]) -> HistoryPosition {
        let position = json!({"revision": revision, "commits": commits});
        serde_json::from_value(position).expect("a position")
    }

    #[test]
    fn a_commit_in_place_of_a_known_one_tells_that_it_was_lost() {
        let histories = Histories::default();
        let commit =
            |revision, commits: &[u64]| histories.note_commit("t", position(revision, commits));
        assert_eq!(commit(5, &[5, 4]), Continuity::Continues);
        assert_eq!(commit(7, &[7, 6]), Continuity::Continues);
        // Notices come out of order.
        assert_eq!(commit(6, &[6, 5]), Continuity::Continues);
        assert_eq!(commit(7, &[70, 60]), Continuity::Lost(7));
        assert_eq!(commit(8, &[80, 70]), Continuity::Lost(7));
        // What other processes lost is theirs to say.
        assert_eq!(commit(1 << 32, &[80]), Continuity::Continues);
        assert_eq!(commit(8, &[8, 7]), Continuity::Lost(1 << 32));
    }

    #[test]
    fn a_database_never_goes_back() {
        let histories = Histories::default();
        let read = |before: Option<&HistoryPosition>, revision, commits: &[u64]| {
            histories.note_read("t", before, position(revision, commits))
        };
        assert_eq!(read(None, 6, &[6, 5]), Continuity::Continues);
        let before = histories.last("t");
        assert_eq!(read(before.as_ref(), 5, &[5]), Continuity::Lost(6));
        // The read began before the commit of revision 6.
        assert_eq!(read(None, 5, &[5]), Continuity::Continues);
    }
}
