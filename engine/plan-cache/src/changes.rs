//! The log of changes to a tenant's rules and policies.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use portcullis_engine::{ResourcePattern, Touched};
use uuid::Uuid;

/// The length of a tenant's log. A plan that lags further behind is loaded again.
pub(crate) const REMEMBERED_CHANGES: usize = 256;
/// The maximum number of patterns in one change. A larger change counts as touching every resource.
const MAX_TOUCHED: usize = 64;
/// The most patterns in a log: about 64 KiB, and 256 changes of four patterns each. Without this limit the log of one
/// tenant could take 4 MiB.
pub(crate) const REMEMBERED_PATTERNS: usize = 1_024;

/// The recent changes of one tenant.
#[derive(Debug, Default)]
pub(crate) struct ChangeLog {
    /// The highest published revision.
    latest: AtomicU64,
    /// The cache forgot the tenant: no later check may use a plan of this log.
    is_ended: AtomicBool,
    /// Checks compare their decisions with the decisions of a cache beside.
    has_shadow: AtomicBool,
    /// One more than the highest published revision when the plans were last made before checks ask for them; 0 if
    /// they never were.
    warmed: AtomicU64,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    /// The last changes, by ascending revision.
    changes: VecDeque<Change>,
    /// The patterns of all changes.
    patterns: usize,
}

/// One committed write.
#[derive(Debug)]
struct Change {
    revision: u64,
    touched: Vec<Touched>,
}

/// The records that changed between two revisions, each once.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangedRecords {
    /// The RBAC rules.
    pub rules: Vec<Uuid>,
    /// The ABAC policies.
    pub policies: Vec<Uuid>,
}

impl ChangedRecords {
    pub(crate) fn len(&self) -> usize {
        self.rules.len() + self.policies.len()
    }
}

