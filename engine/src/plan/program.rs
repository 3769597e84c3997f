//! The program of a plan: the conditions of all policies. Equal parts exist once, whichever policies share them, and
//! each attribute is a slot.
//!
//! A program has two forms with the same numbering. The nodes are complete: explanations and rare cases read them.
//! The steps are compact: most checks run them alone.

mod bounds;
mod build;
mod matching;
mod nodes;
mod run;
mod steps;

pub(crate) use build::Builder;
use matching::PatternTests;
pub(crate) use nodes::{Child, NodeId, Operation, as_written};
pub(crate) use run::Run;
use steps::Steps;

use smallvec::SmallVec;

use super::slots::{Slot, SlotValue, Slots};
use crate::condition::{AttributePath, Condition, Operand, Predicate};
use crate::value::List;

/// Conditions that share equal parts. The children of a part have smaller numbers than the part.
#[derive(Debug, Default)]
pub(crate) struct Program {
    nodes: Box<[Operation]>,
    steps: Steps,
    patterns: PatternTests,
    bodies: Bodies,
    /// The nodes of named conditions, ascending: many policies may have them.
    named: Box<[NodeId]>,
}

/// The values that the condition on an item reads.
pub(crate) type ItemValues<'v> = SmallVec<[SlotValue<'v>; 8]>;

/// The programs of conditions on items, by the nodes of their tests, in ascending order.
#[derive(Debug, Default)]
pub(super) struct Bodies(Box<[(NodeId, Body)]>);

/// The program of a condition on items.
#[derive(Debug)]
pub(crate) struct Body {
    pub(super) program: Program,
    /// The attributes of the program.
    pub(crate) slots: Slots,
    pub(crate) root: NodeId,
    /// The slot of `item`.
    item: Slot,
    /// The slots of the other attributes: here, and in the program of the plan.
    outer: Box<[(Slot, Slot)]>,
    /// The slots whose values are the truths of named conditions, each with its node in the program of the plan.
    named: Box<[(Slot, NodeId)]>,
    /// The number of tests of one item.
    tests: usize,
    /// The number of the first of its pattern tests among all of the plan.
    first_pattern: u32,
}

impl Bodies {
    /// Returns the program of the test `node`, which has a condition on items.
    pub(super) fn of(&self, node: NodeId) -> &Body {
        &self.0[self.0.partition_point(|(own, _)| *own < node)].1
    }

    /// Returns the program of the condition on items that `node` has; `None` if it has none.
    pub(super) fn get(&self, node: NodeId) -> Option<&Body> {
        let place = self.0.binary_search_by_key(&node, |(own, _)| *own).ok()?;
        Some(&self.0[place].1)
    }

    /// Returns whether no test has a condition on items.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(super) fn weight(&self) -> usize {
        let bodies = self.0.iter().map(|(_, body)| body.weight());
        size_of_val::<[(NodeId, Body)]>(&self.0) + bodies.sum::<usize>()
    }
}

impl Body {
    /// Returns the number of steps that the tests of these items take.
    pub(super) fn steps(&self, list: List<'_>) -> usize {
        list.len().saturating_mul(self.tests)
    }

    /// Returns the number of tests of one item.
    pub(super) fn tests(&self) -> usize {
        self.tests
    }

    /// Returns the number of its pattern tests.
    pub(super) fn patterns(&self) -> u32 {
        self.program.patterns.len()
    }

    /// Returns the program.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the number of the first of its pattern tests among all of the plan.
    pub(super) fn first_pattern(&self) -> u32 {
        self.first_pattern
    }

    /// Returns the slot in the program of the plan of the attribute at `path`; `None` for the item.
    pub(super) fn outer_of(&self, path: &AttributePath) -> Option<Slot> {
        let mut outer = self.outer.iter();
        outer.find(|(own, _)| self.slots.path(*own) == path).map(|(_, outer)| *outer)
    }

