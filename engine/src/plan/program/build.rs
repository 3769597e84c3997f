//! Compiles the conditions of policies into a program.

use indexmap::IndexSet;

use super::matching::{PatternTest, PatternTests};
use super::nodes::{Child, NodeId, Operation};
use super::steps::{MAX_MEMOIZED, Steps};
use super::{Bodies, Body, Program};
use crate::condition::{AttributePath, Condition, Items, Operand, Predicate, Test};
use crate::operator::{Form, Row};
use crate::pattern::PatternCompiler;
use crate::plan::slots::{Slot, Slots};

/// Memoizing a part pays from this cost on: evaluating a cheaper part again is as fast as reading its memo.
const MIN_MEMO_COST: u32 = 8;

/// Collects the conditions of a plan's policies. The set makes equal parts share a node.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    operations: IndexSet<Operation, hashbrown::DefaultHashBuilder>,
    slots: Slots,
}

impl Builder {
    /// Returns the slot of an attribute.
    pub(super) fn slot(&mut self, path: AttributePath) -> Slot {
        self.slots.slot(path)
    }

    /// Adds `condition` and returns its root.
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

    /// Returns the program of all added conditions. `roots` are the conditions of policies, whose patterns are compiled
    /// in `patterns`.
    pub(crate) fn finish(
        self,
        roots: impl Iterator<Item = NodeId>,
        patterns: &PatternCompiler,
    ) -> (Program, Slots) {
        let mut nodes: Vec<Operation> = self.operations.into_iter().collect();
        let mut slots = self.slots;
        // Order matters: steps encode sorted children, memos and symbols.
        let costs = put_cheap_children_first(&mut nodes);
        let memos = memo_bits(&nodes, &costs, roots);
        slots.shrink_to_fit();
        slots.intern(nodes.iter().filter_map(Operation::literal_texts).collect());
        let bodies = Bodies::new(&nodes, patterns);
        let steps =
            Steps::new(&nodes, &memos, &slots, |id| bodies.get(id).map_or(0, Body::patterns));
        let patterns = PatternTests::new(pattern_tests(&nodes, &bodies, patterns), patterns);
        (Program { nodes: nodes.into(), steps, patterns, bodies }, slots)
    }
}

/// Returns the pattern tests among `nodes`, with those of items, in the order of the nodes.
fn pattern_tests(
    nodes: &[Operation],
    bodies: &Bodies,
    patterns: &PatternCompiler,
) -> Vec<PatternTest> {
    let mut tests = Vec::new();
    for (id, node) in (0..).zip(nodes) {
        let Operation::Test(test) = node else { continue };
        if let Predicate::Matches(pattern) = &test.predicate {
            tests.push(PatternTest::new(test.attribute, patterns.compiled(pattern).cloned()));
        } else if let Some(body) = bodies.get(id) {
            let outer = |own| body.outer_slot(own);
            tests.extend(body.program.patterns.for_items(test.attribute, outer));
        }
    }
    tests
}

fn node_id(index: usize) -> NodeId {
    // The cast cannot saturate: a condition has at most a thousand nodes, and no resource has four million policies.
    NodeId::try_from(index).unwrap_or(NodeId::MAX)
}

