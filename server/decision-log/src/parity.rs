//! Parity: how often recorded decisions agree with another system's decisions.

use std::collections::BTreeMap;

use portcullis_engine::Effect;
use portcullis_model::Timestamp;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use portcullis_model::parity::{Parity, ParityGroup, ParityRow};
use portcullis_model::period::CountPeriod;

use crate::group_shares::{GroupPlace, GroupShares, RegisteredResources};
use crate::log::DecisionLog;
use crate::reading::{DecisionSpan, QueryError, ReadLimit};

/// The most rows of an answer.
const MAX_ROWS: usize = 1_000;
/// The most groups of a row.
const MAX_GROUPS: usize = 50;
/// The ids of decisions that a group names.
const MAX_SAMPLES: usize = 5;

impl DecisionLog {
    /// Compares the decisions of `tenant` that `selection` selects with another system's decisions, where the checks
    /// carried them, in each `period` if there is one. If there are too many rows, each resource that is `registered` has a share
    /// of them, and all others have one together.
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn parity(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        period: Option<CountPeriod>,
        registered: RegisteredResources,
        limit: ReadLimit,
    ) -> Result<Parity, QueryError> {
        let (span, counted) = (DecisionSpan::default(), Counted::by(period, registered));
        let (mut counted, complete) =
            self.count(tenant, selection, span, limit, counted, Counted::add).await?;
        counted.is_partial |= !complete;
        Ok(counted.end())
    }
}

/// The checks that were seen.
#[derive(Debug)]
struct Counted {
    period: Option<CountPeriod>,
    rows: BTreeMap<RowKey, ParityRow>,
    shares: GroupShares<RowKey>,
    is_partial: bool,
}

/// The period, resource and action of a row.
type RowKey = (Option<Timestamp>, String, String);

impl Counted {
    fn by(period: Option<CountPeriod>, registered: RegisteredResources) -> Self {
        let shares = GroupShares::new(registered, MAX_ROWS);
        Self { period, rows: BTreeMap::new(), shares, is_partial: false }
    }

    fn add(&mut self, record: DecisionRecord) {
        let Some(expected) = record.expected else { return };
        let at = self.period.map(|period| period.start(record.time));
        let key = (at, record.resource.clone(), record.action.clone());
        if !self.rows.contains_key(&key) && !self.has_place(&key) {
            return;
        }
        let row = self.rows.entry(key).or_default();
        if expected == record.decision {
            row.agree += 1;
            return;
        }
        row.differ += 1;
        self.is_partial |= !add_to_groups(&mut row.groups, expected, record);
    }

    /// Returns whether there is a place for a new row.
    fn has_place(&mut self, key: &RowKey) -> bool {
        let place = self.shares.place(&key.1, key);
        self.is_partial |= place != GroupPlace::Free;
        if let GroupPlace::InsteadOf(loser) = &place {
            self.rows.remove(loser);
        }
        place != GroupPlace::None
    }

    fn end(self) -> Parity {
        let rows = self.rows.into_iter().map(|((at, resource, action), mut row)| {
            // The most frequent cause comes first.
            row.groups.sort_by_key(|group| std::cmp::Reverse(group.count));
            ParityRow { at, resource, action, ..row }
        });
        Parity { rows: rows.collect(), complete: !self.is_partial }
    }
}

/// Counts a difference in its group. Returns false if there is no room for a new group.
fn add_to_groups(groups: &mut Vec<ParityGroup>, expected: Effect, record: DecisionRecord) -> bool {
    let DecisionRecord { id, decision, rule, .. } = record;
    // There are two effects: where they differ, `expected` tells the decision, too.
    match groups.iter().position(|group| group.expected == expected && group.rule == rule) {
        Some(place) => {
            let group = &mut groups[place];
            group.count += 1;
            if group.samples.len() < MAX_SAMPLES {
                group.samples.push(id);
            }
        }
        None if groups.len() == MAX_GROUPS => return false,
        None => {
            groups.push(ParityGroup { expected, decision, rule, count: 1, samples: vec![id] });
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a check on `resource` that agrees with another system, so many hours after the first instant.
    fn check(hours: i64, resource: &str) -> DecisionRecord {
        let time = Timestamp::from_millis(hours * 3_600_000).to_string();
        let record = serde_json::json!({
            "id": uuid::Uuid::nil(), "time": time, "tenant": "acme", "revision": 1, "entities_revision": 0,
            "via": "check", "request_id": "r", "subject": "ann", "domain": "acme", "resource": resource,
            "action": "read", "attributes": {}, "decision": "deny", "rule": "default-deny", "reason": "",
            "expected": "deny", "us": 1,
        });
        serde_json::from_str(&record.to_string()).expect("a record")
    }

    #[test]
    fn a_row_is_about_one_period_and_those_of_the_newest_decisions_are_there() {
        let most = i64::try_from(MAX_ROWS).expect("few");
        for (period, rows, complete) in [
            (None, 1, true),
            (Some(CountPeriod::Day), 42, true),
            (Some(CountPeriod::Hour), MAX_ROWS, false),
        ] {
            let mut counted = Counted::by(period, RegisteredResources::new());
            (0..=most).rev().for_each(|hours| counted.add(check(hours, "doc:read")));
            let parity = counted.end();
            assert_eq!((parity.rows.len(), parity.complete), (rows, complete), "{period:?}");
            let of_last = period.map(|period| period.start(check(most, "doc:read").time));
            assert_eq!(parity.rows.last().map(|row| row.at), Some(of_last));
        }
    }

    #[test]
    fn a_registered_resource_has_its_row_whatever_callers_invent() {
        for (registered, is_there) in [
            (RegisteredResources::from(["doc:read".to_owned()]), true),
            (RegisteredResources::new(), false),
        ] {
            let mut counted = Counted::by(None, registered);
            (0..MAX_ROWS)
                .for_each(|number| counted.add(check(1, &format!("invented-{number}:read"))));
            (0..7).for_each(|_| counted.add(check(0, "doc:read")));
            let parity = counted.end();
            assert_eq!((parity.rows.len(), parity.complete), (MAX_ROWS, false));
            let of_doc = parity.rows.iter().find(|row| row.resource == "doc:read");
            assert_eq!(of_doc.map(|row| row.agree), is_there.then_some(7), "with every check");
        }
    }
}
