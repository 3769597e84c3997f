//! Chooses the access paths of each policy and builds the index.

use hashbrown::HashMap;

use super::access_paths::{AccessKeys, AccessPath, Alternative, Alternatives, PathFinder};
use super::ages::Ages;
use super::interval::Interval;
use super::keys::{KINDS, Key, KeyId, Sought};
use super::lookup::{ByAttribute, ByItem, Candidates, Index};
use super::prefixes::Prefixes;
use super::ranges::Ranges;
use super::ranks::{Indexed, Rank};
use crate::plan::program::{NodeId, Program};
use crate::plan::slots::{Slot, Slots, Symbol};
use crate::rbac::Effect;

/// Evaluating a list of at most this many policies is faster than searching it.
const FEW: usize = 4;
/// A longer list of candidates becomes a nested index.
const LONG: usize = 16;
/// A table by symbol has at most this many places for each symbol with candidates. A place takes half as much memory as
/// an entry of a hash table.
const SPARSE: usize = 3;
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
    let ranked = (0..).zip(policies).filter(|(_, policy)| can_apply(policy));
    if policies.len() <= FEW {
        let always = ranked.map(|(rank, _)| rank).collect();
        return (Index { attributes: Box::default(), always }, Vec::new());
    }
    let mut finder = PathFinder::new(program, slots);
    let entries: Vec<PolicyEntry> = ranked
        .map(|(rank, policy)| {
            let root = policy.condition;
            let alternatives = root.map(|root| finder.for_policy(root, policy.effect));
            PolicyEntry { rank, root, alternatives: alternatives.unwrap_or_default() }
        })
        .collect();
    let mut builder = Builder::new(finder, NESTED_PER_POLICY * entries.len());
    let all: Vec<&PolicyEntry> = entries.iter().collect();
    let index = builder.index(&all, &mut Vec::new());
    (index, builder.implied)
}

/// Returns whether a policy can apply: an allow whose condition does not compile never does, such a deny always.
fn can_apply(policy: &Indexed) -> bool {
    policy.condition.is_some() || policy.effect == Effect::Deny
}

/// A policy and its alternatives.
struct PolicyEntry {
    rank: Rank,
    root: Option<NodeId>,
    alternatives: Alternatives,
}

impl PolicyEntry {
    /// Returns the alternatives that read no attribute of `used`, which the index has read already.
    fn usable<'e>(
        &'e self,
        paths: &[AccessPath],
        used: &[Slot],
    ) -> impl Iterator<Item = &'e Alternative> {
        self.alternatives.iter().filter(move |alternative| {
            alternative.iter().all(|path| !used.contains(&paths[*path as usize].slot))
        })
    }
}

struct Builder<'c> {
    /// The access paths by number.
    paths: Vec<AccessPath>,
    /// The sought values by number.
    keys: Vec<Sought<'c>>,
    /// The number of policies in the present list that need each value.
    counts: Vec<usize>,
    /// The place of each value in its group, plus one; 0 if it has none yet.
    places: Vec<usize>,
    /// The entries that nested indexes may still take.
    nested_left: usize,
    implied: Vec<(NodeId, NodeId)>,
}

impl<'c> Builder<'c> {
    fn new(finder: PathFinder<'c>, nested_left: usize) -> Self {
        let (paths, keys) = (finder.paths, finder.keys.into_list());
        let (counts, places) = (vec![0; keys.len()], vec![0; keys.len()]);
        Self { paths, keys, counts, places, nested_left, implied: Vec::new() }
    }

