//! The symbols of a plan: the texts that an attribute is compared with have numbers, which are compared in place of texts.

use compact_str::CompactString;
use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexSet;

use super::short_text::ShortText;
use super::slots::Slot;
use crate::value::{AttributeValue, heap_bytes};

/// The number of an interned text: compared and looked up in place of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

impl Symbol {
    /// The value is no text, or the texts of the attribute are not interned.
    pub(crate) const NO_TEXT: Self = Self(u32::MAX);
    /// The value is a text that is not interned.
    pub(crate) const OTHER: Self = Self(u32::MAX - 1);

    /// Returns the place of the text among those of the attribute; no text is at the places of other symbols.
    #[inline]
    pub(crate) fn place(self) -> usize {
        self.0 as usize
    }

    /// Returns the symbol's bit in a mask, if it is one of the first 32.
    #[inline]
    pub(crate) fn bit(self) -> Option<u32> {
        1u32.checked_shl(self.0)
    }
}

/// The interned texts of each attribute.
#[derive(Debug, Default)]
pub(super) struct Symbols(Box<[Texts]>);

/// The interned texts of an attribute. The number of a text is its place.
#[derive(Debug)]
enum Texts {
    None,
    /// Few and short texts: searching them is faster than computing a hash.
    Few(Box<[ShortText]>),
    Many(Box<HashMap<CompactString, u32>>),
}

/// The most texts that are searched one after the other.
const FEW: usize = 8;
/// The number of texts from which on they are interned even if one of them is long: looking a text up by its hash costs
/// as much as comparing it with this many.
const MANY: usize = 4;

impl Symbols {
    /// Interns the texts that attributes are compared with.
    pub(super) fn new(slots: usize, literals: Vec<(Slot, Vec<&str>)>) -> Self {
        let mut by_slot: Vec<IndexSet<&str, DefaultHashBuilder>> = Vec::new();
        by_slot.resize_with(slots, IndexSet::default);
        for (slot, texts) in literals {
            by_slot[slot as usize].extend(texts);
        }
        Self(by_slot.into_iter().map(Texts::new).collect())
    }

    /// Returns the symbol of an attribute's value.
    #[inline]
    pub(super) fn of(&self, slot: Slot, value: AttributeValue<'_>) -> Symbol {
        match (&self.0[slot as usize], value) {
            (Texts::None, _) => Symbol::NO_TEXT,
            (texts, AttributeValue::Text(text)) => texts.find(text).map_or(Symbol::OTHER, Symbol),
            _ => Symbol::NO_TEXT,
        }
    }

    /// Returns the symbol of a literal of an attribute, if its texts are interned.
    pub(super) fn of_literal(&self, slot: Slot, text: &str) -> Option<Symbol> {
        self.0[slot as usize].find(text).map(Symbol)
    }

    /// Returns the attributes whose texts are interned.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        let interned = (0..).zip(&self.0).filter(|(_, texts)| !matches!(texts, Texts::None));
        interned.map(|(slot, _)| slot)
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
        size_of_val::<[Texts]>(&self.0) + self.0.iter().map(Texts::weight).sum::<usize>()
    }
}

impl Texts {
    fn new(texts: IndexSet<&str, DefaultHashBuilder>) -> Self {
        let short = texts.iter().map(|text| ShortText::of(text)).collect::<Option<Box<[_]>>>();
        match short {
            Some(_) if texts.is_empty() => Self::None,
            Some(short) if short.len() <= FEW => Self::Few(short),
            None if texts.len() < MANY => Self::None,
            _ => {
                Self::Many(Box::new(texts.into_iter().map(CompactString::from).zip(0..).collect()))
            }
        }
    }

    #[inline]
    fn find(&self, text: &str) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Few(few) => {
                let text = ShortText::of(text)?;
                let place = few.iter().position(|own| *own == text)?;
                u32::try_from(place).ok()
            }
            Self::Many(many) => find_among(many, text),
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Few(few) => size_of_val::<[ShortText]>(few),
            Self::Many(many) => {
                let texts = many.keys().map(heap_bytes).sum::<usize>();
                size_of::<HashMap<CompactString, u32>>() + many.allocation_size() + texts
            }
        }
    }
}

/// Finds a text by its hash. A function of its own keeps the search among few texts short.
#[inline(never)]
fn find_among(many: &HashMap<CompactString, u32>, text: &str) -> Option<u32> {
    many.get(text).copied()
}
