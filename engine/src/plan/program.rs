//! The conditions of a plan as one program: equal parts are there once, whichever policies they come from,
//! and each attribute is a slot.

use indexmap::IndexSet;

use super::slots::{Slot, Slots};
use crate::condition::{Condition, Operand, Predicate, Test};
use crate::operator::Operator;
use crate::value::Value;

/// Names a part of a program.
pub(crate) type NodeId = u32;

/// Parts of a plan whose truth is remembered during one check, at most: two words for each 64.
const MAX_REMEMBERED: usize = 256;
/// Asking again for what costs less than this is as cheap as remembering it.
const WORTH_REMEMBERING: u32 = 8;

/// Conditions that share their equal parts. The children of a part stand before it.
#[derive(Debug, Default)]
pub(crate) struct Program {
    nodes: Box<[Node]>,
}

/// A part of a program.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) operation: Operation,
    /// Where its truth is remembered, if it is.
    remembered: Option<u8>,
}

/// What a part says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    /// AND, its children cheap first.
    All(Box<[Child]>),
    /// OR, its children cheap first.
    Any(Box<[Child]>),
    Not(NodeId),
    Test(Test<Slot>),
}

/// A child of AND or OR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Child {
    pub(crate) node: NodeId,
    /// Its place in the tree that people wrote.
    pub(crate) position: u32,
}

/// Why a test is undetermined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The attribute is absent.
    Absent(Slot),
    /// The attribute's type, or the pair of types, is none that the operator compares.
    Incomparable(Slot, &'static str),
}

/// Collects the conditions of a plan's policies.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    operations: IndexSet<Operation, hashbrown::DefaultHashBuilder>,
    pub(crate) slots: Slots,
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
        let mut nodes: Vec<Node> = (self.operations.into_iter())
            .map(|operation| Node { operation, remembered: None })
            .collect();
        let costs = put_cheap_children_first(&mut nodes);
        choose_remembered(&mut nodes, &costs, roots);
        (Program { nodes: nodes.into() }, self.slots)
    }
}

fn node_id(index: usize) -> NodeId {
    // A policy has at most a thousand nodes: four million policies on one resource would be needed.
    NodeId::try_from(index).unwrap_or(NodeId::MAX)
}

/// Sorts the children of AND and OR, and gives what asking each node may cost, in nanoseconds or so.
fn put_cheap_children_first(nodes: &mut [Node]) -> Vec<u32> {
    let mut costs: Vec<u32> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let cost = match &mut node.operation {
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

/// Gives a place for its truth to each node that several others ask, when that is worth it.
fn choose_remembered(nodes: &mut [Node], costs: &[u32], roots: impl Iterator<Item = NodeId>) {
    if costs.iter().all(|cost| *cost < WORTH_REMEMBERING) {
        return;
    }
    let mut asked = vec![0u32; nodes.len()];
    let children = nodes.iter().flat_map(|node| match &node.operation {
        Operation::All(children) | Operation::Any(children) => children.as_ref(),
        Operation::Not(_) | Operation::Test(_) => &[],
    });
    let negated = nodes.iter().filter_map(|node| match node.operation {
        Operation::Not(child) => Some(child),
        _ => None,
    });
    for node in children.map(|child| child.node).chain(negated).chain(roots) {
        asked[node as usize] += 1;
    }
    let mut candidates: Vec<(u64, usize)> = (0..nodes.len())
        .filter(|node| asked[*node] > 1 && costs[*node] >= WORTH_REMEMBERING)
        .map(|node| (u64::from(asked[node] - 1) * u64::from(costs[node]), node))
        .collect();
    candidates.sort_unstable_by_key(|candidate| std::cmp::Reverse(*candidate));
    for ((_, node), place) in candidates.into_iter().take(MAX_REMEMBERED).zip(0..=u8::MAX) {
        nodes[node].remembered = Some(place);
    }
}

impl Program {
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// Heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        self.nodes.iter().map(|node| size_of::<Node>() + node.operation.weight()).sum()
    }
}

impl Operation {
    fn weight(&self) -> usize {
        match self {
            Self::All(children) | Self::Any(children) => size_of_val::<[Child]>(children),
            Self::Not(_) => 0,
            Self::Test(test) => match &test.predicate {
                Predicate::Compare(_, Operand::Text(text)) => text.len(),
                Predicate::Compare(_, Operand::List(list)) => list.weight(),
                Predicate::Exists | Predicate::Compare(..) => 0,
                Predicate::Matches(pattern) => pattern.weight(),
                Predicate::IpIn(networks) => networks.weight(),
            },
        }
    }
}

/// One check's run of a program.
#[derive(Debug)]
pub(crate) struct Run<'r> {
    program: &'r Program,
    values: &'r [Option<Value<'r>>],
    known: [u64; MAX_REMEMBERED / 64],
    /// Of what is known: whether it is true, and whether it is undetermined.
    truths: [u64; MAX_REMEMBERED / 64],
    open: [u64; MAX_REMEMBERED / 64],
}

