//! Chooses the gate of each policy, and builds the index.

use hashbrown::HashMap;

use super::gates::{Access, Gate, Interval, KINDS, Key, Keys, Scalar, accesses};
use super::lookup::{ByAttribute, Candidates, Index};
use super::prefixes::Prefixes;
use super::ranges::Ranges;
use super::ranks::{Indexed, Rank};
use crate::plan::program::{NodeId, Program};
use crate::plan::slots::{Slot, Slots};
use crate::rbac::Effect;

/// A list of so few policies is tried faster than it is searched.
const FEW: usize = 4;
/// A list that is longer is an index itself.
const LONG: usize = 16;
/// Attributes by which one list is found, at most.
const MAX_DEPTH: usize = 4;
/// What all lists inside of other lists may hold, per policy: a policy stands in each list of each of its keys,
/// so that nesting multiplies.
const NESTED_PER_POLICY: usize = 48;

/// The index over policies in the order in which they decide, and the tests that it makes superfluous for nearly
/// every policy that it finds: each with the root of the policy's condition.
pub(crate) fn build(
    program: &Program,
    slots: &Slots,
    policies: &[Indexed],
) -> (Index, Vec<(NodeId, NodeId)>) {
    // An allow that cannot be read never applies; a deny that cannot be read always does.
    let possible = |policy: &Indexed| policy.condition.is_some() || policy.effect == Effect::Deny;
    let ranked = (0..).zip(policies).filter(|(_, policy)| possible(policy));
    if policies.len() <= FEW {
        let always = ranked.map(|(rank, _)| rank).collect();
        return (Index { attributes: Box::default(), always }, Vec::new());
    }
    let entries: Vec<Entry<'_>> = ranked
        .map(|(rank, policy)| {
            let root = policy.condition;
            let accesses = root.map(|root| accesses(program, slots, root, policy.effect));
            Entry { rank, root, accesses: accesses.unwrap_or_default() }
        })
        .collect();
    let nested_left = NESTED_PER_POLICY * entries.len();
    let mut builder = Builder { nested_left, superfluous: Vec::new() };
    let all: Vec<&Entry<'_>> = entries.iter().collect();
    let index = builder.index(&all, &mut Vec::new());
    (index, builder.superfluous)
}

/// A policy, and the gates to choose from.
struct Entry<'c> {
    rank: Rank,
    root: Option<NodeId>,
    accesses: Vec<Access<'c>>,
}

struct Builder {
    nested_left: usize,
    superfluous: Vec<(NodeId, NodeId)>,
}

