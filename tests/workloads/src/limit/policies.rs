//! ABAC: an index by the equality test, and sorted lists of the other tests.

use std::cmp::Reverse;

use super::{Hashed, Symbols};
use crate::model::SamplePolicy;
use crate::plain_request::{PlainRequest, PlainScalar};

#[derive(Default)]
pub(super) struct PolicyIndex {
    resources: Symbols,
    values: Symbols,
    /// The policies by resource and department. The first match decides.
    lists: Hashed<[u32; 2], Vec<Entry>>,
}

struct Entry {
    clearance: i64,
    regions: Box<[u32]>,
    allow: bool,
}

impl PolicyIndex {
    pub(super) fn new(policies: &[SamplePolicy]) -> Self {
        let mut index = Self::default();
        for policy in in_order(policies) {
            let resource = index.resources.intern(&policy.resource);
            let (department, clearance, regions) = interned(policy, &mut index.values);
            let list = index.lists.entry([resource, department]).or_default();
            list.push(Entry { clearance, regions, allow: policy.allow });
        }
        index
    }

    /// Returns the effect of the first policy that matches.
    pub(super) fn decide(&self, request: &PlainRequest<'_>) -> Option<bool> {
        let resource = self.resources.get(request.resource)?;
        let Values { department, clearance, region } = Values::read(request, &self.values);
        let list = self.lists.get(&[resource, department?])?;
        let (clearance, region) = (clearance?, region?);
        let matches =
            |entry: &&Entry| clearance >= entry.clearance && entry.regions.contains(&region);
        list.iter().find(matches).map(|entry| entry.allow)
    }
}

/// The sort key: highest priority first, then denies, then the smallest id.
pub(super) fn in_order(policies: &[SamplePolicy]) -> Vec<&SamplePolicy> {
    let mut policies: Vec<_> = policies.iter().collect();
    policies.sort_by_key(|policy| (Reverse(policy.priority), policy.allow, policy.id));
    policies
}

/// The department, clearance and regions of a policy.
pub(super) fn interned(policy: &SamplePolicy, values: &mut Symbols) -> (u32, i64, Box<[u32]>) {
    let conditions = &policy.conditions;
    let regions = conditions.regions.iter().map(|region| values.intern(region)).collect();
    (values.intern(&conditions.department), conditions.clearance, regions)
}

/// The attributes of a request, read once. A text that no policy contains is `None`, like an absent one.
#[derive(Clone, Copy)]
pub(super) struct Values {
    pub(super) department: Option<u32>,
    pub(super) clearance: Option<i64>,
    pub(super) region: Option<u32>,
}

impl Values {
    pub(super) fn read(request: &PlainRequest<'_>, symbols: &Symbols) -> Self {
        let mut values = Self { department: None, clearance: None, region: None };
        for pair in &request.attributes.user.0 {
            match *pair {
                ("department", PlainScalar::Text(text)) => values.department = symbols.get(text),
                ("clearance", PlainScalar::Number(number)) => values.clearance = Some(number),
                _ => {}
            }
        }
        for pair in &request.attributes.resource.0 {
            if let ("region", PlainScalar::Text(text)) = *pair {
                values.region = symbols.get(text);
            }
        }
        values
    }
}
