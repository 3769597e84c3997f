//! Texts by number: equal texts exist once.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::words::MAX_NUMBER;

/// The number of a text.
pub(crate) type TextId = u32;

/// Texts by number, and numbers by text.
#[derive(Default)]
pub(crate) struct Texts {
    bytes: String,
    /// The end of each text in the bytes.
    ends: Vec<u32>,
    ids: HashTable<TextId>,
    hasher: DefaultHashBuilder,
}

impl Texts {
    /// Returns the text of a number.
    #[inline]
    pub(crate) fn get(&self, id: TextId) -> &str {
        text(&self.bytes, &self.ends, id)
    }

    /// Returns the number of a text; `None` if there is no such text.
    pub(crate) fn find(&self, text: &str) -> Option<TextId> {
        self.ids.find(self.hasher.hash_one(text), |id| self.get(*id) == text).copied()
    }

    /// Returns the number of a text, a new one if the text is new. `None` if there is no room.
    pub(crate) fn intern(&mut self, new: &str) -> Option<TextId> {
        // Separate borrows, so that the closures can read the texts while the table changes.
        let Self { bytes, ends, ids, hasher } = self;
        let hash = hasher.hash_one(new);
        if let Some(known) = ids.find(hash, |id| text(bytes, ends, *id) == new) {
            return Some(*known);
        }
        let id = u32::try_from(ends.len()).ok().filter(|id| *id < MAX_NUMBER)?;
        // Ends are `u32`, so that all texts together have at most 4 GiB.
        let end = u32::try_from(bytes.len() + new.len()).ok()?;
        bytes.push_str(new);
        ends.push(end);
        ids.insert_unique(hash, id, |id| hasher.hash_one(text(bytes, ends, *id)));
        Some(id)
    }

    /// Gives memory back that no text needs.
    pub(crate) fn shrink(&mut self) {
        let Self { bytes, ends, ids, hasher } = self;
        bytes.shrink_to_fit();
        ends.shrink_to_fit();
        ids.shrink_to_fit(|id| hasher.hash_one(text(bytes, ends, *id)));
    }

    /// Returns the heap bytes.
    pub(crate) fn weight(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<u32>() + self.ids.allocation_size()
    }
}

#[inline]
fn text<'t>(bytes: &'t str, ends: &[u32], id: TextId) -> &'t str {
    let id = id as usize;
    let start = id.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start as usize..ends[id] as usize]
}
