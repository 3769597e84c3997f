//! Reports of comparisons with a draft in shadow (`docs/semantics.md`, section 18.3).

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::replay::ReplayChange;

/// The most groups of a report. Further differences are counted, and have no group.
pub const MAX_GROUPS: usize = 200;
/// The most ids that a group shows.
const MAX_SAMPLES: usize = 5;

/// Checks on which a draft decides otherwise in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShadowGroup {
    /// `allow_to_deny`, `deny_to_allow` or `rule_changed`.
    pub change: ReplayChange,
    pub resource: String,
    pub action: String,
    /// The name of the policy, or the tuple of the rule, that decided; or `default-deny`.
    pub before: String,
    /// The one of the draft that would decide.
    pub after: String,
    pub count: u64,
    /// The ids of the newest records; none without a record of decisions.
    pub samples: Vec<Uuid>,
}

/// The outcome of a comparison so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ShadowReport {
    /// The checks that both decided.
    pub checks: u64,
    pub allow_to_deny: u64,
    pub deny_to_allow: u64,
    /// The checks with the same effect that a rule or policy of another name decides.
    pub rule_changed: u64,
    /// The checks that came while the draft was not compiled for the present revision.
    pub not_ready: u64,
    /// The checks for which the draft reads what only a call of a resolver would tell, or relations of other types.
    pub not_comparable: u64,
    /// The largest groups, by change.
    pub groups: Vec<ShadowGroup>,
    /// Whether every difference has a group.
    pub complete: bool,
}

impl Default for ShadowReport {
    fn default() -> Self {
        Self {
            checks: 0,
            allow_to_deny: 0,
            deny_to_allow: 0,
            rule_changed: 0,
            not_ready: 0,
            not_comparable: 0,
            groups: Vec::new(),
            complete: true,
        }
    }
}

impl ShadowReport {
    /// Returns whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.checks == 0 && self.not_ready == 0 && self.not_comparable == 0
    }

    /// Adds the counts of another part of the same comparison. The first groups stay if there are too many.
    pub fn merge(&mut self, other: Self) {
        self.checks += other.checks;
        self.allow_to_deny += other.allow_to_deny;
        self.deny_to_allow += other.deny_to_allow;
        self.rule_changed += other.rule_changed;
        self.not_ready += other.not_ready;
        self.not_comparable += other.not_comparable;
        self.complete &= other.complete;
        for new in other.groups {
            // The length is read here, because the search below borrows the groups for its match.
            let has_room = self.groups.len() < MAX_GROUPS;
            match self.groups.iter_mut().find(|known| known.is_like(&new)) {
                Some(known) => known.merge(new),
                None if has_room => self.groups.push(new),
                None => self.complete = false,
            }
        }
        // Counts have grown, and the order depends on them.
        self.sort();
    }

    /// Sorts the groups by change, the largest ones first.
    fn sort(&mut self) {
        self.groups.sort_by(|one, other| one.place().cmp(&other.place()));
    }
}

impl ShadowGroup {
    /// Adds the id of a record, and keeps the newest ones.
    pub fn add_sample(&mut self, id: Uuid) {
        // Ids begin with their time, so descending ids are newest first.
        let place = self.samples.partition_point(|known| *known > id);
        self.samples.insert(place, id);
        self.samples.truncate(MAX_SAMPLES);
    }

    /// Returns what the place among other groups depends on; their names come last.
    fn place(&self) -> (ReplayChange, Reverse<u64>, [&str; 4]) {
        let names = [&*self.resource, &*self.action, &*self.before, &*self.after];
        (self.change, Reverse(self.count), names)
    }

    fn is_like(&self, other: &Self) -> bool {
        self.change == other.change
            && self.resource == other.resource
            && self.action == other.action
            && self.before == other.before
            && self.after == other.after
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        other.samples.into_iter().for_each(|id| self.add_sample(id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(resource: &str, count: u64, samples: &[u128]) -> ShadowGroup {
        ShadowGroup {
            change: ReplayChange::AllowToDeny,
            resource: resource.to_owned(),
            action: "read".to_owned(),
            before: "own".to_owned(),
            after: "default-deny".to_owned(),
            count,
            samples: samples.iter().copied().map(Uuid::from_u128).collect(),
        }
    }

    fn report(groups: Vec<ShadowGroup>) -> ShadowReport {
        let count = groups.iter().map(|group| group.count).sum();
        ShadowReport { checks: count, allow_to_deny: count, groups, ..ShadowReport::default() }
    }

    #[test]
    fn parts_add_up_and_keep_the_newest_samples() {
        let mut all = report(vec![group("a:read", 1, &[1]), group("b:read", 2, &[9, 7, 5, 3])]);
        all.merge(report(vec![group("b:read", 3, &[8, 6, 4])]));
        assert_eq!((all.checks, all.allow_to_deny, all.complete), (6, 6, true));
        let expected = [group("b:read", 5, &[9, 8, 7, 6, 5]), group("a:read", 1, &[1])];
        assert_eq!(all.groups, expected);
    }

    #[test]
    fn groups_are_bounded_and_the_report_says_so() {
        let mut all = ShadowReport::default();
        for number in 0..=MAX_GROUPS {
            all.merge(report(vec![group(&format!("r{number}:read"), 1, &[])]));
            assert_eq!(all.complete, number < MAX_GROUPS, "{number}");
        }
        assert_eq!((all.groups.len(), all.checks), (MAX_GROUPS, MAX_GROUPS as u64 + 1));
        all.merge(report(vec![group("r0:read", 1, &[])]));
        assert_eq!(all.groups[0].count, 2, "a known group grows");
    }
}