/// Sorts the children of AND and OR by cost. Returns the estimated cost of each node, in about nanoseconds.
fn put_cheap_children_first(nodes: &mut [Operation]) -> Vec<u32> {
    let mut costs: Vec<u32> = Vec::with_capacity(nodes.len());
    // Children have smaller numbers than their parents, so their costs are known.
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

/// Estimates the cost of a test, in about nanoseconds.
fn test_cost(test: &Test<Slot>) -> u32 {
    match &test.predicate {
        Predicate::Exists | Predicate::Unordered(..) => 1,
        Predicate::During(_) => 120,
        Predicate::Compare(operator, operand) => comparison_cost(operator.row(), operand),
        Predicate::IpIn(_) => 40,
        Predicate::Matches(_) => 60,
        Predicate::Items(items) => cost_of_items(items),
        Predicate::Length(..) => 4,
    }
}

/// Estimates the cost of a condition on items: that of some items.
fn cost_of_items(items: &Items<Slot>) -> u32 {
    let tests = u32::try_from(items.child().tests().len()).unwrap_or(u32::MAX);
    tests.saturating_mul(30).saturating_add(30)
}

fn comparison_cost(row: &Row, right: &Operand<Slot>) -> u32 {
    match (right, row.form) {
        (Operand::Attribute(_), _) => row.cost.max(4),
        (Operand::List(list), Form::Member) => 4 + 2 * (list.len() + 1).ilog2(),
        (
            Operand::List(_),
            Form::Order(_) | Form::Instants(_) | Form::Part(_) | Form::Items(_) | Form::Near(_),
        )
        | (
            Operand::Text(_)
            | Operand::Number(_)
            | Operand::Bool(_)
            | Operand::Instant(_)
            | Operand::Duration { .. },
            _,
        ) => row.cost,
    }
}

/// Assigns a memo bit to each node that several others refer to, where memoizing saves the most. Returns the bit by
/// node.
fn memo_bits(
    nodes: &[Operation],
    costs: &[u32],
    roots: impl Iterator<Item = NodeId>,
) -> Vec<Option<u8>> {
    let mut memos = vec![None; nodes.len()];
    if costs.iter().all(|cost| *cost < MIN_MEMO_COST) {
        return memos;
    }
    let mut references = vec![0u32; nodes.len()];
    for node in nodes.iter().flat_map(Operation::children).chain(roots) {
        references[node as usize] += 1;
    }
    // The saving of a memo is the cost of every evaluation but the first.
    // A run keeps the result of each pattern test anyway.
    let mut candidates: Vec<(u64, usize)> = (0..nodes.len())
        .filter(|node| references[*node] > 1 && costs[*node] >= MIN_MEMO_COST)
        .filter(|node| !nodes[*node].is_pattern_test())
        .map(|node| (u64::from(references[node] - 1) * u64::from(costs[node]), node))
        .collect();
    candidates.sort_unstable_by_key(|candidate| std::cmp::Reverse(*candidate));
    for ((_, node), memo) in candidates.into_iter().zip(0..MAX_MEMOIZED) {
        memos[node] = Some(memo);
    }
    memos
}

impl Bodies {
    /// Compiles the conditions on items among `nodes`, whose patterns `patterns` has compiled.
    pub(super) fn new(nodes: &[Operation], patterns: &PatternCompiler) -> Self {
        let (mut bodies, mut first_pattern) = (Vec::new(), 0);
        for (node, operation) in (0..).zip(nodes) {
            let Operation::Test(test) = operation else { continue };
            match &test.predicate {
                Predicate::Matches(_) => first_pattern += 1,
                Predicate::Items(items) => {
                    let body = Body::new(items, first_pattern, patterns);
                    first_pattern += body.patterns();
                    bodies.push((node, body));
                }
                _ => {}
            }
        }
        Self(bodies.into())
    }
}

impl Body {
    fn new(items: &Items<Slot>, first_pattern: u32, patterns: &PatternCompiler) -> Self {
        let mut builder = Builder::default();
        let item = builder.slot(AttributePath::Item);
        // The slots of the plan stand in the order in which the condition reads its attributes.
        let reads = items.child().reads().into_iter().zip(items.reads());
        let outer = reads.map(|(path, outer)| (builder.slot(path.clone()), *outer)).collect();
        let root = builder.add(items.child().clone());
        let (mut program, slots) = builder.finish(std::iter::once(root), patterns);
        // The plan counts all automata.
        program.patterns.share_automata();
        let tests = items.child().tests().len();
        Self { program, slots, root, item, outer, tests, first_pattern }
    }
}
