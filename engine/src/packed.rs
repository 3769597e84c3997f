//! A pool of values: many small values in few allocations, each named by a word of 32 bits.

mod texts;
mod words;

use std::fmt;

use hashbrown::HashMap;

use crate::number::Number;

pub(crate) use texts::{TextId, Texts};
use words::MAX_NUMBER;
pub(crate) use words::{Unpacked, Word};

/// A pool of values. Equal texts and equal numbers exist once.
#[derive(Default)]
pub(crate) struct Pool {
    pub(crate) texts: Texts,
    numbers: Vec<Number>,
    numbered: HashMap<Number, u32>,
    /// Lists: the length, then the items.
    lists: Vec<u32>,
}

/// A value of a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Packed<'p> {
    Text(&'p str),
    Number(Number),
    Bool(bool),
    List(PackedList<'p>),
    /// A value that no operator compares.
    Opaque,
}

impl Pool {
    /// Returns the value of a word.
    #[inline(always)]
    pub(crate) fn get(&self, word: Word) -> Packed<'_> {
        match word.unpack() {
            Unpacked::Text(id) => Packed::Text(self.texts.get(id)),
            Unpacked::Number(index) => Packed::Number(self.numbers[index as usize]),
            Unpacked::Bool(value) => Packed::Bool(value),
            Unpacked::List(place) => Packed::List(PackedList { pool: self, place }),
            Unpacked::Opaque => Packed::Opaque,
        }
    }

    /// Returns the word of a text; `None` if there is no such text.
    pub(crate) fn find_text(&self, text: &str) -> Option<Word> {
        self.texts.find(text).map(|id| Word::pack(Unpacked::Text(id)))
    }

    /// Returns the word of a number; `None` if there is no such number.
    pub(crate) fn find_number(&self, number: Number) -> Option<Word> {
        self.numbered.get(&number).map(|index| Word::pack(Unpacked::Number(*index)))
    }

    /// Adds a text. `None` if there is no room.
    pub(crate) fn text(&mut self, text: &str) -> Option<Word> {
        Some(Word::pack(Unpacked::Text(self.texts.intern(text)?)))
    }

    /// Adds a number. `None` if there is no room.
    pub(crate) fn number(&mut self, number: Number) -> Option<Word> {
        if let Some(known) = self.numbered.get(&number) {
            return Some(Word::pack(Unpacked::Number(*known)));
        }
        let next = numbered(self.numbers.len())?;
        self.numbers.push(number);
        self.numbered.insert(number, next);
        Some(Word::pack(Unpacked::Number(next)))
    }

    /// Adds a list of scalars. `None` if there is no room.
    pub(crate) fn list(&mut self, items: &[Word]) -> Option<Word> {
        let place = numbered(self.lists.len())?;
        self.lists.push(numbered(items.len())?);
        self.lists.extend(items.iter().map(|item| item.0));
        Some(Word::pack(Unpacked::List(place)))
    }

    /// Gives memory back that no value needs.
    pub(crate) fn shrink(&mut self) {
        self.texts.shrink();
        self.numbers.shrink_to_fit();
        self.numbered.shrink_to_fit();
        self.lists.shrink_to_fit();
    }

    /// Returns the heap bytes.
    pub(crate) fn weight(&self) -> usize {
        self.texts.weight()
            + self.numbers.capacity() * size_of::<Number>()
            + self.numbered.allocation_size()
            + self.lists.capacity() * size_of::<u32>()
    }
}

/// Returns the number of the next value. `None` if there is no room.
fn numbered(count: usize) -> Option<u32> {
    u32::try_from(count).ok().filter(|number| *number < MAX_NUMBER)
}

/// A list of a pool.
#[derive(Clone, Copy)]
pub struct PackedList<'p> {
    pool: &'p Pool,
    place: u32,
}

impl<'p> PackedList<'p> {
    /// Returns the words of the items.
    pub(crate) fn words(self) -> impl ExactSizeIterator<Item = Word> + 'p {
        let (length, rest) = self.pool.lists[self.place as usize..].split_at(1);
        rest[..length[0] as usize].iter().map(|word| Word(*word))
    }

    /// Returns each item, which is not a list.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = Packed<'p>> {
        self.words().map(move |word| self.pool.get(word))
    }
}

impl fmt::Debug for PackedList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