/// How many policies of a list need a value.
#[derive(Default)]
struct Counts<'c>(HashMap<(Slot, Sought<'c>), usize>);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sought<'c> {
    Value(Scalar<'c>),
    Member(Scalar<'c>),
    Prefix(&'c str),
}

fn sought<'c>(gate: &Gate<'c>) -> impl Iterator<Item = Sought<'c>> {
    let (values, other): (&[Scalar<'c>], _) = match &gate.keys {
        Keys::Values(values) => (values, None),
        Keys::Member(member) => (&[], Some(Sought::Member(*member))),
        Keys::Prefix(prefix) => (&[], Some(Sought::Prefix(prefix))),
        Keys::Range(_) => (&[], None),
    };
    let values: Vec<_> = values.iter().map(|value| Sought::Value(*value)).collect();
    values.into_iter().chain(other)
}

impl<'c> Counts<'c> {
    fn of(entries: &[&Entry<'c>], used: &[Slot]) -> Self {
        let mut counts = Self::default();
        for entry in entries {
            for gate in usable(entry, used).flatten() {
                for key in sought(gate) {
                    *counts.0.entry((gate.slot, key)).or_default() += 1;
                }
            }
        }
        counts
    }

    /// How many policies of `all` a value that this gate lets pass may have to try.
    fn passing(&self, gate: &Gate<'c>, all: usize) -> usize {
        match &gate.keys {
            Keys::Range(range) if range.is_two_sided() => all / 4,
            Keys::Range(_) => all / 2,
            _ => sought(gate)
                .map(|key| self.0.get(&(gate.slot, key)).copied().unwrap_or_default())
                .max()
                .unwrap_or_default(),
        }
    }
}

/// The gates of `entry` that look at no attribute of `used`.
fn usable<'e, 'c>(entry: &'e Entry<'c>, used: &[Slot]) -> impl Iterator<Item = &'e Access<'c>> {
    entry.accesses.iter().filter(|access| access.iter().all(|gate| !used.contains(&gate.slot)))
}

impl Builder {
    fn index<'c>(&mut self, entries: &[&Entry<'c>], used: &mut Vec<Slot>) -> Index {
        let counts = Counts::of(entries, used);
        let mut attributes: Vec<Group<'_, 'c>> = Vec::new();
        let mut by_slot: HashMap<Slot, usize> = HashMap::new();
        let mut always = Vec::new();
        for entry in entries {
            let tried = |access: &Access<'c>| -> usize {
                access.iter().map(|gate| counts.passing(gate, entries.len())).sum()
            };
            let best = usable(entry, used).map(|access| (tried(access), access));
            let best = best.min_by_key(|(tried, access)| (*tried, access.len()));
            let Some((_, access)) = best.filter(|(tried, _)| 4 * tried <= 3 * entries.len()) else {
                always.push(entry.rank);
                continue;
            };
            if let ([gate], Some(root)) = (access.as_slice(), entry.root) {
                self.superfluous.push((root, gate.test));
            }
            for gate in access {
                let group = *by_slot.entry(gate.slot).or_insert_with(|| {
                    attributes.push(Group::new(gate.slot));
                    attributes.len() - 1
                });
                attributes[group].add(entry, gate);
            }
        }
        let attributes = attributes.into_iter().map(|group| self.attribute(group, used)).collect();
        Index { attributes, always: always.into() }
    }

    fn attribute(&mut self, group: Group<'_, '_>, used: &mut Vec<Slot>) -> ByAttribute {
        used.push(group.slot);
        let mut keyed = |map: HashMap<Scalar<'_>, Vec<&Entry<'_>>>| -> HashMap<Key, Candidates> {
            let candidates = |(key, entries)| (Key::from(key), self.candidates(entries, used));
            map.into_iter().map(candidates).collect()
        };
        let (values, members) = (keyed(group.values), keyed(group.members));
        let prefixes = group.prefixes.into_iter();
        let prefixes =
            prefixes.map(|(prefix, entries)| (prefix.into(), self.candidates(entries, used)));
        let prefixes = Prefixes::new(prefixes.collect());
        used.pop();
        ByAttribute {
            slot: group.slot,
            values,
            members,
            prefixes,
            ranges: Ranges::new(&group.ranges),
            open: group.open.map(Vec::into_boxed_slice),
        }
    }

    fn candidates(&mut self, entries: Vec<&Entry<'_>>, used: &mut Vec<Slot>) -> Candidates {
        let list = |entries: &[&Entry<'_>]| entries.iter().map(|entry| entry.rank).collect();
        if entries.len() <= LONG || used.len() >= MAX_DEPTH {
            return Candidates::List(list(&entries));
        }
        let Some(left) = self.nested_left.checked_sub(entries.len()) else {
            return Candidates::List(list(&entries));
        };
        self.nested_left = left;
        let index = self.index(&entries, used);
        if index.attributes.is_empty() {
            return Candidates::List(index.always);
        }
        Candidates::Index(Box::new(index))
    }
}

/// What stands behind the gates of one attribute, while it is collected.
struct Group<'e, 'c> {
    slot: Slot,
    values: HashMap<Scalar<'c>, Vec<&'e Entry<'c>>>,
    members: HashMap<Scalar<'c>, Vec<&'e Entry<'c>>>,
    prefixes: HashMap<&'c str, Vec<&'e Entry<'c>>>,
    ranges: Vec<(Interval, Rank)>,
    open: [Vec<Rank>; KINDS],
}

impl<'e, 'c> Group<'e, 'c> {
    fn new(slot: Slot) -> Self {
        Self {
            slot,
            values: HashMap::new(),
            members: HashMap::new(),
            prefixes: HashMap::new(),
            ranges: Vec::new(),
            open: Default::default(),
        }
    }

    fn add(&mut self, entry: &'e Entry<'c>, gate: &Gate<'c>) {
        match &gate.keys {
            Keys::Values(keys) => {
                for key in keys {
                    self.values.entry(*key).or_default().push(entry);
                }
            }
            Keys::Member(key) => self.members.entry(*key).or_default().push(entry),
            Keys::Prefix(prefix) => self.prefixes.entry(prefix).or_default().push(entry),
            Keys::Range(range) => self.ranges.push((*range, entry.rank)),
        }
        for kind in gate.open.iter() {
            self.open[kind].push(entry.rank);
        }
    }
}
