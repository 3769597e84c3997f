//! The place of one tenant's table.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex as SyncMutex, RwLock};
use portcullis_storage::{HistoryPosition, epoch};
use tokio::sync::Mutex;

use super::loaded::LoadedEntities;
use crate::histories::{self, Continuity};

/// The bytes of the place itself, with its entry in the map.
const OVERHEAD: u64 = 512;

/// The place of one tenant's table.
#[derive(Debug, Default)]
pub(super) struct TenantTable {
    /// The last place in the history of the entities that was compared with those before.
    last: SyncMutex<HistoryPosition>,
    /// The revision of the last commit that is known. An older table is not used.
    needed: AtomicU64,
    /// The revision of the rules when a check first waited for entities here; 0 before.
    rules: AtomicU64,
    loaded: RwLock<Option<Arc<LoadedEntities>>>,
    /// Held while the table is loaded or brought up to date.
    pub(super) loading: Arc<Mutex<()>>,
    /// A table of this revision or an older one takes too much memory.
    too_large: AtomicU64,
    /// The number of loads of any table before the last use.
    last_use: AtomicU64,
    /// A check used the table since the last change.
    is_used: AtomicBool,
}

impl TenantTable {
    /// Returns the table if it is loaded and up to date. `loads` counts the loads of all tables.
    pub(super) fn ready(&self, loads: &AtomicU64) -> Option<Arc<LoadedEntities>> {
        // A commit that is noted after this load is not acknowledged yet.
        let needed = self.needed.load(Ordering::Acquire);
        let loaded = self.loaded.read();
        let ready = loaded.as_ref().filter(|loaded| loaded.position.revision >= needed)?;
        // Most uses find both and write nothing, so that they share no written memory.
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
        let now = loads.load(Ordering::Relaxed);
        if self.last_use.load(Ordering::Relaxed) != now {
            self.last_use.store(now, Ordering::Relaxed);
        }
        Some(Arc::clone(ready))
    }

    /// Returns the revision of the last commit that is known.
    pub(super) fn latest(&self) -> u64 {
        self.needed.load(Ordering::Acquire)
    }

    /// Returns the revision of the last place in the history that was compared.
    pub(super) fn compared(&self) -> u64 {
        self.last.lock().revision
    }

    /// Notes the place that a commit reached.
    pub(super) fn note(&self, position: HistoryPosition) -> Continuity {
        self.note_read(0, position)
    }

    /// Notes a place that was read from the database when revision `before` was compared.
    pub(super) fn note_read(&self, before: u64, position: HistoryPosition) -> Continuity {
        let mut last = self.last.lock();
        let revision = position.revision;
        let is_far = epoch(revision) == epoch(last.revision) && !position.tells_of(&last);
        // A notice has the ids of few commits. The last place stays until the others are read.
        let continuity = match is_far {
            true => Continuity::Continues,
            false => histories::note_read(&mut last, before, position),
        };
        if continuity == Continuity::Continues {
            // Commits may be noted out of order.
            self.needed.fetch_max(revision, Ordering::AcqRel);
        }
        continuity
    }

    /// Notes that the store has this revision of the rules.
    pub(super) fn note_rules(&self, revision: u64) {
        self.rules.fetch_max(revision, Ordering::AcqRel);
    }

    /// Returns the noted revision of the rules, if revision `at_least` of the entities is known to be there.
    pub(super) fn reached(&self, at_least: u64) -> Option<u64> {
        let needed = self.needed.load(Ordering::Acquire);
        // Revisions of different epochs do not compare.
        let is_there = needed >= at_least && epoch(needed) == epoch(at_least);
        let rules = self.rules.load(Ordering::Acquire);
        (is_there && rules > 0).then_some(rules)
    }

    /// Notes that the table of `revision` takes too much memory.
    pub(super) fn refuse(&self, revision: u64) {
        self.clear();
        self.too_large.store(revision, Ordering::Release);
    }

    /// Returns whether the table takes too much memory, as far as commits are known.
    pub(super) fn is_too_large(&self) -> bool {
        let refused = self.too_large.load(Ordering::Acquire);
        // After a later commit they may fit.
        refused > 0 && refused >= self.needed.load(Ordering::Acquire)
    }

    /// Returns the table, also an outdated one.
    pub(super) fn outdated(&self) -> Option<Arc<LoadedEntities>> {
        self.loaded.read().clone()
    }

    /// Stores a table that was read from the database.
    pub(super) fn store(&self, loaded: Arc<LoadedEntities>) {
        *self.loaded.write() = Some(loaded);
    }

    /// Drops the table.
    pub(super) fn clear(&self) {
        *self.loaded.write() = None;
    }

    /// Returns whether a check used the table since the last call.
    pub(super) fn take_used(&self) -> bool {
        self.is_used.swap(false, Ordering::Relaxed)
    }

    /// Returns the number of loads before the last use.
    pub(super) fn last_use(&self) -> u64 {
        self.last_use.load(Ordering::Relaxed)
    }

    /// Returns the bytes of the table.
    pub(super) fn weight(&self) -> u64 {
        self.loaded.read().as_ref().map_or(0, |loaded| loaded.weight()) + OVERHEAD
    }
}
