//! The counts of a comparison with a draft in shadow, until they are stored (`docs/semantics.md`, section 18.3).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use ahash::RandomState;
use parking_lot::Mutex;
use portcullis_model::replay::ReplayChange;
use portcullis_model::shadow::{MAX_GROUPS, ShadowGroup, ShadowReport};
use uuid::Uuid;

use crate::shadow_metrics::ShadowOutcome;

/// The counts of the checks since they were stored last. A check that both decide alike takes no lock.
#[derive(Debug, Default)]
pub struct ShadowCounts {
    checks: AtomicU64,
    not_ready: AtomicU64,
    not_comparable: AtomicU64,
    differences: Mutex<Differences>,
}

#[derive(Clone, Debug, Default)]
struct Differences {
    /// The counts of the changes, without groups.
    counts: ShadowReport,
    /// The groups by their hash. Two with the same hash do not occur by chance.
    groups: HashMap<u64, ShadowGroup, RandomState>,
}

/// A check on which the draft decides otherwise.
#[derive(Clone, Copy, Debug)]
pub struct ShadowDifference<'d> {
    /// `AllowToDeny`, `DenyToAllow` or `RuleChanged`.
    pub change: ReplayChange,
    pub resource: &'d str,
    pub action: &'d str,
    /// The name of the rule or policy that decided.
    pub before: &'d str,
    /// The one of the draft that would decide.
    pub after: &'d str,
    /// The id of the record, if there is one.
    pub record: Option<Uuid>,
}

impl ShadowCounts {
    /// Counts a check with the outcome of its comparison.
    pub fn note(&self, outcome: ShadowOutcome) {
        let count = match outcome {
            ShadowOutcome::NotReady => &self.not_ready,
            ShadowOutcome::NotComparable => &self.not_comparable,
            ShadowOutcome::Same
            | ShadowOutcome::AllowToDeny
            | ShadowOutcome::DenyToAllow
            | ShadowOutcome::RuleChanged => &self.checks,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts the difference of a check that both decided.
    pub fn note_difference(&self, difference: &ShadowDifference<'_>) {
        self.differences.lock().add(difference);
    }

    /// Returns the counts.
    pub fn report(&self) -> ShadowReport {
        let counts = self.counts().map(|count| count.load(Ordering::Relaxed));
        self.differences.lock().clone().report(counts)
    }

    /// Returns the counts, and begins anew.
    pub fn take(&self) -> ShadowReport {
        let counts = self.counts().map(|count| count.swap(0, Ordering::Relaxed));
        std::mem::take(&mut *self.differences.lock()).report(counts)
    }

    fn counts(&self) -> [&AtomicU64; 3] {
        [&self.checks, &self.not_ready, &self.not_comparable]
    }

    /// Adds counts that [`ShadowCounts::take`] returned and that were not stored.
    pub fn put_back(&self, report: ShadowReport) {
        self.checks.fetch_add(report.checks, Ordering::Relaxed);
        self.not_ready.fetch_add(report.not_ready, Ordering::Relaxed);
        self.not_comparable.fetch_add(report.not_comparable, Ordering::Relaxed);
        // Differences may have come since: both are merged, without the three counts that are added above.
        let mut differences = self.differences.lock();
        let mut all = std::mem::take(&mut *differences).report([0; 3]);
        all.merge(ShadowReport { checks: 0, not_ready: 0, not_comparable: 0, ..report });
        differences.take_from(all);
    }
}

impl Differences {
    fn add(&mut self, difference: &ShadowDifference<'_>) {
        let ShadowDifference { change, resource, action, before, after, record } = *difference;
        let count = match change {
            ReplayChange::AllowToDeny => &mut self.counts.allow_to_deny,
            ReplayChange::DenyToAllow => &mut self.counts.deny_to_allow,
            _ => &mut self.counts.rule_changed,
        };
        *count += 1;
        let hash = self.groups.hasher().hash_one((change, resource, action, before, after));
        if self.groups.len() >= MAX_GROUPS && !self.groups.contains_key(&hash) {
            self.counts.complete = false;
            return;
        }
        let group = self.groups.entry(hash).or_insert_with(|| ShadowGroup {
            change,
            resource: resource.to_owned(),
            action: action.to_owned(),
            before: before.to_owned(),
            after: after.to_owned(),
            count: 0,
            samples: Vec::new(),
        });
        group.count += 1;
        if let Some(id) = record {
            group.add_sample(id);
        }
    }

    fn report(self, [checks, not_ready, not_comparable]: [u64; 3]) -> ShadowReport {
        let groups = self.groups.into_values().collect();
        let mut report = ShadowReport { checks, not_ready, not_comparable, ..self.counts };
        report.merge(ShadowReport { groups, ..ShadowReport::default() });
        report
    }

    fn take_from(&mut self, report: ShadowReport) {
        for group in report.groups {
            let ShadowGroup { change, resource, action, before, after, .. } = &group;
            let key = (*change, &**resource, &**action, &**before, &**after);
            // `merge` has joined equal groups, so that none replaces another one here.
            self.groups.insert(self.groups.hasher().hash_one(key), group);
        }
        self.counts = ShadowReport { groups: Vec::new(), ..report };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(resource: &str, record: u128) -> ShadowDifference<'_> {
        ShadowDifference {
            change: ReplayChange::DenyToAllow,
            resource,
            action: "read",
            before: "default-deny",
            after: "own",
            record: Some(Uuid::from_u128(record)),
        }
    }

    #[test]
    fn counts_that_could_not_be_stored_are_kept() {
        let counts = ShadowCounts::default();
        for record in 1..=3 {
            counts.note(ShadowOutcome::DenyToAllow);
            counts.note_difference(&difference("chart:read", record));
        }
        counts.note(ShadowOutcome::NotReady);
        let taken = counts.take();
        assert!(counts.report().is_empty());
        counts.note(ShadowOutcome::DenyToAllow);
        counts.note_difference(&difference("chart:read", 4));
        counts.put_back(taken);
        let report = counts.report();
        assert_eq!((report.checks, report.deny_to_allow, report.not_ready), (4, 4, 1));
        assert_eq!((report.groups.len(), report.groups[0].count), (1, 4));
        assert_eq!(report.groups[0].samples, [4, 3, 2, 1].map(Uuid::from_u128));
        counts.note_difference(&difference("chart:read", 5));
        assert_eq!(counts.take().groups[0].count, 5, "a group that was put back grows");
    }

    #[test]
    fn differences_without_a_group_are_counted() {
        let counts = ShadowCounts::default();
        for number in 0..=MAX_GROUPS {
            counts.note_difference(&difference(&format!("r{number}:read"), 1));
        }
        let report = counts.report();
        assert_eq!(report.deny_to_allow, MAX_GROUPS as u64 + 1);
        assert_eq!((report.groups.len(), report.complete), (MAX_GROUPS, false));
    }
}
