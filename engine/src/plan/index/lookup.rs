//! The index as a check walks it.

use hashbrown::HashMap;

use super::gates::{KINDS, Key, Kind, Scalar};
use super::prefixes::Prefixes;
use super::ranges::Ranges;
use super::ranks::Rank;
use crate::plan::slots::{Slot, Symbol};
use crate::value::{List, Value};

/// The policies of a plan by the values that they need.
#[derive(Debug, Default)]
pub(crate) struct Index {
    pub(super) attributes: Box<[ByAttribute]>,
    pub(super) always: Box<[Rank]>,
}

/// The policies whose gate looks at one attribute.
#[derive(Debug)]
pub(super) struct ByAttribute {
    pub(super) slot: Slot,
    pub(super) values: HashMap<Key, Candidates>,
    pub(super) members: HashMap<Key, Candidates>,
    pub(super) prefixes: Prefixes<Candidates>,
    pub(super) ranges: Ranges,
    /// By kind: those that a value of the kind always lets pass.
    pub(super) open: [Box<[Rank]>; KINDS],
}

/// Policies to try, by ascending rank.
#[derive(Debug)]
pub(super) enum Candidates {
    List(Box<[Rank]>),
    Index(Box<Index>),
}

/// Where the policies that an index finds are tried.
pub(crate) trait Search<'v> {
    /// The value of an attribute; `None` is absent.
    fn value(&self, slot: Slot) -> Option<Value<'v>>;
    /// What that value is among the texts that the attribute is compared with.
    fn symbol(&self, slot: Slot) -> Symbol;
    /// Tries these policies, which come by ascending rank.
    fn attempt(&mut self, ranks: &[Rank]);
}

impl Index {
    /// Hands every policy that can apply to `search`, and some more. One may come twice.
    pub(crate) fn visit<'v>(&self, search: &mut impl Search<'v>) {
        for attribute in &self.attributes {
            attribute.visit(search);
        }
        search.attempt(&self.always);
    }

    /// Heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        let attributes: usize = self.attributes.iter().map(ByAttribute::weight).sum();
        size_of_val::<[Rank]>(&self.always) + attributes
    }
}

impl ByAttribute {
    fn visit<'v>(&self, search: &mut impl Search<'v>) {
        let value = search.value(self.slot);
        match value {
            Some(Value::Text(text)) => {
                let key = match search.symbol(self.slot) {
                    Symbol::NO_TEXT => Scalar::Text(text),
                    symbol => Scalar::Symbol(symbol),
                };
                visit_one(&self.values, key, search);
                self.prefixes.visit(text, |candidates| candidates.visit(search));
            }
            Some(Value::Number(number)) => {
                visit_one(&self.values, Scalar::Number(number), search);
                self.ranges.visit(number, |ranks| search.attempt(ranks));
            }
            Some(Value::Bool(value)) => visit_one(&self.values, Scalar::Bool(value), search),
            Some(Value::List(list)) => self.visit_members(list, search),
            Some(Value::Instant(_) | Value::Opaque | Value::Failed | Value::Unasked) | None => {}
        }
        search.attempt(&self.open[kind(value) as usize]);
    }

    fn visit_members<'v>(&self, list: List<'v>, search: &mut impl Search<'v>) {
        if !self.members.is_empty() {
            list.for_each(|item| {
                if let Some(scalar) = Scalar::of(item) {
                    visit_one(&self.members, scalar, search);
                }
            });
        }
    }

    fn weight(&self) -> usize {
        let maps = [&self.values, &self.members];
        let keyed = maps.into_iter().flatten().map(|(key, candidates)| match key {
            Key::Text(text) => text.len() + candidates.weight(),
            Key::Symbol(_) | Key::Number(_) | Key::Bool(_) => candidates.weight(),
        });
        let prefixes = self.prefixes.contents();
        let prefixes = prefixes.map(|(prefix, found)| prefix.len() + 24 + found.weight());
        size_of::<Self>()
            + maps.map(HashMap::allocation_size).iter().sum::<usize>()
            + keyed.chain(prefixes).sum::<usize>()
            + self.open.iter().map(|open| size_of_val::<[Rank]>(open)).sum::<usize>()
            + self.ranges.weight()
    }
}

fn visit_one<'v>(map: &HashMap<Key, Candidates>, key: Scalar<'_>, search: &mut impl Search<'v>) {
    if map.is_empty() {
        return;
    }
    if let Some(candidates) = map.get(&key) {
        candidates.visit(search);
    }
}

fn kind(value: Option<Value<'_>>) -> Kind {
    match value {
        None => Kind::Absent,
        Some(Value::Text(_)) => Kind::Text,
        Some(Value::Number(_)) => Kind::Number,
        Some(Value::Bool(_)) => Kind::Bool,
        Some(Value::List(_)) => Kind::List,
        Some(Value::Instant(_) | Value::Opaque | Value::Failed | Value::Unasked) => Kind::Opaque,
    }
}

impl Candidates {
    fn visit<'v>(&self, search: &mut impl Search<'v>) {
        match self {
            Self::List(ranks) => search.attempt(ranks),
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
