//! The places of groups that are counted: each registered resource has a share of them, and all other names have one together, so
//! that names that callers invent push out no others.

use std::collections::{BTreeMap, BTreeSet};

/// The names of the registered resources of a tenant.
pub type RegisteredResources = BTreeSet<String>;

/// The groups that have one of a bounded number of places.
#[derive(Debug)]
pub(crate) struct GroupShares<K> {
    registered: RegisteredResources,
    /// The most groups.
    most: usize,
    count: usize,
    /// By registered resource; `None` has the groups of all other resources.
    families: BTreeMap<Option<String>, Family<K>>,
    /// The groups that lost their places. They get none again, since their counts would lack records.
    lost: BTreeSet<K>,
}

/// The groups of one resource.
#[derive(Debug)]
struct Family<K> {
    /// In the order in which they came.
    groups: Vec<K>,
    /// Whether one found no place, or lost it. Later ones get none.
    is_full: bool,
}

/// The place of a new group.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GroupPlace<K> {
    Free,
    /// The place of this group, which is counted no more.
    InsteadOf(K),
    None,
}

impl<K: Ord + Clone> GroupShares<K> {
    pub(crate) fn new(registered: RegisteredResources, most: usize) -> Self {
        let (families, lost) = (BTreeMap::new(), BTreeSet::new());
        Self { registered, most, count: 0, families, lost }
    }

    /// Returns the place of the new group `key`, whose first record is about `resource`. If there is no free place, it is the
    /// last one of the resource with the most groups, as long as that has more.
    pub(crate) fn place(&mut self, resource: &str, key: &K) -> GroupPlace<K> {
        let name = self.registered.get(resource).cloned();
        let own = self.families.entry(name.clone()).or_default();
        if own.is_full || self.lost.contains(key) {
            return GroupPlace::None;
        }
        let place = match self.count < self.most {
            true => GroupPlace::Free,
            false => {
                let own = own.groups.len();
                // Of equal ones, that of other resources, which comes first in their order.
                let families = self.families.values_mut().rev();
                let largest = families.max_by_key(|family| family.groups.len());
                // After the move, the other resource still has at least as many groups as this one.
                let loser = largest.filter(|family| family.groups.len() > own + 1);
                loser.and_then(Family::lose).map_or(GroupPlace::None, GroupPlace::InsteadOf)
            }
        };
        if let GroupPlace::InsteadOf(loser) = &place {
            self.lost.insert(loser.clone());
        }
        self.count += usize::from(place == GroupPlace::Free);
        let own = self.families.entry(name).or_default();
        match place {
            GroupPlace::None => own.is_full = true,
            GroupPlace::Free | GroupPlace::InsteadOf(_) => own.groups.push(key.clone()),
        }
        place
    }
}

impl<K> Family<K> {
    /// Takes the place of the group that came last.
    fn lose(&mut self) -> Option<K> {
        self.is_full = true;
        self.groups.pop()
    }
}

impl<K> Default for Family<K> {
    fn default() -> Self {
        Self { groups: Vec::new(), is_full: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_callers_invent_push_out_no_registered_resource() {
        let registered =
            RegisteredResources::from(["doc:read".to_owned(), "chart:read".to_owned()]);
        let mut shares = GroupShares::new(registered, 4);
        for number in 0..4 {
            assert_eq!(shares.place("invented:read", &(number, 0)), GroupPlace::Free);
        }
        assert_eq!(shares.place("other:read", &(4, 0)), GroupPlace::None, "its share is full");
        assert_eq!(shares.place("doc:read", &(5, 0)), GroupPlace::InsteadOf((3, 0)));
        assert_eq!(shares.place("doc:read", &(5, 1)), GroupPlace::InsteadOf((2, 0)));
        assert_eq!(shares.place("doc:read", &(5, 2)), GroupPlace::None, "both have two");
        assert_eq!(shares.place("chart:read", &(2, 0)), GroupPlace::None, "it lost its place");
        assert_eq!(shares.place("chart:read", &(6, 0)), GroupPlace::InsteadOf((1, 0)));
        assert_eq!(shares.place("chart:read", &(6, 1)), GroupPlace::None, "no resource has more");
    }
}