    /// Indexes `entries` by attributes that are not in `used`.
    fn index(&mut self, entries: &[&PolicyEntry], used: &mut Vec<Slot>) -> Index {
        self.for_each_key(entries, used, |count| *count += 1);
        let mut groups: Vec<Group<'_>> = Vec::new();
        let mut by_slot: HashMap<Slot, usize> = HashMap::new();
        let mut always = Vec::new();
        for entry in entries {
            let Some(alternative) = self.best(entry, used, entries.len()) else {
                always.push(entry.rank);
                continue;
            };
            // The only path to a policy has already checked its test.
            if let ([path], Some(root)) = (alternative.as_slice(), entry.root) {
                self.implied.push((root, self.paths[*path as usize].test));
            }
            for path in alternative {
                let path = &self.paths[*path as usize];
                let group = *by_slot.entry(path.slot).or_insert_with(|| {
                    groups.push(Group::new(path.slot));
                    groups.len() - 1
                });
                groups[group].add(entry, path, &self.counts, &mut self.places);
            }
        }
        // The parts below count their own policies.
        self.for_each_key(entries, used, |count| *count = 0);
        let sought = groups.iter().flat_map(|group| &group.sought);
        // Only these are reset: the tables have a place for each value of the whole plan.
        sought.for_each(|(key, _)| self.places[*key as usize] = 0);
        let attributes = groups.into_iter().map(|group| self.attribute(group, used)).collect();
        Index { attributes, always: always.into() }
    }

    /// Passes the count of each key of all paths that do not read an attribute of `used`.
    fn for_each_key(
        &mut self,
        entries: &[&PolicyEntry],
        used: &[Slot],
        change: impl Fn(&mut usize),
    ) {
        for entry in entries {
            for path in entry.usable(&self.paths, used).flatten() {
                let keys = self.paths[*path as usize].sought();
                keys.iter().for_each(|key| change(&mut self.counts[*key as usize]));
            }
        }
    }

