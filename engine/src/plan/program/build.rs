//! Compiles the conditions of policies into a program.

use std::sync::Arc;

use hashbrown::HashMap;
use indexmap::IndexSet;

use super::matching::{PatternTest, PatternTests};
use super::nodes::{Child, NodeId, Operation};
use super::steps::{MAX_MEMOIZED, Steps};
use super::{Bodies, Body, Program};
use crate::condition::{
    AttributePath, Condition, Items, Named, Operand, Predicate, ResolverAttribute, Test,
};
use crate::operator::{Form, Operator, Row};
use crate::pattern::PatternCompiler;
use crate::plan::slots::{Slot, Slots};

/// Memoizing a part pays from this cost on: evaluating a cheaper part again is as fast as reading its memo.
const MIN_MEMO_COST: u32 = 8;

/// Collects the conditions of a plan's policies. The set makes equal parts share a node.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    operations: IndexSet<Operation, hashbrown::DefaultHashBuilder>,
    slots: Slots,
    /// The nodes of the named conditions, by their addresses, which are kept from being used again.
    named: HashMap<*const Condition, (Arc<Condition>, NodeId)>,
    /// The nodes of the names that stand for nothing.
    unknown: HashMap<Box<str>, NodeId>,
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
            Condition::Test(test) => {
                if let Predicate::Items(items) = &test.predicate {
                    // What a name stands for does not depend on the item: it is a part of this program.
                    items.child().uses_of_names().for_each(|named| _ = self.add_named(named));
                }
                Operation::Test(test.map(&mut |path| self.slots.slot(path)))
            }
            Condition::Named(named) => return self.add_named(&named),
        };
        // The children are added by now, so their numbers are smaller than that of their parent.
        node_id(self.operations.insert_full(operation).0)
    }

    /// Adds a named condition, unless it was added before, and returns its root. A name that stands for nothing is
    /// undetermined, as the attribute of a resolver that does not exist.
    fn add_named(&mut self, named: &Named) -> NodeId {
        let Some(meaning) = named.meaning() else {
            let node = self.add(truth_of(named));
            self.unknown.insert(named.name().into(), node);
            return node;
        };
        let address = Arc::as_ptr(meaning);
        if let Some((_, known)) = self.named.get(&address) {
            return *known;
        }
        let node = self.add(meaning.as_ref().clone());
        self.named.insert(address, (meaning.clone(), node));
        node
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
        let (mut slots, known, unknown) = (self.slots, self.named, self.unknown);
        // Order matters: steps encode sorted children, memos and symbols.
        let costs = put_cheap_children_first(&mut nodes);
        let memos = memo_bits(&nodes, &costs, roots);
        slots.shrink_to_fit();
        slots.intern(nodes.iter().filter_map(Operation::literal_texts).collect());
        let bodies = Bodies::new(&nodes, patterns, |named: &Named| match named.meaning() {
            Some(meaning) => Some(known.get(&Arc::as_ptr(meaning))?.1),
            None => unknown.get(named.name()).copied(),
        });
        let steps =
            Steps::new(&nodes, &memos, &slots, |id| bodies.get(id).map_or(0, Body::patterns));
        let patterns = PatternTests::new(pattern_tests(&nodes, &bodies, patterns), patterns);
        let mut named: Vec<NodeId> = known.into_values().map(|(_, node)| node).collect();
        named.sort_unstable();
        named.dedup();
        (Program { nodes: nodes.into(), steps, patterns, bodies, named: named.into() }, slots)
    }
}

/// Returns the attribute that stands for a named condition in the program of a condition on items.
fn path_of(named: &Named) -> AttributePath {
    let (namespace, name) = (Named::NAMESPACE.into(), named.name().into());
    AttributePath::Resolver(ResolverAttribute { namespace, name })
}

/// Returns the test that has the truth of a named condition, if its attribute has this truth as value.
fn truth_of(named: &Named) -> Condition {
    let predicate = Predicate::Compare(Operator::Eq, Operand::Bool(true));
    Condition::Test(Test { attribute: path_of(named), predicate, if_missing: None })
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
            let items = &body.program.patterns;
            tests.extend(items.for_items(test.attribute, |own| body.outer_slot(own)));
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

/// Estimates the cost of a condition on items, as if some of them are judged.
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
    /// `named` returns the node of a named condition.
    pub(super) fn new(
        nodes: &[Operation],
        patterns: &PatternCompiler,
        named: impl Fn(&Named) -> Option<NodeId>,
    ) -> Self {
        let (mut bodies, mut first_pattern) = (Vec::new(), 0);
        for (node, operation) in (0..).zip(nodes) {
            let Operation::Test(test) = operation else { continue };
            match &test.predicate {
                Predicate::Matches(_) => first_pattern += 1,
                Predicate::Items(items) => {
                    let body = Body::new(items, first_pattern, patterns, &named);
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
    fn new(
        items: &Items<Slot>,
        first_pattern: u32,
        patterns: &PatternCompiler,
        named: impl Fn(&Named) -> Option<NodeId>,
    ) -> Self {
        let mut builder = Builder::default();
        let item = builder.slot(AttributePath::Item);
        let child = items.child().clone().replace_names(&mut |named| truth_of(&named));
        let own = child.reads();
        // The slots of the plan stand in the order in which the condition reads its attributes.
        let reads = items.child().reads().into_iter().zip(items.reads());
        // What only named conditions read is read by the program around.
        let reads = reads.filter(|(path, _)| own.contains(path));
        let outer = reads.map(|(path, outer)| (builder.slot(path.clone()), *outer)).collect();
        let names = items.child().uses_of_names();
        let named =
            names.filter_map(|one| Some((builder.slot(path_of(one)), named(one)?))).collect();
        let root = builder.add(child.clone());
        let (mut program, slots) = builder.finish(std::iter::once(root), patterns);
        // The plan counts all automata.
        program.patterns.share_automata();
        let tests = items.child().tests().len();
        Self { program, slots, root, item, outer, named, tests, first_pattern }
    }
}
