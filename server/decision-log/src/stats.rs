//! Statistics: how many decisions there are in each group, with those that were left out.

use std::collections::BTreeMap;

use portcullis_engine::Effect;
use portcullis_model::Timestamp;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use portcullis_model::decision_stats::{DecisionGroup, DecisionStats, StatsDimension};

use crate::group_shares::{GroupPlace, GroupShares, RegisteredResources};
use crate::left_out::MINUTE;
use crate::log::DecisionLog;
use crate::reading::{DecisionSpan, QueryError, ReadLimit};

/// The most groups of an answer.
const MAX_GROUPS: usize = 1_000;

impl DecisionLog {
    /// Counts the decisions of `tenant` that `selection` selects, in groups by `dimensions`. If there are too many groups, each
    /// resource that is `registered` has a share of them, and all others have one together.
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn stats(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        dimensions: &[StatsDimension],
        registered: RegisteredResources,
        limit: ReadLimit,
    ) -> Result<DecisionStats, QueryError> {
        let counting = Counting::new(selection.clone(), dimensions.to_vec(), registered);
        let read = counting.to_read();
        // Without counts, the allows that the settings leave out would be missing.
        let span = DecisionSpan { counts: true, ..DecisionSpan::default() };
        let counted = self.count(tenant, &read, span, limit, counting, |counting, record| {
            counting.add(&record);
        });
        let (mut counting, complete) = counted.await?;
        counting.complete &= complete;
        Ok(counting.end())
    }
}

/// The groups of the records that were seen.
#[derive(Debug)]
struct Counting {
    selection: DecisionSelection,
    /// The selection without members that a count of left out allows does not have.
    of_counts: DecisionSelection,
    /// Whether the question is about members that such a count does not have.
    needs_records: bool,
    dimensions: Vec<StatsDimension>,
    groups: BTreeMap<Vec<String>, DecisionGroup>,
    shares: GroupShares<Vec<String>>,
    complete: bool,
}

impl Counting {
    fn new(
        selection: DecisionSelection,
        dimensions: Vec<StatsDimension>,
        registered: RegisteredResources,
    ) -> Self {
        // A count has neither a subject nor the id of a request, so they cannot select it.
        let of_counts = DecisionSelection { subject: None, request_id: None, ..selection.clone() };
        let of_records = [StatsDimension::Subject, StatsDimension::Latency];
        let needs_records =
            of_counts != selection || of_records.iter().any(|one| dimensions.contains(one));
        let mut groups = BTreeMap::new();
        // Without dimensions the answer has one group, also if nothing is counted.
        if dimensions.is_empty() {
            groups.insert(Vec::new(), DecisionGroup::default());
        }
        let shares = GroupShares::new(registered, MAX_GROUPS);
        Self { selection, of_counts, needs_records, dimensions, groups, shares, complete: true }
    }

    /// Returns the selection of everything that may count: whole minutes, and what a count has.
    fn to_read(&self) -> DecisionSelection {
        let to = self.selection.to;
        DecisionSelection {
            from: self.selection.from.map(minute),
            // A count may have any instant of its minute, so whole minutes are read.
            to: to.map(|to| Timestamp::from_millis(minute(to).millis() + MINUTE)),
            ..self.of_counts.clone()
        }
    }

    fn add(&mut self, record: &DecisionRecord) {
        match record.left_out {
            0 if self.selection.selects(record) => self.count(record, 1),
            0 => {}
            count => self.add_count(record, count),
        }
    }

    /// Adds a count, which is about a minute. One that is asked for only in part makes the answer incomplete.
    fn add_count(&mut self, record: &DecisionRecord, count: u64) {
        let minute = minute(record.time);
        let last = Timestamp::from_millis(minute.millis() + MINUTE - 1);
        let [is_begun, is_ended] = [minute, last].map(|instant| self.selection.covers(instant));
        let anytime = DecisionSelection { from: None, to: None, ..self.of_counts.clone() };
        if !(is_begun || is_ended) || !anytime.fits(record) {
            return;
        }
        match is_begun && is_ended && !self.needs_records {
            true => self.count(record, count),
            false => self.complete = false,
        }
    }

    fn count(&mut self, record: &DecisionRecord, count: u64) {
        let key: Vec<String> = self.dimensions.iter().map(|one| one.value(record)).collect();
        // Only a new group needs a place.
        if !self.groups.contains_key(&key) && !self.has_place(&record.resource, &key) {
            return;
        }
        let values: Vec<_> = self.dimensions.iter().copied().zip(key.clone()).collect();
        let group = self.groups.entry(key).or_default();
        // A group of this key may be new, or one that was made before anything was counted.
        if group.values.is_empty() {
            group.values = values;
        }
        match record.decision {
            Effect::Allow => group.allow += count,
            Effect::Deny => group.deny += count,
        }
        group.undetermined += if record.undetermined.is_empty() { 0 } else { count };
    }

    /// Returns whether there is a place for a new group.
    fn has_place(&mut self, resource: &str, key: &Vec<String>) -> bool {
        let place = self.shares.place(resource, key);
        self.complete &= place == GroupPlace::Free;
        if let GroupPlace::InsteadOf(loser) = &place {
            self.groups.remove(loser);
        }
        place != GroupPlace::None
    }

    fn end(self) -> DecisionStats {
        DecisionStats { groups: self.groups.into_values().collect(), complete: self.complete }
    }
}

fn minute(at: Timestamp) -> Timestamp {
    // Euclidean division also rounds instants before the epoch down.
    Timestamp::from_millis(at.millis().div_euclid(MINUTE) * MINUTE)
}
