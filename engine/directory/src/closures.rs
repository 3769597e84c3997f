//! The closures of subjects that are kept, within a bound in bytes.

use std::hash::BuildHasher;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::closure::Closure;
use crate::schema::{RelationId, TypeId};

/// Threads wait for each other only in the same part.
const PARTS: usize = 8;
/// The bytes of a closure's place in a hash table, and of its reference counts.
const PLACE: usize = 32;

/// The closures that are kept. The ones that were not asked for lately leave first.
pub(crate) struct Closures {
    parts: [Mutex<Generations>; PARTS],
    hasher: DefaultHashBuilder,
    /// The maximum bytes of a generation of a part.
    max_bytes: usize,
}

/// Two generations: a closure that is asked for moves to the young one; when that is full, it becomes the old one.
#[derive(Default)]
struct Generations {
    young: Generation,
    old: Generation,
}

#[derive(Default)]
struct Generation {
    closures: HashTable<(u64, Arc<Closure>)>,
    bytes: usize,
}

/// A subject, and the objects of which a token makes it a member.
#[derive(Clone, Copy)]
pub(crate) struct AskedSubject<'a> {
    pub(crate) subject_type: TypeId,
    pub(crate) id: &'a str,
    pub(crate) claims: &'a [ClaimedObjects<'a>],
}

/// The objects of which the token of the caller makes it a member.
#[derive(Clone, Copy, Debug)]
pub struct ClaimedObjects<'c> {
    /// The relation that the claim gives.
    pub relation: RelationId,
    /// The ids of the objects, as the token lists them.
    pub ids: &'c [&'c str],
}

impl AskedSubject<'_> {
    /// Returns the relation and id of each claimed object.
    pub(crate) fn claims(&self) -> impl Iterator<Item = (RelationId, &str)> {
        self.claims.iter().flat_map(|claimed| claimed.ids.iter().map(|id| (claimed.relation, *id)))
    }

    /// Returns whether a closure is the one of the subject, and valid at `now`.
    fn has(&self, closure: &Closure, now: DateTime<Utc>) -> bool {
        let key = &closure.key;
        (key.subject_type, &*key.id) == (self.subject_type, self.id)
            && key.claims.iter().map(|(relation, id)| (*relation, &**id)).eq(self.claims())
            && closure.is_valid_at(now)
    }
}

impl Closures {
    pub(crate) fn new(max_bytes: usize) -> Self {
        let parts = std::array::from_fn(|_| Mutex::default());
        // Each part has two generations.
        let max_bytes = max_bytes / PARTS / 2;
        Self { parts, hasher: DefaultHashBuilder::default(), max_bytes }
    }

    /// Returns the kept closure of a subject that is valid at `now`.
    pub(crate) fn get(&self, asked: &AskedSubject<'_>, now: DateTime<Utc>) -> Option<Arc<Closure>> {
        let hash = self.hash(asked.subject_type, asked.id);
        let mut part = self.part(hash);
        let young = part.young.closures.find(hash, |(_, kept)| asked.has(kept, now));
        if let Some((_, closure)) = young {
            return Some(Arc::clone(closure));
        }
        let closure = part.old.take(hash, |(_, kept)| asked.has(kept, now))?;
        part.insert(hash, Arc::clone(&closure), self.max_bytes);
        Some(closure)
    }

    /// Keeps a closure in place of the one that the subject had.
    pub(crate) fn insert(&self, closure: Arc<Closure>) {
        let key = &closure.key;
        let hash = self.hash(key.subject_type, &key.id);
        let mut part = self.part(hash);
        // A subject keeps one closure, for its last token: tokens that change take no more memory.
        part.young.take(hash, |(_, kept)| kept.key.has_same_subject(key));
        part.old.take(hash, |(_, kept)| kept.key.has_same_subject(key));
        part.insert(hash, Arc::clone(&closure), self.max_bytes);
    }

    fn hash(&self, subject_type: TypeId, id: &str) -> u64 {
        self.hasher.hash_one((subject_type, id))
    }

    fn part(&self, hash: u64) -> MutexGuard<'_, Generations> {
        // Other bits than the ones by which the hash table of the part finds places.
        let index = (hash >> 32) as usize % PARTS;
        self.parts[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the bytes of all closures.
    pub(crate) fn bytes(&self) -> usize {
        let parts =
            self.parts.iter().map(|part| part.lock().unwrap_or_else(PoisonError::into_inner));
        parts.map(|part| part.young.bytes + part.old.bytes).sum()
    }
}

impl Generations {
    fn insert(&mut self, hash: u64, closure: Arc<Closure>, max_bytes: usize) {
        let bytes = closure.weight() + PLACE;
        if bytes > max_bytes {
            // It would push out all others, and not fit even then.
            return;
        }
        if self.young.bytes + bytes > max_bytes {
            // What is still in the old generation was not asked for since the last time, and goes.
            self.old = mem::take(&mut self.young);
        }
        self.young.bytes += bytes;
        self.young.closures.insert_unique(hash, (hash, closure), |(hash, _)| *hash);
    }
}

impl Generation {
    fn take(
        &mut self,
        hash: u64,
        is_wanted: impl FnMut(&(u64, Arc<Closure>)) -> bool,
    ) -> Option<Arc<Closure>> {
        let (_, closure) = self.closures.find_entry(hash, is_wanted).ok()?.remove().0;
        self.bytes -= closure.weight() + PLACE;
        Some(closure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::closure::ClosureKey;

    #[test]
    fn closures_keep_to_their_memory_and_the_last_ones_stay() {
        const MAX_BYTES: usize = 64 << 10;
        let closures = Closures::new(MAX_BYTES);
        let asked = |id| AskedSubject { subject_type: 0, id, claims: &[] };
        let now = DateTime::UNIX_EPOCH;
        for number in 0..10_000 {
            let key = ClosureKey {
                subject_type: 0,
                id: format!("user-{number}").into(),
                claims: Box::default(),
            };
            closures.insert(Arc::new(Closure::new(key, |_| 0, |_, _| None)));
            // One that is asked for again and again stays.
            assert!(closures.get(&asked("user-0"), now).is_some(), "after {number}");
        }
        assert!(closures.bytes() <= MAX_BYTES && closures.bytes() > MAX_BYTES / 4);
        assert!(closures.get(&asked("user-9999"), now).is_some());
        assert!(closures.get(&asked("user-1"), now).is_none());
    }
}
