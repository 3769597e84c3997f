//! The symbols of a plan: the texts that an attribute is compared with have numbers, which are compared in place of texts.

use compact_str::CompactString;
use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::IndexSet;

use crate::short_text::{FEW, ShortText};
use crate::value::{AttributeValue, heap_bytes};

/// The number of an attribute inside a plan.
pub(crate) type Slot = u32;

/// The number of an interned text: compared and looked up in place of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

impl Symbol {
    /// The value is not a text, or the texts of the attribute are not interned.
    pub(crate) const NO_TEXT: Self = Self(u32::MAX);
    /// The value is a text that is not interned.
    pub(crate) const OTHER: Self = Self(u32::MAX - 1);

    /// Returns the place of the text among the attribute's texts; no text is at the places of other symbols.
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

/// The interned texts of each attribute. The number of a text is its place among the texts of its attribute.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// Slot `i` owns `few[starts[i]..starts[i + 1]]`.
    starts: Box<[u32]>,
    /// The texts of each attribute that has few, all short.
    few: Box<[ShortText]>,
    /// The texts of each attribute that has others, by ascending slot.
    many: Box<[(Slot, HashMap<CompactString, u32>)]>,
}

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
        let (mut starts, mut few, mut many) = (vec![0], Vec::new(), Vec::new());
        for (slot, texts) in (0..).zip(by_slot) {
            let short: Option<Vec<_>> = texts.iter().map(|text| ShortText::new(text)).collect();
            match short {
                Some(short) if short.len() <= FEW => few.extend(short),
                // Some long texts are compared as fast as they are looked up.
                None if texts.len() < MANY => {}
                _ => {
                    many.push((slot, texts.into_iter().map(CompactString::from).zip(0..).collect()))
                }
            }
            // A plan has far fewer texts than four billion.
            starts.push(u32::try_from(few.len()).unwrap_or(u32::MAX));
        }
        if few.is_empty() {
            starts.clear();
        }
        Self { starts: starts.into(), few: few.into(), many: many.into() }
    }

    /// Returns the symbol of an attribute's value.
    #[inline]
    pub(super) fn for_value(&self, slot: Slot, value: AttributeValue<'_>) -> Symbol {
        let AttributeValue::Text(text) = value else { return Symbol::NO_TEXT };
        let few = self.few_of(slot);
        if !few.is_empty() {
            return find_among_few(few, text).unwrap_or(Symbol::OTHER);
        }
        if self.many.is_empty() { Symbol::NO_TEXT } else { self.for_many(slot, text) }
    }

    /// Returns the symbol of a literal of an attribute, if its texts are interned.
    pub(super) fn for_literal(&self, slot: Slot, text: &str) -> Option<Symbol> {
        let symbol = self.for_value(slot, AttributeValue::Text(text));
        (symbol != Symbol::NO_TEXT && symbol != Symbol::OTHER).then_some(symbol)
    }

    /// Returns the attributes whose texts are interned.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        let few = (0..).zip(self.starts.windows(2)).filter(|(_, ends)| ends[0] < ends[1]);
        let few = few.map(|(slot, _)| slot);
        few.chain(self.many.iter().map(|(slot, _)| *slot))
    }

    #[inline]
    fn few_of(&self, slot: Slot) -> &[ShortText] {
        // `starts` is empty if no attribute has few texts.
        let ends = self.starts.get(slot as usize..).and_then(|rest| rest.first_chunk());
        let Some([start, end]) = ends else { return &[] };
        self.few.get(*start as usize..*end as usize).unwrap_or_default()
    }

    // A separate function keeps the search among few texts short.
    #[inline(never)]
    fn for_many(&self, slot: Slot, text: &str) -> Symbol {
        match self.many.binary_search_by_key(&slot, |(slot, _)| *slot) {
            Ok(place) => self.many[place].1.get(text).copied().map_or(Symbol::OTHER, Symbol),
            Err(_) => Symbol::NO_TEXT,
        }
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
        let texts = self
            .many
            .iter()
            .map(|(_, many)| many.allocation_size() + many.keys().map(heap_bytes).sum::<usize>());
        size_of_val::<[u32]>(&self.starts)
            + size_of_val::<[ShortText]>(&self.few)
            + size_of_val::<[(Slot, HashMap<CompactString, u32>)]>(&self.many)
            + texts.sum::<usize>()
    }
}

#[inline]
fn find_among_few(few: &[ShortText], text: &str) -> Option<Symbol> {
    let text = ShortText::new(text)?;
    let place = few.iter().position(|own| *own == text)?;
    u32::try_from(place).ok().map(Symbol)
}
