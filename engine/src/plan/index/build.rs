//! Chooses the access paths of each policy and builds the index.

use hashbrown::HashMap;

use super::access_paths::{
    AccessKeys, AccessPath, Alternative, Interval, KINDS, Key, Scalar, alternatives,
};
use super::lookup::{ByAttribute, Candidates, Index};
use super::prefixes::Prefixes;
use super::ranges::Ranges;
use super::ranks::{Indexed, Rank};
use crate::plan::program::{NodeId, Program};
use crate::plan::slots::{Slot, Slots};
use crate::rbac::Effect;

/// Evaluating a list of at most this many policies is faster than searching it.
const FEW: usize = 4;
/// A longer list of candidates becomes a nested index.
const LONG: usize = 16;
/// The maximum nesting: the number of attributes that lead to one list.
const MAX_DEPTH: usize = 4;
/// The maximum number of entries in nested indexes, per policy of the plan. A policy is listed under each of its
/// keys, so nesting multiplies the entries.
const NESTED_PER_POLICY: usize = 48;

/// Builds the index over `policies`, which come by ascending rank.
///
/// Also returns the implied tests, each as `(root of the condition, test)`: the index has already checked them for
/// nearly every policy that it finds.
pub(crate) fn build(
    program: &Program,
    slots: &Slots,
    policies: &[Indexed],
) -> (Index, Vec<(NodeId, NodeId)>) {
    // An allow whose condition does not compile never applies; such a deny always applies.
    let possible = |policy: &Indexed| policy.condition.is_some() || policy.effect == Effect::Deny;
    let ranked = (0..).zip(policies).filter(|(_, policy)| possible(policy));
    if policies.len() <= FEW {
        let always = ranked.map(|(rank, _)| rank).collect();
        return (Index { attributes: Box::default(), always }, Vec::new());
    }
    let entries: Vec<Entry<'_>> = ranked
        .map(|(rank, policy)| {
            let root = policy.condition;
            let alternatives = root.map(|root| alternatives(program, slots, root, policy.effect));
            Entry { rank, root, alternatives: alternatives.unwrap_or_default() }
        })
        .collect();
    let nested_left = NESTED_PER_POLICY * entries.len();
    let mut builder = Builder { nested_left, implied: Vec::new() };
    let all: Vec<&Entry<'_>> = entries.iter().collect();
    let index = builder.index(&all, &mut Vec::new());
    (index, builder.implied)
}

/// A policy and its alternatives.
struct Entry<'c> {
    rank: Rank,
    root: Option<NodeId>,
    alternatives: Vec<Alternative<'c>>,
}

struct Builder {
    /// The entries that nested indexes may still take.
    nested_left: usize,
    implied: Vec<(NodeId, NodeId)>,
}