impl<'r> Run<'r> {
    /// A run over the values of the slots; `None` is absent.
    pub(crate) fn new(program: &'r Program, values: &'r [Option<Value<'r>>]) -> Self {
        let none = [0; MAX_REMEMBERED / 64];
        Self { program, values, known: none, truths: none, open: none }
    }

    #[inline]
    pub(crate) fn value(&self, slot: Slot) -> Option<Value<'r>> {
        self.values[slot as usize]
    }

    /// True, false, or undetermined (`None`).
    #[inline]
    pub(crate) fn truth(&mut self, node: NodeId) -> Option<bool> {
        let node = self.program.node(node);
        match (&node.operation, node.remembered) {
            (Operation::Test(test), None) => self.test(test),
            (operation, None) => self.ask(operation),
            (operation, Some(place)) => self.recall(operation, place),
        }
    }

    /// The truth of a part that is remembered at `place` once it was asked.
    fn recall(&mut self, operation: &'r Operation, place: u8) -> Option<bool> {
        let (word, bit) = (usize::from(place / 64), 1u64 << (place % 64));
        if self.known[word] & bit != 0 {
            return (self.open[word] & bit == 0).then_some(self.truths[word] & bit != 0);
        }
        let truth = self.ask(operation);
        self.known[word] |= bit;
        match truth {
            Some(true) => self.truths[word] |= bit,
            Some(false) => {}
            None => self.open[word] |= bit,
        }
        truth
    }

    fn ask(&mut self, operation: &'r Operation) -> Option<bool> {
        match operation {
            Operation::All(children) => self.settle(children, false),
            Operation::Any(children) => self.settle(children, true),
            Operation::Not(child) => self.truth(*child).map(|truth| !truth),
            Operation::Test(test) => self.test(test),
        }
    }

    /// The truth of a conjunction (`settling` false) or disjunction (`settling` true): one settling child
    /// settles it, otherwise one undetermined child leaves it open.
    fn settle(&mut self, children: &[Child], settling: bool) -> Option<bool> {
        let mut open = false;
        for child in children {
            match self.truth(child.node) {
                Some(truth) if truth == settling => return Some(settling),
                Some(_) => {}
                None => open = true,
            }
        }
        (!open).then_some(!settling)
    }

    fn test(&self, test: &Test<Slot>) -> Option<bool> {
        let Some(value) = self.value(test.attribute) else {
            return if let Predicate::Exists = test.predicate {
                Some(false)
            } else {
                test.if_missing
            };
        };
        match (&test.predicate, value) {
            (Predicate::Compare(operator, operand), value) => {
                let right = match operand {
                    Operand::Attribute(other) => self.value(*other)?,
                    literal => literal.literal(),
                };
                operator.holds(value, right)
            }
            (Predicate::Exists, _) => Some(true),
            (Predicate::Matches(pattern), Value::Text(text)) => Some(pattern.matches(text)),
            (Predicate::IpIn(networks), Value::Text(text)) => networks.contain(text),
            (Predicate::Matches(_) | Predicate::IpIn(_), _) => None,
        }
    }

    /// Why a test is undetermined, which it must be.
    pub(crate) fn cause(&self, test: &Test<Slot>) -> Cause {
        let slot = test.attribute;
        match &test.predicate {
            _ if self.value(slot).is_none() => Cause::Absent(slot),
            Predicate::Compare(_, Operand::Attribute(other)) if self.value(*other).is_none() => {
                Cause::Absent(*other)
            }
            predicate => Cause::Incomparable(slot, predicate.operator_name()),
        }
    }

    /// Collects why `node` is undetermined, which it must be: the tests that leave it open.
    pub(crate) fn causes(&mut self, node: NodeId, causes: &mut Vec<Cause>) {
        match &self.program.node(node).operation {
            Operation::All(children) | Operation::Any(children) => {
                let mut children: Vec<Child> = children.to_vec();
                children.sort_unstable_by_key(|child| child.position);
                for child in children {
                    if self.truth(child.node).is_none() {
                        self.causes(child.node, causes);
                    }
                }
            }
            Operation::Not(child) => self.causes(*child, causes),
            Operation::Test(test) => causes.push(self.cause(test)),
        }
    }
}
