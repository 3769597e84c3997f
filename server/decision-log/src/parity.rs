//! Parity: how often recorded decisions agree with those of another system.

use std::collections::BTreeMap;

use portcullis_engine::Effect;
use portcullis_model::decision::{DecisionRecord, DecisionSelection};
use portcullis_model::parity::{Parity, ParityGroup, ParityRow};

use crate::log::DecisionLog;
use crate::reading::{DecisionSpan, QueryError};

/// The most rows of an answer. Those of the newest decisions are there.
const MAX_ROWS: usize = 1_000;
/// The most groups of a row.
const MAX_GROUPS: usize = 50;
/// The ids of decisions that a group names.
const MAX_SAMPLES: usize = 5;

impl DecisionLog {
    /// Compares the decisions of `tenant` that `selection` selects with those of another system, where the checks carried
    /// them.
    ///
    /// # Errors
    /// A file cannot be read.
    pub async fn parity(
        &self,
        tenant: &str,
        selection: &DecisionSelection,
    ) -> Result<Parity, QueryError> {
        let (span, counted) = (DecisionSpan::default(), Counted::default());
        let (mut counted, complete) =
            self.count(tenant, selection, span, counted, Counted::add).await?;
        counted.is_partial |= !complete;
        Ok(counted.end())
    }
}

/// The checks that were seen.
#[derive(Debug, Default)]
struct Counted {
    /// By resource and action.
    rows: BTreeMap<(String, String), ParityRow>,
    is_partial: bool,
}

impl Counted {
    fn add(&mut self, record: DecisionRecord) {
        let Some(expected) = record.expected else { return };
        let key = (record.resource.clone(), record.action.clone());
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
        let named = |((resource, action), mut row): (_, ParityRow)| {
            // The most frequent cause comes first.
            row.groups.sort_by_key(|group| std::cmp::Reverse(group.count));
            ParityRow { resource, action, ..row }
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
