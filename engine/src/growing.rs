//! A small vector that, unlike `SmallVec`, is covariant in `T`.

use std::ops::{Deref, DerefMut};

use arrayvec::ArrayVec;

/// A list, of which up to `N` items take no allocation.
#[derive(Debug)]
pub(crate) enum Growing<T, const N: usize> {
    Short(ArrayVec<T, N>),
    Long(Vec<T>),
}

impl<T, const N: usize> Default for Growing<T, N> {
    fn default() -> Self {
        Self::Short(ArrayVec::new())
    }
}

impl<T, const N: usize> Growing<T, N> {
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        match self {
            Self::Long(items) => items.push(item),
            Self::Short(items) => {
                if let Err(full) = items.try_push(item) {
                    // This makes the list long, so that the second push has room.
                    self.reserve(N + 1);
                    self.push(full.element());
                }
            }
        }
    }

    /// Makes room for so many items in all.
    pub(crate) fn reserve(&mut self, items: usize) {
        match self {
            Self::Short(short) if items > N => {
                let mut long = Vec::with_capacity(items);
                long.extend(short.drain(..));
                *self = Self::Long(long);
            }
            Self::Short(_) => {}
            Self::Long(long) => long.reserve(items.saturating_sub(long.len())),
        }
    }

    /// Removes the item at `index`, which must exist.
    pub(crate) fn remove(&mut self, index: usize) {
        match self {
            Self::Short(items) => drop(items.remove(index)),
            Self::Long(items) => drop(items.remove(index)),
        }
    }

    pub(crate) fn clear(&mut self) {
        match self {
            Self::Short(items) => items.clear(),
            Self::Long(items) => items.clear(),
        }
    }
}

impl<T, const N: usize> Deref for Growing<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Short(items) => items,
            Self::Long(items) => items,
        }
    }
}

impl<T, const N: usize> DerefMut for Growing<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Short(items) => items,
            Self::Long(items) => items,
        }
    }
}
