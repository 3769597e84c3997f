//! The changes of a tenant's rules and policies.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use portcullis_engine::ResourcePattern;

/// Changes that a tenant remembers: a plan that lags further behind is loaded anew.
pub(crate) const REMEMBERED_CHANGES: usize = 256;
/// Patterns that one change names; a larger one counts as touching everything.
const MAX_TOUCHED: usize = 64;

/// What is known of a tenant's changes.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The highest published revision.
    pub(crate) latest: AtomicU64,
    /// The last changes, by ascending revision.
    log: Mutex<VecDeque<Change>>,
}

#[derive(Debug)]
struct Change {
    revision: u64,
    touched: Vec<ResourcePattern>,
}

impl Changes {
    pub(crate) fn publish(&self, revision: u64, mut touched: Vec<ResourcePattern>) {
        if touched.len() > MAX_TOUCHED {
            touched = vec![ResourcePattern::Any];
        }
        {
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            // Two commits may be published in the opposite order.
            let position = log.partition_point(|change| change.revision < revision);
            // And one commit twice: by whoever committed it, and by the store's notification.
            if log.get(position).is_none_or(|change| change.revision != revision) {
                log.insert(position, Change { revision, touched });
            }
            if log.len() > REMEMBERED_CHANGES {
                log.pop_front();
            }
        }
        self.latest.fetch_max(revision, Ordering::AcqRel);
    }

    /// Whether every change after `from` up to `to` is known and leaves `resource` alone.
    pub(crate) fn leave_alone(&self, resource: &str, from: u64, to: u64) -> bool {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let start = log.partition_point(|change| change.revision <= from);
        let between = log.range(start..).take_while(|change| change.revision <= to);
        let mut expected = from;
        for change in between {
            expected += 1;
            let touches = change.touched.iter().any(|pattern| pattern.matches(resource));
            if change.revision != expected || touches {
                return false;
            }
        }
        expected == to
    }
}
