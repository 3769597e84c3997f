//! The limits of a run, seen from before it: whether values can reach them at all.

use super::run::{MAX_SCANNED_STEPS, UNCOUNTED_STEPS};
use super::{Body, NodeId, Operation, Program};
use crate::condition::{Operand, Predicate, Test};
use crate::plan::slots::SlotValue;

/// The maximum number of times that one run evaluates one test of one policy. The index finds a policy up to 16 times;
/// partial evaluation looks at a test once from each level of the tree above it.
const MAX_EVALUATIONS: usize = 16 * 32;

impl Program {
    /// Returns whether the steps of all pattern tests on these values fit into a run.
    pub(crate) fn affords(&self, values: &[SlotValue<'_>]) -> bool {
        self.patterns.affords(values)
    }

    /// Returns the number of steps that every value may take without reaching the limit of a run of all conditions with
    /// these roots.
    pub(crate) fn max_steps_of_value(&self, roots: impl Iterator<Item = NodeId>) -> usize {
        let mut tests: Vec<usize> = Vec::with_capacity(self.nodes.len());
        // Children have smaller numbers than their parents, so their tests are counted.
        for (id, node) in (0..).zip(&self.nodes) {
            let own = usize::from(matches!(node, Operation::Test(_)));
            let own = own + self.bodies.get(id).map_or(0, Body::tests);
            let below = node.children().map(|child| tests[child as usize]);
            tests.push(below.fold(own, usize::saturating_add));
        }
        let all = roots.map(|root| tests[root as usize]).fold(1, usize::saturating_add);
        // The fold begins at 1, so that nothing is divided by zero.
        let steps = MAX_SCANNED_STEPS / all.saturating_mul(MAX_EVALUATIONS);
        match self.bodies.is_empty() {
            true => UNCOUNTED_STEPS.max(steps),
            // Each test of an item may look at the whole of another value.
            false => steps.isqrt(),
        }
    }

    /// Returns the number of items that every list may have, so that no comparison takes more than `max_steps`.
    pub(crate) fn max_items_of_list(&self, max_steps: usize) -> usize {
        let compares_pairs = self.nodes.iter().any(|node| match node {
            Operation::Test(Test {
                predicate: Predicate::Compare(operator, Operand::Attribute(_)),
                ..
            }) => operator.row().form.compares_pairs(),
            _ => false,
        });
        // Two such lists have the square of that many pairs.
        if compares_pairs { max_steps.isqrt() } else { max_steps }
    }
}
