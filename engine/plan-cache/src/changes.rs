//! The log of changes to a tenant's rules and policies.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use portcullis_engine::ResourcePattern;

/// The length of a tenant's log. A plan that lags further behind is loaded again.
pub(crate) const REMEMBERED_CHANGES: usize = 256;
/// The maximum number of patterns in one change. A larger change counts as touching every resource.
const MAX_TOUCHED: usize = 64;

/// The recent changes of one tenant.
#[derive(Debug, Default)]
pub(crate) struct ChangeLog {
    /// The highest published revision.
    pub(crate) latest: AtomicU64,
    /// The cache forgot the tenant: no later check may use a plan of this log.
    is_ended: AtomicBool,
    /// The last changes, by ascending revision.
    log: Mutex<VecDeque<Change>>,
}

/// One committed write.
#[derive(Debug)]
struct Change {
    revision: u64,
    touched: Vec<ResourcePattern>,
}

impl ChangeLog {
    /// Adds a committed write. Calls may come out of order, and twice for one write.
    pub(crate) fn publish(&self, revision: u64, mut touched: Vec<ResourcePattern>) {
        if touched.len() > MAX_TOUCHED {
            touched = vec![ResourcePattern::Any];
        }
        {
            let mut log = self.log.lock();
            // Two commits may be published in the opposite order of their revisions.
            let position = log.partition_point(|change| change.revision < revision);
            // One commit may be published twice: by the process that committed it, and by the store's notification.
            if log.get(position).is_none_or(|change| change.revision != revision) {
                log.insert(position, Change { revision, touched });
            }
            if log.len() > REMEMBERED_CHANGES {
                log.pop_front();
            }
        }
        // Last, so that a check that needs this revision finds it in the log.
        self.latest.fetch_max(revision, Ordering::AcqRel);
    }

    /// Ends the log.
    pub(crate) fn end(&self) {
        self.is_ended.store(true, Ordering::Release);
    }

    /// Returns whether the log has ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Acquire)
    }

    /// Returns whether every change after `from` up to `to` is in the log and does not touch `resource`.
    pub(crate) fn unaffected(&self, resource: &str, from: u64, to: u64) -> bool {
        let log = self.log.lock();
        let start = log.partition_point(|change| change.revision <= from);
        let between = log.range(start..).take_while(|change| change.revision <= to);
        let mut expected = from;
        for change in between {
            expected += 1;
            let touches = change.touched.iter().any(|pattern| pattern.matches(resource));
            // A gap in the revisions is a change that was dropped from the log or is not published yet.
            if change.revision != expected || touches {
                return false;
            }
        }
        expected == to
    }
}
