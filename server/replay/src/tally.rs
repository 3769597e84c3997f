//! The counts of a replay, and its groups of differences.

use std::cmp::Reverse;
use std::sync::Arc;

use ahash::{HashMap, HashSet, RandomState};
use portcullis_model::replay::{ReplayChange, ReplayGroup, ReplayReport};
use uuid::Uuid;

use crate::comparison::{Compared, Difference};
use crate::inputs::RecordedInputs;

/// The most groups. Further differences are counted, and have no group.
const MAX_GROUPS: usize = 1_000;
/// The most subjects of all groups that are told apart, by 64 bits each.
const MAX_SUBJECTS: usize = 200_000;
/// The most ids that a group shows.
const MAX_SAMPLES: usize = 5;
/// The most groups that a report shows.
const MAX_SHOWN: usize = 200;

/// The counts of a replay. The counts of its parts add up.
#[derive(Debug, Default)]
pub struct Tally {
    replayed: u64,
    reproduced: u64,
    not_replayable: u64,
    counts: HashMap<ReplayChange, u64>,
    groups: HashMap<GroupKey, Group>,
    subjects: usize,
    /// A difference has no group.
    has_more_groups: bool,
    hashing: Hashing,
}

/// Equal for all parts of a process, so that they know a subject again.
#[derive(Debug)]
struct Hashing(RandomState);

impl Default for Hashing {
    fn default() -> Self {
        // Nobody gains by two subjects that count as one.
        Self(RandomState::with_seeds(1, 2, 3, 4))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GroupKey {
    change: ReplayChange,
    resource: Arc<str>,
    before: Arc<str>,
    after: Option<Arc<str>>,
}

#[derive(Debug, Default)]
struct Group {
    count: u64,
    subjects: HashSet<u64>,
    /// The newest ones.
    samples: Vec<Uuid>,
}

impl Tally {
    /// Counts the outcome of a record.
    pub fn add(&mut self, record: &RecordedInputs<'_>, compared: Compared) {
        self.replayed += 1;
        let difference = match compared {
            Compared::NotReplayable => {
                self.not_replayable += 1;
                return;
            }
            Compared::Same => {
                self.reproduced += 1;
                return;
            }
            Compared::Differs(difference) => difference,
        };
        let Difference { change, before, after } = difference;
        self.reproduced += u64::from(change != ReplayChange::NotReproduced);
        *self.counts.entry(change).or_default() += 1;
        let key = GroupKey { change, resource: (*record.resource).into(), before, after };
        let subject = self.hashing.0.hash_one(&*record.subject);
        let Some(group) = group(&mut self.groups, key) else {
            self.has_more_groups = true;
            return;
        };
        group.count += 1;
        group.add_sample(record.id);
        if self.subjects < MAX_SUBJECTS && group.subjects.insert(subject) {
            self.subjects += 1;
        }
    }

    /// Counts a record that cannot be read, or whose rules are not kept.
    pub fn add_not_replayable(&mut self) {
        self.replayed += 1;
        self.not_replayable += 1;
    }

    /// Adds the counts of another part.
    pub fn merge(&mut self, other: Self) {
        self.replayed += other.replayed;
        self.reproduced += other.reproduced;
        self.not_replayable += other.not_replayable;
        for (change, count) in other.counts {
            *self.counts.entry(change).or_default() += count;
        }
        self.has_more_groups |= other.has_more_groups;
        for (key, new) in other.groups {
            let Some(group) = group(&mut self.groups, key) else {
                self.has_more_groups = true;
                continue;
            };
            group.count += new.count;
            new.samples.into_iter().for_each(|id| group.add_sample(id));
            for subject in new.subjects {
                if self.subjects < MAX_SUBJECTS && group.subjects.insert(subject) {
                    self.subjects += 1;
                }
            }
        }
    }

    /// Returns the report so far, with the largest groups first.
    pub fn report(&self, complete: bool) -> ReplayReport {
        let allow_to_deny = self.count(ReplayChange::AllowToDeny);
        let deny_to_allow = self.count(ReplayChange::DenyToAllow);
        let undetermined_new = self.count(ReplayChange::UndeterminedNew);
        let mut groups: Vec<ReplayGroup> = self.groups.iter().map(shown).collect();
        groups.sort_by_cached_key(report_order);
        let more_groups = self.has_more_groups || groups.len() > MAX_SHOWN;
        if groups.len() > MAX_SHOWN {
            groups = largest_of_each(groups);
            groups.sort_by_cached_key(report_order);
        }
        ReplayReport {
            replayed: self.replayed,
            reproduced: self.reproduced,
            // All of these are reproduced: `add` counts only a record that is not reproduced elsewhere.
            unchanged: self.reproduced - allow_to_deny - deny_to_allow - undetermined_new,
            allow_to_deny,
            deny_to_allow,
            rule_changed: self.count(ReplayChange::RuleChanged),
            not_replayable: self.not_replayable,
            undetermined_new,
            groups,
            more_groups,
            complete,
        }
    }

    fn count(&self, change: ReplayChange) -> u64 {
        self.counts.get(&change).copied().unwrap_or_default()
    }
}

impl Group {
    fn add_sample(&mut self, id: Uuid) {
        // Ids grow with time, so that the newest ones come first.
        let place = self.samples.partition_point(|known| *known > id);
        self.samples.insert(place, id);
        self.samples.truncate(MAX_SAMPLES);
    }
}

/// Returns the key by which a report orders its groups: by change, the largest first.
fn report_order(group: &ReplayGroup) -> impl Ord + use<> {
    let names = (group.resource.clone(), group.before.clone(), group.after.clone());
    (group.change, Reverse(group.count), names)
}

/// Returns as many groups as are shown: the largest ones of each change, so that many of one change hide none of another.
fn largest_of_each(groups: Vec<ReplayGroup>) -> Vec<ReplayGroup> {
    let mut counts = HashMap::<ReplayChange, usize>::default();
    let ranked = groups.into_iter().map(|group| {
        let rank = counts.entry(group.change).or_default();
        *rank += 1;
        (*rank, group)
    });
    let mut ranked: Vec<_> = ranked.collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.truncate(MAX_SHOWN);
    ranked.into_iter().map(|(_, group)| group).collect()
}

/// Returns the group of a key; `None` if there are too many.
fn group(groups: &mut HashMap<GroupKey, Group>, key: GroupKey) -> Option<&mut Group> {
    if groups.len() >= MAX_GROUPS && !groups.contains_key(&key) {
        return None;
    }
    Some(groups.entry(key).or_default())
}

fn shown((key, group): (&GroupKey, &Group)) -> ReplayGroup {
    ReplayGroup {
        change: key.change,
        resource: key.resource.to_string(),
        before: key.before.to_string(),
        after: key.after.as_ref().map(|name| name.to_string()),
        count: group.count,
        subjects: u64::try_from(group.subjects.len()).unwrap_or(u64::MAX),
        samples: group.samples.clone(),
    }
}