    /// Returns the slot of an attribute in the program of the plan; `None` for the item.
    pub(super) fn outer_slot(&self, own: Slot) -> Option<Slot> {
        self.outer.iter().find(|(inner, _)| *inner == own).map(|(_, outer)| *outer)
    }

    /// Returns the node of the named condition for which the attribute at `path` stands; `None` if it stands for none.
    pub(super) fn named_at(&self, path: &AttributePath) -> Option<NodeId> {
        let mut named = self.named.iter();
        named.find(|(own, _)| self.slots.path(*own) == path).map(|(_, node)| *node)
    }

    /// Returns the node of a named condition in the program of the plan.
    pub(crate) fn named(&self, name: &str) -> Option<NodeId> {
        let mut named = self.named.iter();
        let found = named.find(|(own, _)| match self.slots.path(*own) {
            AttributePath::Resolver(own) => &*own.name == name,
            _ => false,
        });
        found.map(|(_, node)| *node)
    }

    fn weight(&self) -> usize {
        self.program.weight()
            + self.slots.weight()
            + size_of_val::<[(Slot, Slot)]>(&self.outer)
            + size_of_val::<[(Slot, NodeId)]>(&self.named)
    }
}

impl Program {
    /// Moves the child `test` of the conjunction `root` to the end, because it nearly always holds: the index has
    /// checked it. Does nothing if `root` is not a conjunction.
    pub(crate) fn evaluate_last(&mut self, root: NodeId, test: NodeId) {
        self.steps.evaluate_last(root, test);
    }

    /// Lets matches take any number of steps.
    #[cfg(test)]
    pub(crate) fn without_match_budget(&mut self) {
        self.patterns.without_budget();
    }

    /// Returns a node.
    pub(crate) fn node(&self, id: NodeId) -> &Operation {
        &self.nodes[id as usize]
    }

    /// Returns the program of the condition on items that the test `node` has.
    pub(crate) fn body(&self, node: NodeId) -> &Body {
        self.bodies.of(node)
    }

    /// Returns the literal of a test that compares with one text; `None` for any other node.
    #[inline]
    fn text(&self, id: NodeId) -> Option<&str> {
        let Operation::Test(test) = self.node(id) else { return None };
        match &test.predicate {
            Predicate::Compare(_, Operand::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns whether the node is a named condition.
    #[inline]
    pub(crate) fn is_named(&self, node: NodeId) -> bool {
        self.named.binary_search(&node).is_ok()
    }

    /// Returns the condition of a node as it was before it was compiled, without names. `path` names the attribute of a slot.
    pub(crate) fn condition(
        &self,
        node: NodeId,
        path: &impl Fn(Slot) -> AttributePath,
    ) -> Condition {
        match self.node(node) {
            Operation::All(children) => Condition::And(self.conditions(children, path)),
            Operation::Any(children) => Condition::Or(self.conditions(children, path)),
            Operation::Not(child) => Condition::Not(Box::new(self.condition(*child, path))),
            Operation::Test(test) => {
                Condition::Test(test.clone().map(&mut |slot| path(slot))).expanded()
            }
        }
    }

    fn conditions(
        &self,
        children: &[Child],
        path: &impl Fn(Slot) -> AttributePath,
    ) -> Box<[Condition]> {
        as_written(children).map(|child| self.condition(child, path)).collect()
    }

    /// Returns whether a part of a condition tests a pattern.
    pub(crate) fn has_pattern(&self, node: NodeId) -> bool {
        let node = self.node(node);
        node.is_pattern_test() || node.children().any(|child| self.has_pattern(child))
    }

    /// Returns whether any condition tests a pattern.
    pub(crate) fn has_patterns(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Returns all nodes, by number.
    pub(crate) fn nodes(&self) -> &[Operation] {
        &self.nodes
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        let nodes: usize = self.nodes.iter().map(Operation::weight).sum();
        size_of_val::<[Operation]>(&self.nodes)
            + nodes
            + self.steps.weight()
            + self.patterns.weight()
            + self.bodies.weight()
            + size_of_val::<[NodeId]>(&self.named)
    }
}
