//! The built index and its lookups.

use std::hash::Hash;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::ages::Ages;
use super::keys::{KINDS, Key, Scalar, ValueKind, ValueKinds};
use super::prefixes::Prefixes;
use super::ranges::Ranges;
use super::ranks::{Rank, Search};
use crate::plan::program::Run;
use crate::plan::slots::{Slot, Symbol};
use crate::value::{AttributeValue, List};

/// The policies of a plan, by the attribute values for which they can apply.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(super) attributes: Box<[ByAttribute]>,
    /// The policies without a useful access path: every check evaluates them.
    pub(super) always: Box<[Rank]>,
}

/// The policies with an access path that reads one attribute.
#[derive(Debug)]
pub(super) struct ByAttribute {
    pub(super) slot: Slot,
    /// By symbol, if the attribute has candidates for many of its interned texts. Then `values` has no symbols.
    pub(super) symbols: Box<[Option<Candidates>]>,
    pub(super) values: HashMap<Key, Candidates>,
    pub(super) members: HashMap<Key, Candidates>,
    /// By the items of a list, in other ways than by equality.
    pub(super) items: Option<Box<ByItem>>,
    /// Whether a policy is among the candidates of several members.
    pub(super) members_overlap: bool,
    pub(super) prefixes: Prefixes<Candidates>,
    pub(super) ranges: Ranges,
    pub(super) ages: Option<Box<Ages>>,
    /// By value kind: the policies that admit every value of the kind.
    pub(super) unfiltered: [Box<[Rank]>; KINDS],
}

/// The policies that an item of a list leads to in other ways than by equality.
#[derive(Debug)]
pub(super) struct ByItem {
    prefixes: Prefixes<Candidates>,
    /// By the kind of the item: the policies that admit every list with such an item.
    unfiltered: [Box<[Rank]>; KINDS],
}

impl ByItem {
    /// Makes the lookup; `None` if it would find nothing.
    pub(super) fn new(
        prefixes: Vec<(Box<str>, Candidates)>,
        unfiltered: [Vec<Rank>; KINDS],
    ) -> Option<Self> {
        let is_needed = !prefixes.is_empty() || unfiltered.iter().any(|ranks| !ranks.is_empty());
        let unfiltered = unfiltered.map(Vec::into_boxed_slice);
        is_needed.then(|| Self { prefixes: Prefixes::new(prefixes), unfiltered })
    }

    /// Visits the candidates that the items of a list lead to, each once.
    fn visit<'v>(&self, list: List<'v>, search: &mut impl Search<'v>) {
        let (mut visited, mut kinds) = (Distinct::default(), ValueKinds::NONE);
        list.for_each(|item| {
            if let AttributeValue::Text(text) = item {
                self.prefixes.visit(text, |candidates| {
                    // Candidates are told apart by their address, because no two keys share them.
                    if visited.insert(std::ptr::from_ref(candidates)) {
                        candidates.visit(search);
                    }
                });
            }
            kinds = kinds.with(kind_of(Some(item)));
        });
        kinds.iter().for_each(|kind| search.evaluate(&self.unfiltered[kind]));
    }

    fn weight(&self) -> usize {
        let prefixes = self.prefixes.contents().map(|(_, candidates)| candidates.weight());
        let unfiltered = self.unfiltered.iter().map(|ranks| size_of_val::<[Rank]>(ranks));
        let own = size_of::<Self>() + self.prefixes.weight();
        own + prefixes.chain(unfiltered).sum::<usize>()
    }
}

/// The policies to evaluate, by ascending rank.
#[derive(Debug)]
pub(super) enum Candidates {
    List(Box<[Rank]>),
    Index(Box<Index>),
}

impl Index {
    /// Passes every policy that can apply to `search`, and possibly others. A policy may come twice.
    #[inline]
    pub(crate) fn visit<'v>(&self, search: &mut impl Search<'v>) {
        if !self.attributes.is_empty() {
            self.visit_attributes(search);
        }
        search.evaluate(&self.always);
    }

    fn visit_attributes<'v>(&self, search: &mut impl Search<'v>) {
        for attribute in &self.attributes {
            attribute.visit(search);
        }
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        let attributes: usize = self.attributes.iter().map(ByAttribute::weight).sum();
        size_of_val::<[Rank]>(&self.always) + attributes
    }
}

