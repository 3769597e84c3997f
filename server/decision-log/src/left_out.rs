//! Counts of the allows that the terms of tenants leave out. The statistics add them to the records that are kept.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use portcullis_model::Timestamp;
use uuid::Uuid;

use crate::batch::{Batch, BatchEntry};
use crate::decision::RecordedDecision;
use crate::frame::{self, Kind};
use crate::members::write_integer;
use crate::metrics::LogMetrics;
use crate::shares::Account;

/// The most groups that are counted in memory. More are written early. Each takes some 500 bytes.
const MAX_GROUPS: usize = 4_096;
/// The longest time that counts are in memory alone.
const INTERVAL: Duration = Duration::from_secs(10);
/// The span that one count is about, so that statistics by hour, and from minute to minute, are exact.
pub(crate) const MINUTE: i64 = 60 * 1_000;

/// The allows that were left out and are not written yet, by minute, tenant, domain, resource, action, rule and route.
#[derive(Debug)]
pub(crate) struct LeftOutCounts {
    groups: HashMap<Box<[u8]>, LeftOutGroup>,
    due: Option<Instant>,
    metrics: LogMetrics,
}

/// The allows of a group. The first one gives the count its id and its instant.
#[derive(Debug)]
struct LeftOutGroup {
    id: Uuid,
    at: Timestamp,
    tenant: Box<str>,
    count: i64,
}

impl LeftOutCounts {
    pub(crate) fn new(metrics: LogMetrics) -> Self {
        Self { groups: HashMap::new(), due: None, metrics }
    }

    /// Counts a decision, and returns whether it is the first one. Allocates for a new group alone.
    pub(crate) fn count(&mut self, decision: &RecordedDecision<'_>) -> bool {
        thread_local! {
            static KEY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        let is_first = self.groups.is_empty();
        KEY.with_borrow_mut(|key| {
            key.clear();
            key.extend_from_slice(&decision.at.millis().div_euclid(MINUTE).to_le_bytes());
            decision.encode_group(key);
            match self.groups.get_mut(&**key) {
                Some(group) => group.count += 1,
                None => {
                    let (id, at, tenant) = (decision.id, decision.at, decision.tenant.into());
                    let group = LeftOutGroup { id, at, tenant, count: 1 };
                    self.groups.insert(key.as_slice().into(), group);
                    self.metrics.left_out_groups.inc();
                }
            }
        });
        if is_first {
            self.due = Some(Instant::now() + INTERVAL);
        }
        is_first
    }

    /// Returns the instant by which the counts are written; `None` if there are none.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns whether the counts are to be written now.
    pub(crate) fn is_due(&self) -> bool {
        self.due.is_some_and(|due| due <= Instant::now()) || self.groups.len() >= MAX_GROUPS
    }

    /// Moves the counts into `batch`.
    pub(crate) fn drain(&mut self, batch: &mut Batch) {
        self.due = None;
        self.metrics.left_out_groups.set(0);
        for (key, group) in self.groups.drain() {
            let start = batch.bytes.len();
            frame::begin(&mut batch.bytes, (Kind::Count, group.id, &group.tenant), |out| {
                // The key begins with the minute, which is not a part of the text.
                RecordedDecision::encode_count((group.id, group.at), &key[size_of::<i64>()..], out);
                write_integer(out, group.count);
                out.push(b'}');
            });
            frame::finish(&mut batch.bytes[start..]);
            // Counts take no room of the buffer's shares: the number of their groups is bounded.
            let (place, account) = (start..batch.bytes.len(), Account::of(&group.tenant));
            let decisions = group.count.unsigned_abs();
            let (kind, texts) = (Kind::Count, Vec::new());
            batch.entries.push(BatchEntry { place, kind, account, decisions, texts });
        }
    }
}
