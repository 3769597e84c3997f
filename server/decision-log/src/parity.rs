//! Parity: how often recorded decisions agree with another system's decisions.

use std::collections::BTreeMap;

use portcullis_engine::Effect;
use portcullis_model::Timestamp;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use portcullis_model::parity::{Parity, ParityGroup, ParityRow};
use portcullis_model::period::CountPeriod;

use crate::log::DecisionLog;
use crate::reading::{DecisionSpan, QueryError, ReadLimit};

/// The most rows of an answer. The rows of the newest decisions are there.
const MAX_ROWS: usize = 1_000;
/// The most groups of a row.
const MAX_GROUPS: usize = 50;
/// The ids of decisions that a group names.
const MAX_SAMPLES: usize = 5;

impl DecisionLog {
    /// Compares the decisions of `tenant` that `selection` selects with another system's decisions, where the checks
    /// carried them, in each `period` if there is one.
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn parity(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
        period: Option<CountPeriod>,
        limit: ReadLimit,
    ) -> Result<Parity, QueryError> {
        let (span, counted) = (DecisionSpan::default(), Counted::by(period));
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
    /// By period, resource and action.
    rows: BTreeMap<(Option<Timestamp>, String, String), ParityRow>,
    is_partial: bool,
}

impl Counted {
    fn by(period: Option<CountPeriod>) -> Self {
        Self { period, rows: BTreeMap::new(), is_partial: false }
    }

    fn add(&mut self, record: DecisionRecord) {
        let Some(expected) = record.expected else { return };
        let at = self.period.map(|period| period.start(record.time));
        let key = (at, record.resource.clone(), record.action.clone());
        if !self.rows.contains_key(&key) && self.rows.len() == MAX_ROWS {
            self.is_partial = true;
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

    fn end(self) -> Parity {
        let named = |((at, resource, action), mut row): (_, ParityRow)| {
            // The most frequent cause comes first.
            row.groups.sort_by_key(|group| std::cmp::Reverse(group.count));
            ParityRow { at, resource, action, ..row }
        };
        Parity { rows: self.rows.into_iter().map(named).collect(), complete: !self.is_partial }
    }
}

/// Counts a difference in its group. Returns whether there is one.
fn add_to_groups(groups: &mut Vec<ParityGroup>, expected: Effect, record: DecisionRecord) -> bool {
    let DecisionRecord { id, decision, rule, .. } = record;
    let is_known = |group: &ParityGroup| group.expected == expected && group.rule == rule;
    match groups.iter().position(is_known) {
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

    /// Returns a check that agrees with another system, so many hours after the first instant.
    fn check(hours: i64) -> DecisionRecord {
        let time = Timestamp::from_millis(hours * 3_600_000).to_string();
        let record = serde_json::json!({
            "id": uuid::Uuid::nil(), "time": time, "tenant": "acme", "revision": 1, "entities_revision": 0,
            "via": "check", "request_id": "r", "subject": "ann", "domain": "acme", "resource": "doc:read",
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
            let mut counted = Counted::by(period);
            (0..=most).rev().for_each(|hours| counted.add(check(hours)));
            let parity = counted.end();
            assert_eq!((parity.rows.len(), parity.complete), (rows, complete), "{period:?}");
            let of_last = period.map(|period| period.start(check(most).time));
            assert_eq!(parity.rows.last().map(|row| row.at), Some(of_last));
        }
    }
}
