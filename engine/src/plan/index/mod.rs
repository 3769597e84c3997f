//! Which policies can apply to a check, found by the values of its attributes.
//!
//! Each policy stands behind one of its gates: in a list that is found by the value of the gate's attribute, by
//! hash for equality and membership, by prefix, or by interval. A list that is still long is an index itself,
//! by other attributes. What has no gate that tells it apart is always tried.

mod build;
mod gates;
mod prefixes;
mod ranges;

use hashbrown::HashMap;

use super::program::NodeId;
use super::slots::{Slot, Symbol};
use crate::value::{List, Value};
use gates::{KINDS, Key, Kind, Scalar};
use prefixes::Prefixes;
use ranges::Ranges;

pub(super) use build::build;

/// A policy, by its place in the order in which policies decide.
pub(super) type Rank = u32;

/// The policies of a plan by the values that they need.
#[derive(Debug, Default)]
pub(super) struct Index {
    attributes: Box<[ByAttribute]>,
    always: Box<[Rank]>,
}

/// The policies whose gate looks at one attribute.
#[derive(Debug)]
struct ByAttribute {
    slot: Slot,
    values: HashMap<Key, Candidates>,
    members: HashMap<Key, Candidates>,
    prefixes: Prefixes<Candidates>,
    ranges: Ranges,
    /// By kind: those that a value of the kind always lets pass.
    open: [Box<[Rank]>; KINDS],
}

/// Policies to try, by ascending rank.
#[derive(Debug)]
enum Candidates {
    List(Box<[Rank]>),
    Index(Box<Index>),
}

/// Where the policies that an index finds are tried.
pub(super) trait Search<'v> {
    /// The value of an attribute; `None` is absent.
    fn value(&self, slot: Slot) -> Option<Value<'v>>;
    /// What that value is among the texts that the attribute is compared with.
    fn symbol(&self, slot: Slot) -> Symbol;
    /// Tries these policies, which come by ascending rank.
    fn attempt(&mut self, ranks: &[Rank]);
}

/// A policy as an index sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Indexed {
    pub(super) effect: crate::rbac::Effect,
    /// `None` when the condition cannot be read.
    pub(super) condition: Option<NodeId>,
}

impl Index {
    /// Hands every policy that can apply to `search`, and some more. One may come twice.
    pub(super) fn visit<'v>(&self, search: &mut impl Search<'v>) {
        for attribute in &self.attributes {
            attribute.visit(search);
        }
        search.attempt(&self.always);
    }

    /// Heap bytes, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
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
