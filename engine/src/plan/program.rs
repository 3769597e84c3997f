//! The program of a plan: the conditions of all policies. Equal parts exist once, whichever policies share them, and
//! each attribute is a slot.
//!
//! A program has two forms with the same numbering. The nodes are complete: explanations and rare cases read them.
//! The steps are compact: most checks run them alone.

mod bounds;
mod build;
mod items;
mod matching;
mod nodes;
mod run;
mod steps;

pub(crate) use build::Builder;
use items::Bodies;
pub(crate) use items::Body;
use matching::PatternTests;
pub(crate) use nodes::{Child, NodeId, Operation, as_written};
pub(crate) use run::Run;
use steps::Steps;

use super::slots::Slot;
use crate::condition::{AttributePath, Condition, Operand, Predicate};

/// Conditions that share equal parts. The children of a part have smaller numbers than the part.
#[derive(Debug, Default)]
pub(crate) struct Program {
    nodes: Box<[Operation]>,
    steps: Steps,
    patterns: PatternTests,
    bodies: Bodies,
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

    /// Returns the condition of a node as it was before it was compiled. `path` names the attribute of a slot.
    pub(crate) fn condition(
        &self,
        node: NodeId,
        path: &impl Fn(Slot) -> AttributePath,
    ) -> Condition {
        let all = |children: &[Child]| {
            as_written(children).map(|child| self.condition(child, path)).collect()
        };
        match self.node(node) {
            Operation::All(children) => Condition::And(all(children)),
            Operation::Any(children) => Condition::Or(all(children)),
            Operation::Not(child) => Condition::Not(Box::new(self.condition(*child, path))),
            Operation::Test(test) => Condition::Test(test.clone().map(&mut |slot| path(slot))),
        }
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
    }
}
