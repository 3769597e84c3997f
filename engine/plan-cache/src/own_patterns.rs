//! The resource patterns that rules and policies of a tenant have. A resource that none of them names is decided by the
//! rules and policies on `<name>:*` and `*` alone, and shares the plan of these: a check on an invented resource costs no
//! query and no memory.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::DefaultHashBuilder;
use parking_lot::RwLock;
use portcullis_engine::resource::object_of;

use crate::changes::ChangeLog;

/// The resource of the plan that decides where no rule and no policy names the resource. It is not a name that a check
/// can have.
pub const WILDCARD: &str = "*";

/// Patterns that changes may add before the set is read again, so that the weight of the set stays true.
const MAX_ADDED: usize = 256;

/// The patterns of a tenant except `*`, as hashes: a resource with the hash of another one gets its own plan, and is
/// decided rightly.
#[derive(Debug)]
pub struct OwnPatterns {
    /// The patterns in the beginning, ascending.
    read: Box<[u64]>,
    /// The patterns of later changes, ascending.
    added: RwLock<Vec<u64>>,
    hasher: DefaultHashBuilder,
    /// The revision up to which the set has every pattern.
    valid_through: AtomicU64,
}

impl OwnPatterns {
    /// Makes the set of all patterns, as text, that a tenant has at `revision`.
    pub fn new(patterns: impl IntoIterator<Item = impl AsRef<str>>, revision: u64) -> Self {
        let hasher = DefaultHashBuilder::default();
        let hashes = patterns.into_iter().map(|pattern| hasher.hash_one(pattern.as_ref()));
        let mut read: Vec<u64> = hashes.collect();
        read.sort_unstable();
        read.dedup();
        let (added, valid_through) = (RwLock::default(), AtomicU64::new(revision));
        Self { read: read.into(), added, hasher, valid_through }
    }

    /// Returns the revision up to which the set has every pattern.
    pub(crate) fn revision(&self) -> u64 {
        self.valid_through.load(Ordering::Acquire)
    }

    /// Adds the patterns of the changes up to `needed`. Returns false if they are not known, or too many.
    pub(crate) fn catches_up(&self, needed: u64, changes: &ChangeLog) -> bool {
        self.revision() >= needed || self.add(needed, changes).is_some()
    }

    fn add(&self, needed: u64, changes: &ChangeLog) -> Option<()> {
        let mut added = self.added.write();
        // Another check may have added them before this one had the lock.
        let from = self.revision();
        if from >= needed {
            return Some(());
        }
        let patterns = changes.patterns(from, needed)?;
        let hashes = patterns.iter().map(|pattern| self.hasher.hash_one(pattern.as_str()));
        let new = hashes.filter(|hash| self.read.binary_search(hash).is_err());
        let mut all: Vec<u64> = added.iter().copied().chain(new).collect();
        all.sort_unstable();
        all.dedup();
        if all.len() > MAX_ADDED {
            return None;
        }
        *added = all;
        // Last, so that whoever sees the revision finds its patterns.
        self.valid_through.store(needed, Ordering::Release);
        Some(())
    }

    /// Returns the pattern whose plan decides `resource`; `None` if a rule or policy can name the resource itself.
    pub fn pattern_of(&self, resource: &str) -> Option<String> {
        if self.has(resource) {
            return None;
        }
        Some(self.pattern_around(resource).unwrap_or_else(|| WILDCARD.to_owned()))
    }

    /// Returns `<name>:*` for `resource` if a rule or policy can have this pattern.
    pub fn pattern_around(&self, resource: &str) -> Option<String> {
        let name = format!("{}:{WILDCARD}", object_of(resource));
        self.has(&name).then_some(name)
    }

    fn has(&self, pattern: &str) -> bool {
        let hash = self.hasher.hash_one(pattern);
        self.read.binary_search(&hash).is_ok() || self.added.read().binary_search(&hash).is_ok()
    }

    /// Returns the bytes of the set, without the few that changes add.
    pub(crate) fn weight(&self) -> usize {
        // An `Arc` has two counters beside its value.
        size_of::<Self>() + size_of_val::<[u64]>(&self.read) + 2 * size_of::<usize>()
    }
}
