//! The fewest attributes that must change before a condition has a truth.

use crate::condition::Test;
use crate::plan::program::{Child, NodeId, Operation, Run};
use crate::plan::slots::Slot;

/// More changes than a set can have: no change reaches the truth.
pub(super) const FAR: usize = usize::MAX;

/// Measures conditions of one layer, for one check.
pub(super) struct Distances<'d, 'r> {
    pub(super) run: Run<'r>,
    /// The number of the attribute that each slot reads, if it can be changed.
    pub(super) changeable: &'d [Option<usize>],
    /// The number of conditions that were looked at.
    pub(super) steps: usize,
}

impl Distances<'_, '_> {
    /// Returns how many attributes must change at least before the condition at `node` is `wanted`; [`FAR`] if it cannot be.
    pub(super) fn to(&mut self, node: NodeId, wanted: bool) -> usize {
        self.steps += 1;
        if self.run.truth(node) == Some(wanted) {
            return 0;
        }
        match (self.run.operation(node), wanted) {
            (Operation::Not(child), _) => self.to(*child, !wanted),
            (Operation::Test(test), _) => match attributes(test, self.changeable).next() {
                // One change may do, whatever else the test reads: this is a bound from below.
                Some(_) => 1,
                None => FAR,
            },
            (Operation::All(children), true) | (Operation::Any(children), false) => {
                self.distance_to_all(children, wanted)
            }
            (Operation::All(children), false) | (Operation::Any(children), true) => {
                children.iter().map(|child| self.to(child.node, wanted)).min().unwrap_or(FAR)
            }
        }
    }

    /// As [`Self::to`], for all conditions at once. Tests of different attributes need a change each.
    fn distance_to_all(&mut self, children: &[Child], wanted: bool) -> usize {
        let (mut most, mut single) = (0, Vec::new());
        for child in children {
            let distance = self.to(child.node, wanted);
            most = most.max(distance);
            if distance == 1
                && let Some(attribute) = self.only_attribute(child.node)
                && !single.contains(&attribute)
            {
                single.push(attribute);
            }
        }
        most.max(single.len())
    }

    /// Returns the only attribute that can change a test, or the negation of one.
    fn only_attribute(&self, node: NodeId) -> Option<usize> {
        match self.run.operation(node) {
            Operation::Not(child) => self.only_attribute(*child),
            Operation::Test(test) => {
                let mut all = attributes(test, self.changeable);
                all.next().filter(|first| all.all(|other| other == *first))
            }
            Operation::All(_) | Operation::Any(_) => None,
        }
    }
}

/// Returns the attributes of a test that can be changed.
pub(super) fn attributes<'t>(
    test: &'t Test<Slot>,
    changeable: &'t [Option<usize>],
) -> impl Iterator<Item = usize> + 't {
    let slots = std::iter::once(&test.attribute).chain(test.predicate.other_attributes());
    slots.filter_map(|slot| changeable[*slot as usize])
}
