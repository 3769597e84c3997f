//! Builds a program from the conditions of policies.

use indexmap::IndexSet;

use super::Program;
use super::nodes::{Child, NodeId, Operation};
use super::steps::{MAX_REMEMBERED, Steps};
use crate::condition::{Condition, Operand, Predicate, Test};
use crate::operator::Operator;
use crate::plan::slots::{Slot, Slots};

/// Asking again for what costs less than this is as cheap as remembering it.
const WORTH_REMEMBERING: u32 = 8;

/// Collects the conditions of a plan's policies.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    operations: IndexSet<Operation, hashbrown::DefaultHashBuilder>,
    slots: Slots,
}

impl Builder {
    /// Adds `condition` and gives its root.
    pub(crate) fn add(&mut self, condition: Condition) -> NodeId {
        let operation = match condition {
            Condition::And(children) => Operation::All(self.add_all(children)),
            Condition::Or(children) => Operation::Any(self.add_all(children)),
            Condition::Not(child) => Operation::Not(self.add(*child)),
            Condition::Test(test) => Operation::Test(test.map(&mut |path| self.slots.slot(path))),
        };
        node_id(self.operations.insert_full(operation).0)
    }

    fn add_all(&mut self, children: Box<[Condition]>) -> Box<[Child]> {
        (0..)
            .zip(children)
            .map(|(position, child)| Child { node: self.add(child), position })
            .collect()
    }

    /// The program of everything that was added; `roots` says what policies start from.
    pub(crate) fn finish(self, roots: impl Iterator<Item = NodeId>) -> (Program, Slots) {
        let mut nodes: Vec<Operation> = self.operations.into_iter().collect();
        let mut slots = self.slots;
        let costs = put_cheap_children_first(&mut nodes);
        let places = remembered_places(&nodes, &costs, roots);
        slots.intern(nodes.iter().filter_map(Operation::literal_texts).collect());
        let steps = Steps::new(&nodes, &places, &slots);
        (Program { nodes: nodes.into(), steps }, slots)
    }
}

fn node_id(index: usize) -> NodeId {
    // A policy has at most a thousand nodes: four million policies on one resource would be needed.
    NodeId::try_from(index).unwrap_or(NodeId::MAX)
}

/// Sorts the children of AND and OR, and gives what asking each node may cost, in nanoseconds or so.
fn put_cheap_children_first(nodes: &mut [Operation]) -> Vec<u32> {
    let mut costs: Vec<u32> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let cost = match node {
            Operation::All(children) | Operation::Any(children) => {
                children.sort_by_key(|child| costs[child.node as usize]);
                children.iter().fold(1, |sum, child| costs[child.node as usize].saturating_add(sum))
            }
            Operation::Not(child) => costs[*child as usize],
            Operation::Test(test) => test_cost(test),
        };
        costs.push(cost);
    }
    costs
}

fn test_cost(test: &Test<Slot>) -> u32 {
    match &test.predicate {
        Predicate::Exists => 1,
        Predicate::Compare(Operator::Before | Operator::After, _) => 80,
        Predicate::Compare(Operator::In | Operator::NotIn, Operand::List(list)) => {
            4 + 2 * (list.len() + 1).ilog2()
        }
        Predicate::Compare(Operator::In | Operator::NotIn | Operator::Contains, _) => 10,
        Predicate::Compare(_, Operand::Attribute(_)) => 4,
        Predicate::Compare(..) => 3,
        Predicate::IpIn(_) => 40,
        Predicate::Matches(_) => 60,
    }
}

/// By node: where its truth is remembered, if several others ask it and that is worth it.
fn remembered_places(
    nodes: &[Operation],
    costs: &[u32],
    roots: impl Iterator<Item = NodeId>,
) -> Vec<Option<u8>> {
    let mut places = vec![None; nodes.len()];
    if costs.iter().all(|cost| *cost < WORTH_REMEMBERING) {
        return places;
    }
    let mut asked = vec![0u32; nodes.len()];
    for node in nodes.iter().flat_map(Operation::children).chain(roots) {
        asked[node as usize] += 1;
    }
    let mut candidates: Vec<(u64, usize)> = (0..nodes.len())
        .filter(|node| asked[*node] > 1 && costs[*node] >= WORTH_REMEMBERING)
        .map(|node| (u64::from(asked[node] - 1) * u64::from(costs[node]), node))
        .collect();
    candidates.sort_unstable_by_key(|candidate| std::cmp::Reverse(*candidate));
    for ((_, node), place) in candidates.into_iter().zip(0..MAX_REMEMBERED) {
        places[node] = Some(place);
    }
    places
}
