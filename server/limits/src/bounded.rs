//! A map with a bound, for keys that callers choose.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use ahash::RandomState;
use arc_swap::ArcSwap;
use equivalent::Equivalent;
use parking_lot::Mutex;

/// A map that holds at most a given number of entries. It keeps two generations: when the young one is full, it becomes
/// the old one, and the old one is dropped. An entry that is read moves to the young generation, so that those that nobody
/// reads are dropped first, and neither reading nor dropping takes time that grows with the map.
///
/// Readers of young entries take no lock.
pub(crate) struct BoundedMap<K, V> {
    generations: ArcSwap<Generations<K, V>>,
    /// Held while an entry is added or moved, so that no key has two values.
    adding: Mutex<()>,
    /// Most entries of one generation.
    half: usize,
}

type Generation<K, V> = papaya::HashMap<K, Arc<V>, RandomState>;

struct Generations<K, V> {
    young: Arc<Generation<K, V>>,
    old: Arc<Generation<K, V>>,
}

/// Shows only the number of entries, because keys name callers.
impl<K: Hash + Eq, V> fmt::Debug for BoundedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoundedMap").field(&self.len()).finish()
    }
}

impl<K: Hash + Eq, V> BoundedMap<K, V> {
    /// Returns an empty map for at most `most` entries.
    pub(crate) fn new(most: usize) -> Self {
        let generations = Generations { young: Arc::default(), old: Arc::default() };
        Self {
            generations: ArcSwap::from_pointee(generations),
            adding: Mutex::default(),
            half: (most / 2).max(1),
        }
    }

    /// Returns the number of entries. An entry that moved counts twice.
    pub(crate) fn len(&self) -> usize {
        let generations = self.generations.load();
        generations.young.len() + generations.old.len()
    }

    /// Returns the value of `key`, if there is one. Does not keep it from being dropped.
    pub(crate) fn get<Q: Equivalent<K> + Hash + ?Sized>(&self, key: &Q) -> Option<Arc<V>> {
        let generations = self.generations.load();
        let young = generations.young.pin().get(key).cloned();
        young.or_else(|| generations.old.pin().get(key).cloned())
    }

    /// Returns the value of `key`. A key without a value gets the one that `make` returns, under the key that `own`
    /// returns.
    pub(crate) fn get_or_add<Q: Equivalent<K> + Hash + ?Sized>(
        &self,
        key: &Q,
        own: impl FnOnce() -> K,
        make: impl FnOnce() -> V,
    ) -> Arc<V> {
        let young = self.generations.load().young.pin().get(key).cloned();
        young.unwrap_or_else(|| self.add(key, own, make))
    }

    fn add<Q: Equivalent<K> + Hash + ?Sized>(
        &self,
        key: &Q,
        own: impl FnOnce() -> K,
        make: impl FnOnce() -> V,
    ) -> Arc<V> {
        let _adding = self.adding.lock();
        let mut generations = self.generations.load_full();
        // Another thread may have added it before this one had the lock.
        if let Some(value) = generations.young.pin().get(key) {
            return Arc::clone(value);
        }
        let old = generations.old.pin().get(key).cloned();
        let value = old.unwrap_or_else(|| Arc::new(make()));
        if generations.young.len() >= self.half {
            let old = Arc::clone(&generations.young);
            generations = Arc::new(Generations { young: Arc::default(), old });
            self.generations.store(Arc::clone(&generations));
        }
        generations.young.pin().insert(own(), Arc::clone(&value));
        value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_full_map_drops_what_nobody_reads() {
        let map = BoundedMap::<u32, u32>::new(1_000);
        let kept = map.get_or_add(&u32::MAX, || u32::MAX, || 7);
        for key in 0..100_000 {
            map.get_or_add(&key, || key, || key);
            assert!(Arc::ptr_eq(&kept, &map.get_or_add(&u32::MAX, || u32::MAX, || 8)));
            assert!(map.len() <= 1_000, "{}", map.len());
        }
        assert!(map.get(&0).is_none() && map.get(&99_999).is_some());
    }

    #[test]
    fn a_key_has_one_value_on_many_threads() {
        let map = BoundedMap::<u32, AtomicUsize>::new(64);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for round in 0..1_000 {
                        // Other keys turn the generations while the counter is in use.
                        map.get_or_add(&round, || round, AtomicUsize::default);
                        let counter = map.get_or_add(&5_000, || 5_000, AtomicUsize::default);
                        counter.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let counted = map.get(&5_000).unwrap().load(Ordering::Relaxed);
        assert_eq!(counted, 8_000);
    }
}
