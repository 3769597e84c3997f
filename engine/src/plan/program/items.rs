//! The programs of conditions on items: each has one of its own, which runs for one item after the other
//! (`docs/semantics.md`, section 4.10).

use smallvec::SmallVec;

use super::build::Builder;
use super::nodes::{NodeId, Operation};
use super::{Program, Run};
use crate::condition::{AttributePath, Items, Predicate};
use crate::operator::Quantifier;
use crate::pattern::PatternCompiler;
use crate::plan::slots::{Slot, SlotValue, Slots, Symbol};
use crate::value::{AttributeValue, List};

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
    /// The number of tests of one item.
    tests: usize,
    /// The number of the first of its pattern tests among all of the plan.
    first_pattern: u32,
}

/// The truth of a condition on items, and the first item that decides it: a true one of a true `any`, a false one of a
/// false `all`, else an undetermined one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedItems<'r> {
    pub(crate) truth: Option<bool>,
    pub(crate) item: Option<AttributeValue<'r>>,
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

    /// Judges the items of `list` one after the other, up to the first that decides. Counts the steps on in `outer`, the run
    /// that asks.
    pub(super) fn judge<'r>(
        &'r self,
        quantifier: Quantifier,
        list: List<'r>,
        outer: &mut Run<'r>,
    ) -> JudgedItems<'r> {
        let deciding = quantifier.deciding();
        let mut values = self.values(outer);
        let patterns = outer.patterns_of_items(self);
        let mut scanned = outer.scanned();
        let (mut decided, mut undetermined) = (None, None);
        list.any(|item| {
            self.set_item(item, &mut values);
            let mut run = Run::new(&self.program, &values);
            run.resume(scanned);
            run.start_patterns(patterns.clone());
            let truth = run.truth(self.root);
            scanned = run.scanned();
            match truth {
                Some(truth) if truth == deciding => decided = Some(item),
                Some(_) => {}
                None => {
                    undetermined.get_or_insert(item);
                }
            }
            decided.is_some()
        });
        outer.resume(scanned);
        match (decided, undetermined) {
            (Some(item), _) => JudgedItems { truth: Some(deciding), item: Some(item) },
            (None, Some(item)) => JudgedItems { truth: None, item: Some(item) },
            (None, None) => JudgedItems { truth: Some(!deciding), item: None },
        }
    }

    /// Returns the values that the condition reads, without an item.
    fn values<'r>(&self, outer: &Run<'r>) -> ItemValues<'r> {
        let absent = SlotValue { value: None, symbol: Symbol::NO_TEXT };
        let mut values = ItemValues::from_elem(absent, self.outer.len() + 1);
        for (own, outer_slot) in &self.outer {
            if let Some(value) = outer.value(*outer_slot) {
                values[*own as usize] = self.slots.known(*own, value);
            }
        }
        values
    }

    fn set_item<'r>(&self, item: AttributeValue<'r>, values: &mut ItemValues<'r>) {
        values[self.item as usize] = self.slots.known(self.item, item);
    }

    /// Returns the values that the condition reads for one item.
    pub(crate) fn values_of<'r>(
        &self,
        item: AttributeValue<'r>,
        outer: &Run<'r>,
    ) -> ItemValues<'r> {
        let mut values = self.values(outer);
        self.set_item(item, &mut values);
        values
    }

    /// Starts a run for one item, with the values that [`Body::values_of`] returns.
    pub(crate) fn run<'b>(&'b self, values: &'b [SlotValue<'b>], outer: &mut Run<'_>) -> Run<'b> {
        let mut run = Run::new(&self.program, values);
        run.resume(outer.scanned());
        run.start_patterns(outer.patterns_of_items(self));
        run
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

    fn weight(&self) -> usize {
        self.program.weight() + self.slots.weight() + size_of_val::<[(Slot, Slot)]>(&self.outer)
    }
}
