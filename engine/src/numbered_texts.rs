//! Texts with numbers: the names of attributes with their slots, and those of properties with their declarations.

use compact_str::CompactString;
use hashbrown::HashMap;

use crate::short_text::{FEW, ShortText};
use crate::value::heap_bytes;

/// Numbers by text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NumberedTexts {
    /// All texts, while they are few and short.
    few: Vec<Numbered>,
    /// All texts, once they are many or one is long.
    many: Option<Box<HashMap<CompactString, u32>>>,
}

/// A short text and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Numbered {
    short: ShortText,
    text: CompactString,
    number: u32,
}

impl NumberedTexts {
    /// Returns the number of a text.
    #[inline]
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        if let Some(many) = &self.many {
            return find_among(many, text);
        }
        // A long text is not among the few, which are all short.
        let short = ShortText::new(text)?;
        self.few.iter().find(|known| known.short == short).map(|known| known.number)
    }

    /// Returns the number of a text. Inserts a new text with the number `next`.
    pub(crate) fn find_or_insert(&mut self, text: &str, next: u32) -> u32 {
        self.find(text).unwrap_or_else(|| {
            self.insert(text, next);
            next
        })
    }

    /// Inserts a text, which must be new.
    fn insert(&mut self, text: &str, number: u32) {
        let short = ShortText::new(text).filter(|_| self.few.len() < FEW && self.many.is_none());
        if let Some(short) = short {
            self.few.push(Numbered { short, text: text.into(), number });
        } else {
            let many = self.many.get_or_insert_default();
            many.insert(text.into(), number);
            // The few move over the first time; later there are none.
            let few = std::mem::take(&mut self.few).into_iter();
            many.extend(few.map(|few| (few.text, few.number)));
        }
    }

    /// Returns each text and its number, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let few = self.few.iter().map(|known| (&*known.text, known.number));
        let many = self.many.iter().flat_map(|many| many.iter());
        few.chain(many.map(|(text, number)| (&**text, *number)))
    }

    /// Returns whether there are no texts.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.many.is_none()
    }

    /// Returns the heap bytes. A short text has none.
    pub(crate) fn weight(&self) -> usize {
        let many = self.many.as_ref().map_or(0, |many| {
            let texts = many.keys().map(heap_bytes).sum::<usize>();
            size_of::<HashMap<CompactString, u32>>() + many.allocation_size() + texts
        });
        self.few.capacity() * size_of::<Numbered>() + many
    }

    /// Gives back the room for further texts.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.few.shrink_to_fit();
    }
}

/// Finds a text by its hash. A separate function keeps the search among few texts short.
#[inline(never)]
fn find_among(many: &HashMap<CompactString, u32>, text: &str) -> Option<u32> {
    many.get(text).copied()
}