/// The number of policies in a list that need each value.
#[derive(Default)]
struct Counts<'c>(HashMap<(Slot, Sought<'c>), usize>);

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sought<'c> {
    Value(Scalar<'c>),
    Member(Scalar<'c>),
    Prefix(&'c str),
}

/// Returns the values that lead to a policy by this path. An interval has none.
fn sought<'c>(path: &AccessPath<'c>) -> impl Iterator<Item = Sought<'c>> {
    let (values, other): (&[Scalar<'c>], _) = match &path.keys {
        AccessKeys::Values(values) => (values, None),
        AccessKeys::Member(member) => (&[], Some(Sought::Member(*member))),
        AccessKeys::Prefix(prefix) => (&[], Some(Sought::Prefix(prefix))),
        AccessKeys::Range(_) => (&[], None),
    };
    values.iter().map(|value| Sought::Value(*value)).chain(other)
}

impl<'c> Counts<'c> {
    /// Counts the keys of all paths that do not read an attribute of `used`.
    fn of(entries: &[&Entry<'c>], used: &[Slot]) -> Self {
        let mut counts = Self::default();
        for entry in entries {
            for path in usable(entry, used).flatten() {
                for key in sought(path) {
                    *counts.0.entry((path.slot, key)).or_default() += 1;
                }
            }
        }
        counts
    }

    /// Estimates how many of `all` policies remain to be evaluated for a value that this path admits.
    fn passing(&self, path: &AccessPath<'c>, all: usize) -> usize {
        match &path.keys {
            // The overlap of intervals is not counted. The guess is a quarter of them, or a half if one side is open.
            AccessKeys::Range(range) if range.is_two_sided() => all / 4,
            AccessKeys::Range(_) => all / 2,
            _ => sought(path)
                .map(|key| self.0.get(&(path.slot, key)).copied().unwrap_or_default())
                .max()
                .unwrap_or_default(),
        }
    }

    /// Returns the most selective alternative of `entry`. `None` if it keeps more than three quarters of `all`
    /// policies: the lookup would cost more than it saves.
    fn best<'e>(
        &self,
        entry: &'e Entry<'c>,
        used: &[Slot],
        all: usize,
    ) -> Option<&'e Alternative<'c>> {
        let estimated = usable(entry, used).map(|alternative| {
            let passing: usize = alternative.iter().map(|path| self.passing(path, all)).sum();
            (passing, alternative)
        });
        let best = estimated.min_by_key(|(passing, alternative)| (*passing, alternative.len()));
        best.filter(|(passing, _)| 4 * passing <= 3 * all).map(|(_, alternative)| alternative)
    }
}

/// Returns the alternatives of `entry` that read no attribute of `used`, which the index has read already.
fn usable<'e, 'c>(
    entry: &'e Entry<'c>,
    used: &[Slot],
) -> impl Iterator<Item = &'e Alternative<'c>> {
    entry
        .alternatives
        .iter()
        .filter(|alternative| alternative.iter().all(|path| !used.contains(&path.slot)))
}

impl Builder {
    /// Indexes `entries` by attributes that are not in `used`.
    fn index<'c>(&mut self, entries: &[&Entry<'c>], used: &mut Vec<Slot>) -> Index {
        let counts = Counts::of(entries, used);
        let mut attributes: Vec<Group<'_, 'c>> = Vec::new();
        let mut by_slot: HashMap<Slot, usize> = HashMap::new();
        let mut always = Vec::new();
        for entry in entries {
            let Some(alternative) = counts.best(entry, used, entries.len()) else {
                always.push(entry.rank);
                continue;
            };
            // The only path to a policy has already checked its test.
            if let ([path], Some(root)) = (alternative.as_slice(), entry.root) {
                self.implied.push((root, path.test));
            }
            for path in alternative {
                let group = *by_slot.entry(path.slot).or_insert_with(|| {
                    attributes.push(Group::new(path.slot));
                    attributes.len() - 1
                });
                attributes[group].add(entry, path);
            }
        }
        let attributes = attributes.into_iter().map(|group| self.attribute(group, used)).collect();
        Index { attributes, always: always.into() }
    }

    /// Builds the lookups by one attribute.
    fn attribute(&mut self, group: Group<'_, '_>, used: &mut Vec<Slot>) -> ByAttribute {
        used.push(group.slot);
        let values = self.keyed(group.values, used);
        let members = self.keyed(group.members, used);
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
            unfiltered: group.unfiltered.map(Vec::into_boxed_slice),
        }
    }

    /// Builds the candidates of each key.
    fn keyed(
        &mut self,
        entries: HashMap<Scalar<'_>, Vec<&Entry<'_>>>,
        used: &mut Vec<Slot>,
    ) -> HashMap<Key, Candidates> {
        let keys = entries.into_iter();
        keys.map(|(key, entries)| (Key::from(key), self.candidates(entries, used))).collect()
    }

    /// Makes a list of candidates, or a nested index if the list is long.
    fn candidates(&mut self, entries: Vec<&Entry<'_>>, used: &mut Vec<Slot>) -> Candidates {
        if entries.len() <= LONG || used.len() >= MAX_DEPTH {
            return list(&entries);
        }
        let Some(left) = self.nested_left.checked_sub(entries.len()) else {
            return list(&entries);
        };
        self.nested_left = left;
        let index = self.index(&entries, used);
        if index.attributes.is_empty() {
            // No attribute divides the list further.
            return Candidates::List(index.always);
        }
        Candidates::Index(Box::new(index))
    }
}

/// Makes a plain list of candidates.
fn list(entries: &[&Entry<'_>]) -> Candidates {
    Candidates::List(entries.iter().map(|entry| entry.rank).collect())
}

/// The policies under the access paths of one attribute, while the index is built.
struct Group<'e, 'c> {
    slot: Slot,
    values: HashMap<Scalar<'c>, Vec<&'e Entry<'c>>>,
    members: HashMap<Scalar<'c>, Vec<&'e Entry<'c>>>,
    prefixes: HashMap<&'c str, Vec<&'e Entry<'c>>>,
    ranges: Vec<(Interval, Rank)>,
    unfiltered: [Vec<Rank>; KINDS],
}

impl<'e, 'c> Group<'e, 'c> {
    fn new(slot: Slot) -> Self {
        Self {
            slot,
            values: HashMap::new(),
            members: HashMap::new(),
            prefixes: HashMap::new(),
            ranges: Vec::new(),
            unfiltered: Default::default(),
        }
    }

    fn add(&mut self, entry: &'e Entry<'c>, path: &AccessPath<'c>) {
        match &path.keys {
            AccessKeys::Values(keys) => {
                for key in keys {
                    self.values.entry(*key).or_default().push(entry);
                }
            }
            AccessKeys::Member(key) => self.members.entry(*key).or_default().push(entry),
            AccessKeys::Prefix(prefix) => self.prefixes.entry(prefix).or_default().push(entry),
            AccessKeys::Range(range) => self.ranges.push((*range, entry.rank)),
        }
        for kind in path.unfiltered.iter() {
            self.unfiltered[kind].push(entry.rank);
        }
    }
}