fn each_once(ids: Vec<Option<Uuid>>) -> Vec<Uuid> {
    let mut ids: Vec<Uuid> = ids.into_iter().flatten().collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

impl ChangeLog {
    /// Returns the highest published revision.
    #[inline]
    pub(crate) fn latest(&self) -> u64 {
        // Pairs with the end of `publish`: whoever sees a revision finds its change in the log.
        self.latest.load(Ordering::Acquire)
    }

    /// Ends the log.
    pub(crate) fn end(&self) {
        self.is_ended.store(true, Ordering::Release);
    }

    /// Returns whether the log has ended.
    #[inline]
    pub(crate) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Acquire)
    }

    /// Returns whether checks compare their decisions with the decisions of a cache beside.
    #[inline]
    pub(crate) fn has_shadow(&self) -> bool {
        // Relaxed, because nothing else is read by it.
        self.has_shadow.load(Ordering::Relaxed)
    }

    /// Sets what [`ChangeLog::has_shadow`] returns.
    pub(crate) fn set_shadow(&self, has_shadow: bool) {
        self.has_shadow.store(has_shadow, Ordering::Relaxed);
    }

    /// Returns whether plans were never made before checks ask for them, or something was published since.
    pub(crate) fn needs_warming(&self) -> bool {
        self.warmed.load(Ordering::Acquire) <= self.latest()
    }

    /// Notes that the plans are made before checks ask for them. Returns whether it is the first time.
    pub(crate) fn begin_warming(&self) -> bool {
        // Noted first: what is published while the plans are made calls for another pass.
        self.warmed.swap(self.latest() + 1, Ordering::AcqRel) == 0
    }

    /// Notes that not all plans were made, so that they are all made the next time.
    pub(crate) fn abandon_warming(&self) {
        self.warmed.store(0, Ordering::Release);
    }

    /// Adds a committed write. Calls may come out of order, and twice for one write.
    pub(crate) fn publish(&self, revision: u64, mut touched: Vec<Touched>) {
        if touched.len() > MAX_TOUCHED {
            // It names no record: plans are then loaded again, and not brought up to date.
            touched = vec![ResourcePattern::Any.into()];
        }
        self.log.lock().add(Change { revision, touched });
        // Last, so that a check that needs this revision finds it in the log.
        self.latest.fetch_max(revision, Ordering::AcqRel);
    }

    /// Returns whether every change after `from` up to `to` is in the log and does not touch `resource`.
    pub(crate) fn unaffected(&self, resource: &str, from: u64, to: u64) -> bool {
        self.touching(resource, from, to, |_| None::<()>).is_some()
    }

    /// Returns the records whose changes after `from` up to `to` touch `resource`, each once; `None` if something else
    /// touches it, or a change is not in the log.
    pub(crate) fn changed(&self, resource: &str, from: u64, to: u64) -> Option<ChangedRecords> {
        let touching = self.touching(resource, from, to, touched_record)?;
        let (rules, policies): (Vec<_>, Vec<_>) = touching.into_iter().unzip();
        Some(ChangedRecords { rules: each_once(rules), policies: each_once(policies) })
    }

    /// Returns the patterns, as text, of all that changed after `from` up to `to`, without `*`. `None` if a change can have
    /// added any pattern, or is not in the log.
    pub(crate) fn patterns(&self, from: u64, to: u64) -> Option<Vec<String>> {
        Some(self.between(from, to, touched_pattern)?.into_iter().flatten().collect())
    }

    /// Returns what `select` says of all that touches `resource` after `from` up to `to`. `None` if it says nothing of
    /// something, or a change is not in the log.
    fn touching<T>(
        &self,
        resource: &str,
        from: u64,
        to: u64,
        select: impl Fn(&Touched) -> Option<T>,
    ) -> Option<Vec<T>> {
        let selected =
            self.between(from, to, |touched| match touched.resources.matches(resource) {
                true => select(touched).map(Some),
                false => Some(None),
            });
        Some(selected?.into_iter().flatten().collect())
    }

    /// Returns what `select` says of all that was touched after `from` up to `to`. `None` if it says nothing of something,
    /// or a change is not in the log.
    fn between<T>(
        &self,
        from: u64,
        to: u64,
        select: impl Fn(&Touched) -> Option<T>,
    ) -> Option<Vec<T>> {
        let log = self.log.lock();
        let start = log.changes.partition_point(|change| change.revision <= from);
        let between = log.changes.range(start..).take_while(|change| change.revision <= to);
        let (mut expected, mut selected) = (from, Vec::new());
        for change in between {
            expected += 1;
            // A gap in the revisions is a change that was dropped from the log or is not published yet.
            if change.revision != expected {
                return None;
            }
            for touched in &change.touched {
                selected.push(select(touched)?);
            }
        }
        (expected == to).then_some(selected)
    }
}

impl Log {
    fn add(&mut self, change: Change) {
        // Two commits may be published in the opposite order of their revisions.
        let position = self.changes.partition_point(|known| known.revision < change.revision);
        // One commit may be published twice: by the process that committed it, and by the store's notification.
        if self.changes.get(position).is_some_and(|known| known.revision == change.revision) {
            return;
        }
        self.patterns += change.touched.len();
        self.changes.insert(position, change);
        while self.changes.len() > REMEMBERED_CHANGES || self.patterns > REMEMBERED_PATTERNS {
            let Some(oldest) = self.changes.pop_front() else { return };
            self.patterns -= oldest.touched.len();
        }
    }
}

/// Returns the rule and the policy that changed; `None` if something else did.
fn touched_record(touched: &Touched) -> Option<(Option<Uuid>, Option<Uuid>)> {
    match (touched.rule, touched.policy) {
        (None, None) => None,
        ids => Some(ids),
    }
}

/// Returns the pattern that a change can have added, as text; `Some(None)` for `*`, and `None` if it can have added any.
fn touched_pattern(touched: &Touched) -> Option<Option<String>> {
    match &touched.resources {
        ResourcePattern::Any if touched.rule.is_none() && touched.policy.is_none() => None,
        ResourcePattern::Any => Some(None),
        pattern => Some(Some(pattern.to_string())),
    }
}
