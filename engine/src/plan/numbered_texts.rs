//! Texts with numbers: the names of attributes with their slots, and interned values with their symbols.

use compact_str::CompactString;
use hashbrown::HashMap;

use crate::value::heap_bytes;

/// Numbers by text.
#[derive(Debug, Default)]
pub(super) struct NumberedTexts {
    /// All texts, while they are few and short.
    few: Vec<ShortText>,
    /// All texts, once they are many or one is long.
    many: Option<Box<HashMap<CompactString, u32>>>,
}

/// A short text and its number. The length and the ends tell it from any other short text.
#[derive(Debug)]
struct ShortText {
    text: CompactString,
    ends: Ends,
    length: u32,
    number: u32,
}

/// Searching at most this many texts is faster than computing a hash.
const FEW: usize = 8;
/// Texts of at most this many bytes are equal if their lengths and ends are.
const SHORT: usize = 16;

/// The first and the last eight bytes of a text. They overlap in a short one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ends(u64, u64);

impl Ends {
    #[inline]
    fn of(text: &[u8]) -> Self {
        if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
            return Self(u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        }
        if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
            return Self(u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into());
        }
        Self(text.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)), 0)
    }
}

impl NumberedTexts {
    /// Returns the number of a text.
    #[inline]
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        if let Some(many) = &self.many {
            return find_among(many, text);
        }
        let ends = Ends::of(text.as_bytes());
        let is_same =
            |known: &&ShortText| known.length as usize == text.len() && known.ends == ends;
        self.few.iter().find(is_same).map(|known| known.number)
    }

    /// Returns the number of a text. Inserts a new text with the number `next`.
    pub(super) fn find_or_insert(&mut self, text: &str, next: u32) -> u32 {
        self.find(text).unwrap_or_else(|| {
            self.insert(text, next);
            next
        })
    }

    /// Inserts a text, which must be new.
    fn insert(&mut self, text: &str, number: u32) {
        if self.many.is_none() && self.few.len() < FEW && text.len() <= SHORT {
            // The length is at most `SHORT`.
            let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
            let ends = Ends::of(text.as_bytes());
            self.few.push(ShortText { text: text.into(), ends, length, number });
        } else {
            let many = self.many.get_or_insert_default();
            many.insert(text.into(), number);
            let few = std::mem::take(&mut self.few).into_iter();
            many.extend(few.map(|few| (few.text, few.number)));
        }
    }

    /// Returns each text and its number, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let few = self.few.iter().map(|known| (&*known.text, known.number));
        let many = self.many.iter().flat_map(|many| many.iter());
        few.chain(many.map(|(text, number)| (&**text, *number)))
    }

    /// Returns whether there are no texts.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_none()
    }

    /// Returns the heap bytes, for the weight of a plan. A short text has none of its own.
    pub(super) fn weight(&self) -> usize {
        let many = self.many.as_ref().map_or(0, |many| {
            let texts = many.keys().map(heap_bytes).sum::<usize>();
            size_of::<HashMap<CompactString, u32>>() + many.allocation_size() + texts
        });
        self.few.capacity() * size_of::<ShortText>() + many
    }

    /// Gives back the room for further texts.
    pub(super) fn shrink_to_fit(&mut self) {
        self.few.shrink_to_fit();
    }
}

/// Finds a text by its hash. A function of its own keeps the search among few texts short.
#[inline(never)]
fn find_among(many: &HashMap<CompactString, u32>, text: &str) -> Option<u32> {
    many.get(text).copied()
}

impl<'t> FromIterator<(&'t str, u32)> for NumberedTexts {
    /// Collects different texts.
    fn from_iter<I: IntoIterator<Item = (&'t str, u32)>>(numbered: I) -> Self {
        let mut texts = Self::default();
        for (text, number) in numbered {
            texts.insert(text, number);
        }
        texts
    }
}
