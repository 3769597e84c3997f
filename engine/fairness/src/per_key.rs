//! Values by key, each in memory for as long as somebody uses it.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::Arc;

use parking_lot::Mutex;

/// Values that the users of one key share. A value is made for the first user and dropped with the last, so that the
/// map never has more entries than there are users, whatever keys callers choose.
pub struct PerKey<K, V>(Arc<Mutex<HashMap<K, UsedValue<V>, ahash::RandomState>>>);

struct UsedValue<V> {
    value: Arc<V>,
    users: usize,
}

/// One use of the value of a key.
pub struct KeyUse<K: Eq + Hash, V> {
    all: PerKey<K, V>,
    key: K,
    value: Arc<V>,
}

impl<K: Clone + Eq + Hash, V: Default> PerKey<K, V> {
    /// Returns the value of `key`.
    pub fn enter(&self, key: K) -> KeyUse<K, V> {
        let mut entries = self.0.lock();
        let used = entries.entry(key.clone()).or_insert_with(UsedValue::new);
        used.users += 1;
        KeyUse { all: self.clone(), key, value: Arc::clone(&used.value) }
    }
}

impl<V: Default> UsedValue<V> {
    fn new() -> Self {
        Self { value: Arc::default(), users: 0 }
    }
}

impl<K, V> PerKey<K, V> {
    /// Returns the number of keys in use.
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Returns whether no key is in use.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: Eq + Hash, V> KeyUse<K, V> {
    /// Ends the value for later users: they get a new one. Its present users keep it.
    pub fn retire(&self) {
        let mut entries = self.all.0.lock();
        // Another user may have retired it before, and a later value may be in its place.
        if entries.get(&self.key).is_some_and(|shared| Arc::ptr_eq(&shared.value, &self.value)) {
            entries.remove(&self.key);
        }
    }
}

impl<K: Eq + Hash, V> Drop for KeyUse<K, V> {
    fn drop(&mut self) {
        let mut entries = self.all.0.lock();
        // A value that was retired is not in the map any more.
        let own = entries.get_mut(&self.key).filter(|one| Arc::ptr_eq(&one.value, &self.value));
        let Some(used) = own else { return };
        used.users -= 1;
        if used.users == 0 {
            entries.remove(&self.key);
        }
    }
}

impl<K: Eq + Hash, V> Deref for KeyUse<K, V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.value
    }
}

impl<K, V> Clone for PerKey<K, V> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K, V> Default for PerKey<K, V> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K, V> fmt::Debug for PerKey<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PerKey").field(&self.len()).finish()
    }
}

impl<K: Eq + Hash + fmt::Debug, V> fmt::Debug for KeyUse<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyUse").field(&self.key).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn users_of_one_key_share_a_value_that_ends_with_the_last() {
        let values = PerKey::<&str, AtomicUsize>::default();
        let (first, second) = (values.enter("a"), values.enter("a"));
        first.store(7, Ordering::Relaxed);
        assert_eq!(second.load(Ordering::Relaxed), 7);
        assert_eq!(values.enter("b").load(Ordering::Relaxed), 0);
        assert_eq!(values.len(), 1, "`b` is in use no more");
        drop(first);
        assert_eq!(values.enter("a").load(Ordering::Relaxed), 7);
        drop(second);
        assert!(values.is_empty());
    }

    #[test]
    fn invented_keys_leave_nothing_behind() {
        let values = PerKey::<usize, AtomicUsize>::default();
        let kept: Vec<_> = (0..10).map(|key| values.enter(key)).collect();
        for key in 0..100_000 {
            drop(values.enter(key));
        }
        assert_eq!(values.len(), kept.len());
    }

    #[test]
    fn a_retired_value_stays_with_its_users_and_no_other_gets_it() {
        let values = PerKey::<&str, AtomicUsize>::default();
        let (first, second) = (values.enter("a"), values.enter("a"));
        first.store(7, Ordering::Relaxed);
        first.retire();
        let anew = values.enter("a");
        assert_eq!((second.load(Ordering::Relaxed), anew.load(Ordering::Relaxed)), (7, 0));
        second.retire();
        drop((first, second));
        assert_eq!(values.len(), 1, "the new one is still in use");
    }
}