    /// Returns the most selective alternative of `entry`. `None` if it keeps more than three quarters of `all`
    /// policies: the lookup would cost more than it saves.
    fn best<'e>(
        &self,
        entry: &'e PolicyEntry,
        used: &[Slot],
        all: usize,
    ) -> Option<&'e Alternative> {
        let estimated = entry.usable(&self.paths, used).map(|alternative| {
            let paths = alternative.iter().map(|path| &self.paths[*path as usize]);
            let passing: usize = paths.map(|path| self.passing(path, all)).sum();
            (passing, alternative)
        });
        // Of equally selective alternatives, the one with the fewest lookups.
        let best = estimated.min_by_key(|(passing, alternative)| (*passing, alternative.len()));
        best.filter(|(passing, _)| 4 * passing <= 3 * all).map(|(_, alternative)| alternative)
    }

    /// Estimates how many of `all` policies remain to be evaluated for a value that this path admits.
    fn passing(&self, path: &AccessPath, all: usize) -> usize {
        match &path.keys {
            // The overlap of intervals is not counted. The guess is a quarter of them, or a half if one side is open.
            AccessKeys::Range(range) if range.is_two_sided() => all / 4,
            AccessKeys::Age { .. } => all / 4,
            AccessKeys::Range(_) => all / 2,
            AccessKeys::Values(_) | AccessKeys::Members(_) | AccessKeys::Prefix(_) => {
                let counts = path.sought().iter().map(|key| self.counts[*key as usize]);
                counts.max().unwrap_or_default()
            }
        }
    }

    /// Builds the lookups by one attribute.
    fn attribute(&mut self, group: Group<'_>, used: &mut Vec<Slot>) -> ByAttribute {
        used.push(group.slot);
        let (mut values, mut members, mut prefixes) = (Vec::new(), Vec::new(), Vec::new());
        let mut member_prefixes = Vec::new();
        for (key, entries) in group.sought {
            let candidates = self.candidates(entries, used);
            match self.keys[key as usize] {
                Sought::Value(scalar) => values.push((Key::from(scalar), candidates)),
                Sought::Member(scalar) => members.push((Key::from(scalar), candidates)),
                Sought::Prefix(prefix) => prefixes.push((prefix.into(), candidates)),
                Sought::MemberPrefix(prefix) => member_prefixes.push((prefix.into(), candidates)),
            }
        }
        used.pop();
        let symbols = by_symbol(&mut values);
        ByAttribute {
            slot: group.slot,
            symbols,
            values: values.into_iter().collect(),
            members: members.into_iter().collect(),
            items: ByItem::new(member_prefixes, group.unfiltered_items).map(Box::new),
            members_overlap: group.members_overlap,
            prefixes: Prefixes::new(prefixes),
            ranges: Ranges::new(&group.ranges),
            ages: group.ages.map(|ages| Box::new(ages.finish())),
            unfiltered: group.unfiltered.map(Vec::into_boxed_slice),
        }
    }

    /// Makes a list of candidates, or a nested index if the list is long.
    fn candidates(&mut self, entries: Vec<&PolicyEntry>, used: &mut Vec<Slot>) -> Candidates {
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

/// Takes the candidates of symbols out of `values`, if many symbols have some.
fn by_symbol(values: &mut Vec<(Key, Candidates)>) -> Box<[Option<Candidates>]> {
    let symbols = values.iter().filter_map(|(key, _)| key.symbol());
    let places = symbols.clone().map(Symbol::place).max().map_or(0, |last| last + 1);
    if places > SPARSE * symbols.count() {
        return Box::default();
    }
    let mut by_symbol: Box<[Option<Candidates>]> = (0..places).map(|_| None).collect();
    for (key, candidates) in std::mem::take(values) {
        match key.symbol() {
            Some(symbol) => by_symbol[symbol.place()] = Some(candidates),
            None => values.push((key, candidates)),
        }
    }
    by_symbol
}

/// Makes a plain list of candidates.
fn list(entries: &[&PolicyEntry]) -> Candidates {
    Candidates::List(entries.iter().map(|entry| entry.rank).collect())
}

/// The policies under the access paths of one attribute, while the index is built.
#[derive(Default)]
struct Group<'e> {
    slot: Slot,
    /// The policies that each value leads to.
    sought: Vec<(KeyId, Vec<&'e PolicyEntry>)>,
    /// Whether an entry has several members.
    members_overlap: bool,
    ranges: Vec<(Interval, Rank)>,
    ages: Option<GroupAges>,
    unfiltered: [Vec<Rank>; KINDS],
    unfiltered_items: [Vec<Rank>; KINDS],
}

/// The policies that test how far an instant is from the present, while the index is built.
struct GroupAges {
    now: Slot,
    ranges: Vec<(Interval, Rank)>,
    others: Vec<Rank>,
}

impl GroupAges {
    fn finish(self) -> Ages {
        let all = self.ranges.iter().map(|(_, rank)| *rank).collect();
        let ranges = Ranges::new(&self.ranges);
        Ages { now: self.now, ranges, others: self.others.into(), all }
    }
}

impl<'e> Group<'e> {
    fn new(slot: Slot) -> Self {
        Self { slot, ..Self::default() }
    }

    /// Adds an entry. `counts` is at least the number of entries under each key.
    fn add(
        &mut self,
        entry: &'e PolicyEntry,
        path: &AccessPath,
        counts: &[usize],
        places: &mut [usize],
    ) {
        match &path.keys {
            AccessKeys::Range(range) => self.ranges.push((*range, entry.rank)),
            AccessKeys::Age { interval, now, or_other } => {
                let new = GroupAges { now: *now, ranges: Vec::new(), others: Vec::new() };
                let ages = self.ages.get_or_insert(new);
                ages.ranges.push((*interval, entry.rank));
                ages.others.extend(or_other.then_some(entry.rank));
            }
            AccessKeys::Members(keys) => self.members_overlap |= keys.len() > 1,
            AccessKeys::Values(_) | AccessKeys::Prefix(_) => {}
        }
        for key in path.sought() {
            let place = &mut places[*key as usize];
            if *place == 0 {
                self.sought.push((*key, Vec::with_capacity(counts[*key as usize])));
                *place = self.sought.len();
            }
            self.sought[*place - 1].1.push(entry);
        }
        for kind in path.unfiltered.iter() {
            self.unfiltered[kind].push(entry.rank);
        }
        for kind in path.unfiltered_items.iter() {
            self.unfiltered_items[kind].push(entry.rank);
        }
    }
}
