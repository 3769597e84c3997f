//! ABAC: an index on the equality, and sorted lists behind it.

use std::cmp::Reverse;

use super::{Hashed, Symbols};
use crate::ask::{Ask, Scalar};
use crate::model::Policy;

#[derive(Default)]
pub(super) struct PolicyIndex {
    resources: Symbols,
    values: Symbols,
    /// By resource and department; the first that matches decides.
    lists: Hashed<[u32; 2], Vec<Entry>>,
}

struct Entry {
    clearance: i64,
    regions: Box<[u32]>,
    allow: bool,
}

impl PolicyIndex {
    pub(super) fn new(policies: &[Policy]) -> Self {
        let mut index = Self::default();
        for policy in in_order(policies) {
            let resource = index.resources.intern(&policy.resource);
            let (department, clearance, regions) = interned(policy, &mut index.values);
            let list = index.lists.entry([resource, department]).or_default();
            list.push(Entry { clearance, regions, allow: policy.allow });
        }
        index
    }

    /// Returns whether the first policy that matches allows; `None` if none matches.
    pub(super) fn decide(&self, ask: &Ask<'_>) -> Option<bool> {
        let resource = self.resources.get(ask.resource)?;
        let Values { department, clearance, region } = Values::read(ask, &self.values);
        let list = self.lists.get(&[resource, department?])?;
        let (clearance, region) = (clearance?, region?);
        let matches =
            |entry: &&Entry| clearance >= entry.clearance && entry.regions.contains(&region);
        list.iter().find(matches).map(|entry| entry.allow)
    }
}

/// Highest priority first, then denies, then the smallest id.
pub(super) fn in_order(policies: &[Policy]) -> Vec<&Policy> {
    let mut policies: Vec<_> = policies.iter().collect();
    policies.sort_by_key(|policy| (Reverse(policy.priority), policy.allow, policy.id));
    policies
}

/// Department, clearance and regions of a policy.
pub(super) fn interned(policy: &Policy, values: &mut Symbols) -> (u32, i64, Box<[u32]>) {
    let conditions = &policy.conditions;
    let regions = conditions.regions.iter().map(|region| values.intern(region)).collect();
    (values.intern(&conditions.department), conditions.clearance, regions)
}

/// The attributes of a request, read once. A text that no policy has is `None`, as an absent one is.
#[derive(Clone, Copy)]
pub(super) struct Values {
    pub(super) department: Option<u32>,
    pub(super) clearance: Option<i64>,
    pub(super) region: Option<u32>,
}

impl Values {
    pub(super) fn read(ask: &Ask<'_>, symbols: &Symbols) -> Self {
        let mut values = Self { department: None, clearance: None, region: None };
        for pair in &ask.attributes.user.0 {
            match *pair {
                ("department", Scalar::Text(text)) => values.department = symbols.get(text),
                ("clearance", Scalar::Number(number)) => values.clearance = Some(number),
                _ => {}
            }
        }
        for pair in &ask.attributes.resource.0 {
            if let ("region", Scalar::Text(text)) = *pair {
                values.region = symbols.get(text);
            }
        }
        values
    }
}
