//! The index of one property of one type: the rows of each value.

use roaring::RoaringBitmap;

use crate::packed::{Packed, Word};

/// The number of an entity in a segment, in the order of types and ids.
pub(super) type Row = u32;

/// A set of rows of one segment.
pub(crate) type RowSet = RoaringBitmap;

/// The rows of a type by the value of one property.
pub(super) struct PropertyIndex {
    /// The rows of each scalar.
    pub(super) scalars: Postings,
    /// The rows of each item of a list.
    pub(super) items: Postings,
    /// The rows whose value is a list, or one that no operator compares.
    pub(super) others: Box<[Row]>,
}

/// Rows by word: the rows of a word ascend.
pub(super) struct Postings {
    words: Box<[Word]>,
    /// The end of the rows of each word.
    ends: Box<[u32]>,
    rows: Box<[Row]>,
}

impl PropertyIndex {
    /// Indexes the values of a property, which come with their rows and words.
    pub(super) fn new<'p>(values: impl Iterator<Item = (Row, Word, Packed<'p>)>) -> Self {
        let (mut scalars, mut items, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (row, word, value) in values {
            match value {
                Packed::List(list) => {
                    items.extend(list.words().map(|item| pair(item, row)));
                    others.push(row);
                }
                Packed::Opaque => others.push(row),
                _ => scalars.push(pair(word, row)),
            }
        }
        Self { scalars: Postings::new(scalars), items: Postings::new(items), others: others.into() }
    }

    /// Returns the heap bytes.
    pub(super) fn weight(&self) -> usize {
        self.scalars.weight() + self.items.weight() + size_of_val::<[Row]>(&self.others)
    }
}

/// A word and a row as one number, which sorts by word first.
fn pair(word: Word, row: Row) -> u64 {
    u64::from(word.0) << 32 | u64::from(row)
}

impl Postings {
    #[expect(clippy::cast_possible_truncation, reason = "the halves of a pair")]
    fn new(mut pairs: Vec<u64>) -> Self {
        pairs.sort_unstable();
        // A list may have an item twice.
        pairs.dedup();
        let (mut words, mut ends) = (Vec::new(), Vec::new());
        for (index, pair) in (1..).zip(&pairs) {
            let word = Word((pair >> 32) as u32);
            if words.last() == Some(&word) {
                // The rows of a word end at its last pair.
                ends.pop();
            } else {
                words.push(word);
            }
            ends.push(index);
        }
        let rows = pairs.into_iter().map(|pair| pair as Row).collect();
        Self { words: words.into(), ends: ends.into(), rows }
    }

    /// Returns the rows of a word.
    pub(super) fn get(&self, word: Word) -> &[Row] {
        self.words.binary_search(&word).map_or(&[], |index| self.rows_at(index))
    }

    /// Returns the number of words.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns each word and its rows.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Word, &[Row])> {
        self.words.iter().enumerate().map(|(index, word)| (*word, self.rows_at(index)))
    }

    fn rows_at(&self, index: usize) -> &[Row] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.rows[start as usize..self.ends[index] as usize]
    }

    fn weight(&self) -> usize {
        size_of_val::<[Word]>(&self.words)
            + size_of_val::<[u32]>(&self.ends)
            + size_of_val::<[Row]>(&self.rows)
    }
}