impl ByAttribute {
    fn visit<'v>(&self, search: &mut impl Search<'v>) {
        let value = search.run().value(self.slot);
        match value {
            Some(AttributeValue::Text(text)) => {
                let symbol = search.run().symbol(self.slot);
                // `NO_TEXT` and `OTHER` have places beyond every table.
                if let Some(known) = self.symbols.get(symbol.place()) {
                    known.iter().for_each(|candidates| candidates.visit(search));
                } else {
                    let key = match symbol {
                        Symbol::NO_TEXT => Scalar::Text(text),
                        symbol => Scalar::Symbol(symbol),
                    };
                    visit_one(&self.values, key, search);
                }
                self.prefixes.visit(text, |candidates| candidates.visit(search));
                self.ages.iter().for_each(|ages| ages.visit(text, search));
            }
            Some(AttributeValue::Number(number)) => {
                visit_one(&self.values, Scalar::Number(number), search);
                self.ranges.visit(number, |ranks| search.evaluate(ranks));
            }
            Some(AttributeValue::Bool(value)) => {
                visit_one(&self.values, Scalar::Bool(value), search)
            }
            Some(AttributeValue::List(list)) if self.members_overlap => {
                self.visit_members(list, &mut Once { search, ranks: Distinct::default() });
            }
            Some(AttributeValue::List(list)) => self.visit_members(list, search),
            Some(
                AttributeValue::Instant(_)
                | AttributeValue::Period(_)
                | AttributeValue::Opaque
                | AttributeValue::Failed
                | AttributeValue::NotRequested,
            )
            | None => {}
        }
        search.evaluate(&self.unfiltered[kind_of(value) as usize]);
    }

    /// Visits the candidates of each item once, however often the item comes.
    fn visit_members<'v>(&self, list: List<'v>, search: &mut impl Search<'v>) {
        if let Some(items) = &self.items {
            items.visit(list, search);
        }
        if self.members.is_empty() {
            return;
        }
        let mut visited = Distinct::default();
        list.for_each(|item| {
            let found = Scalar::from_value(item).and_then(|scalar| self.members.get(&scalar));
            if let Some(candidates) = found
                && visited.insert(std::ptr::from_ref(candidates))
            {
                candidates.visit(search);
            }
        });
    }

    fn weight(&self) -> usize {
        let maps = [&self.values, &self.members];
        let keyed = maps.into_iter().flatten().map(|(key, candidates)| match key {
            Key::Text(text) => text.len() + candidates.weight(),
            Key::Symbol(_) | Key::Number(_) | Key::Bool(_) => candidates.weight(),
        });
        let symbols = self.symbols.iter().flatten().map(Candidates::weight);
        let prefixes = self.prefixes.contents().map(|(_, candidates)| candidates.weight());
        size_of::<Self>()
            + maps.map(HashMap::allocation_size).iter().sum::<usize>()
            + size_of_val::<[Option<Candidates>]>(&self.symbols)
            + symbols.chain(keyed).chain(prefixes).sum::<usize>()
            + self.prefixes.weight()
            + self
                .unfiltered
                .iter()
                .map(|unfiltered| size_of_val::<[Rank]>(unfiltered))
                .sum::<usize>()
            + self.items.as_ref().map_or(0, |items| items.weight())
            + self.ranges.weight()
            + self.ages.as_ref().map_or(0, |ages| size_of::<Ages>() + ages.weight())
    }
}

/// The number of hits that are remembered without a hash table. Few lists have more.
const FEW_HITS: usize = 16;

/// Values that were met.
struct Distinct<T> {
    few: SmallVec<[T; FEW_HITS]>,
    many: HashSet<T>,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { few: SmallVec::new(), many: HashSet::new() }
    }
}

impl<T: Copy + Eq + Hash> Distinct<T> {
    /// Adds a value. Returns whether it is new.
    fn insert(&mut self, value: T) -> bool {
        if self.few.contains(&value) {
            return false;
        }
        if self.few.len() < FEW_HITS {
            self.few.push(value);
            return true;
        }
        self.many.insert(value)
    }
}

/// A search that evaluates each policy once, however many items lead to it.
struct Once<'s, 'v> {
    // A trait object: a type parameter would nest without end, as nested indexes begin such searches in each other.
    search: &'s mut dyn Search<'v>,
    ranks: Distinct<Rank>,
}

impl<'v> Search<'v> for Once<'_, 'v> {
    fn run(&self) -> &Run<'v> {
        self.search.run()
    }

    fn evaluate(&mut self, ranks: &[Rank]) {
        for rank in ranks {
            if self.ranks.insert(*rank) {
                self.search.evaluate(&[*rank]);
            }
        }
    }
}

/// Visits the candidates of one key.
fn visit_one<'v>(map: &HashMap<Key, Candidates>, key: Scalar<&str>, search: &mut impl Search<'v>) {
    // Most attributes have no key of one of the kinds, and hashing a text costs more than this test.
    if map.is_empty() {
        return;
    }
    if let Some(candidates) = map.get(&key) {
        candidates.visit(search);
    }
}

/// Returns the kind of an attribute's value.
fn kind_of(value: Option<AttributeValue<'_>>) -> ValueKind {
    match value {
        None => ValueKind::Absent,
        Some(AttributeValue::Text(_)) => ValueKind::Text,
        Some(AttributeValue::Number(_)) => ValueKind::Number,
        Some(AttributeValue::Bool(_)) => ValueKind::Bool,
        Some(AttributeValue::List(_)) => ValueKind::List,
        Some(
            AttributeValue::Instant(_)
            | AttributeValue::Period(_)
            | AttributeValue::Opaque
            | AttributeValue::Failed
            | AttributeValue::NotRequested,
        ) => ValueKind::Opaque,
    }
}

impl Candidates {
    fn visit<'v>(&self, search: &mut impl Search<'v>) {
        match self {
            Self::List(ranks) => search.evaluate(ranks),
            Self::Index(index) => index.visit(search),
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::List(ranks) => size_of_val::<[Rank]>(ranks),
            Self::Index(index) => size_of::<Index>() + index.weight(),
        }
    }
}
