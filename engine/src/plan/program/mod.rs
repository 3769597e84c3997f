//! The conditions of a plan as one program: equal parts are there once, whichever policies they come from,
//! and each attribute is a slot.
//!
//! A program has two forms with the same numbering. The nodes say everything, for explanations and for the
//! rare cases; the steps are what most checks run, packed closely.

mod build;
mod nodes;
mod run;
mod steps;

pub(crate) use build::Builder;
pub(crate) use nodes::{Child, NodeId, Operation, as_written};
pub(crate) use run::{Cause, Run};
use steps::Steps;

/// Conditions that share their equal parts. The children of a part stand before it.
#[derive(Debug, Default)]
pub(crate) struct Program {
    nodes: Box<[Operation]>,
    steps: Steps,
}

impl Program {
    /// Asks the child `test` of the conjunction `root` after all others, since it nearly always holds.
    pub(crate) fn ask_last(&mut self, root: NodeId, test: NodeId) {
        self.steps.ask_last(root, test);
    }

    pub(crate) fn node(&self, id: NodeId) -> &Operation {
        &self.nodes[id as usize]
    }

    /// Heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        let nodes: usize = self.nodes.iter().map(Operation::weight).sum();
        size_of_val::<[Operation]>(&self.nodes) + nodes + self.steps.weight()
    }
}
