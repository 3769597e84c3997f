//! One run of a program, for one check.

use super::matching::PatternResults;
use super::nodes::{NodeId, Operation, as_written};
use super::steps::{Children, Step};
use super::{Body, ItemValues, Program};
use crate::condition::{Predicate, Test};
use crate::decision::Undetermined;
use crate::during::TimeWindow;
use crate::operator::Quantifier;
use crate::plan::slots::{Slot, SlotValue, Slots, Symbol};
use crate::resolution::AttributeAnswers;
use crate::value::{AttributeValue, List, parse_instant};

/// One run of a program, for one check.
#[derive(Debug)]
pub(crate) struct Run<'r> {
    program: &'r Program,
    values: &'r [SlotValue<'r>],
    /// One bit for each memoized part whose truth is known in this run.
    known: u64,
    /// Among the known parts: the true ones.
    truths: u64,
    /// Among the known parts: the undetermined ones.
    undetermined: u64,
    /// `None` before the first pattern test.
    patterns: Option<PatternResults>,
    /// The number of steps that long attributes have taken so far.
    scanned: usize,
}

/// A comparison of at most this many steps is not counted: a plan with a million of them takes a second.
pub(super) const UNCOUNTED_STEPS: usize = 64;
/// The maximum number of counted steps of one run: at most about 70 ms.
pub(super) const MAX_SCANNED_STEPS: usize = 1 << 24;

/// Returns whether `text` begins with `prefix`.
#[inline(always)]
fn has_prefix(text: &str, prefix: &str) -> bool {
    // Most texts differ in their first byte: comparing that alone takes no call.
    let mut bytes = text.bytes().zip(prefix.bytes());
    bytes.next().is_none_or(|(of_text, of_prefix)| of_text == of_prefix) && text.starts_with(prefix)
}

impl<'r> Run<'r> {
    #[inline]
    pub(crate) fn new(program: &'r Program, values: &'r [SlotValue<'r>]) -> Self {
        Self { program, values, known: 0, truths: 0, undetermined: 0, patterns: None, scanned: 0 }
    }

    /// Counts the steps that other parts of the decision have taken.
    pub(crate) fn resume(&mut self, scanned: usize) {
        self.scanned = scanned;
    }

    /// Returns the number of steps that long attributes have taken so far.
    pub(crate) fn scanned(&self) -> usize {
        self.scanned
    }

    /// Returns the value of an attribute; `None` if it is absent.
    #[inline]
    pub(crate) fn value(&self, slot: Slot) -> Option<AttributeValue<'r>> {
        self.values[slot as usize].value
    }

    /// Returns the symbol of an attribute's value.
    #[inline]
    pub(crate) fn symbol(&self, slot: Slot) -> Symbol {
        self.values[slot as usize].symbol
    }

    /// Returns a part of the program.
    pub(crate) fn operation(&self, node: NodeId) -> &'r Operation {
        self.program.node(node)
    }

    /// Returns the truth of a part; `None` if it is undetermined.
    #[inline(always)]
    pub(crate) fn truth(&mut self, node: NodeId) -> Option<bool> {
        match *self.program.steps.step(node) {
            Step::All { memo, children } => match memo.bit() {
                None => self.short_circuit(children, false),
                Some(bit) => self.memoized(node, bit),
            },
            Step::Any { memo, children } => match memo.bit() {
                None => self.short_circuit(children, true),
                Some(bit) => self.memoized(node, bit),
            },
            Step::Node { memo } => match memo.bit() {
                None => self.evaluate_node(node),
                Some(bit) => self.memoized(node, bit),
            },
            // `compared` returns `None` for undetermined, too: the complete form tells the two apart.
            ref test => self.compared(node, test).or_else(|| self.evaluate_test(node, test)),
        }
    }

    /// Returns the truth of a comparison with literals. `None` for any other part, and if the step does not handle the value.
    #[inline(always)]
    fn compared(&self, node: NodeId, step: &Step) -> Option<bool> {
        let steps = &self.program.steps;
        let symbol = |slot| Some(self.symbol(slot)).filter(|symbol| *symbol != Symbol::NO_TEXT);
        match *step {
            Step::Text { slot, negated } => match self.value(slot)? {
                AttributeValue::Text(text) => Some((text == self.program.text(node)?) != negated),
                _ => None,
            },
            Step::Prefix { slot } => match self.value(slot)? {
                AttributeValue::Text(text) => Some(has_prefix(text, self.program.text(node)?)),
                _ => None,
            },
            Step::Symbol { slot, symbol: wanted, negated } => {
                Some((symbol(slot)? == wanted) != negated)
            }
            Step::Mask { negated, slot, mask } => {
                // A text that is not interned, or is not one of the first 32, has no bit.
                let bit = symbol(slot)?.bit().unwrap_or_default();
                Some((mask & bit != 0) != negated)
            }
            Step::Sorted { negated, count, slot, first } => {
                Some(steps.sorted_has(first, count, symbol(slot)?) != negated)
            }
            Step::OrderNatural { operator, slot, bound } => match self.value(slot)? {
                AttributeValue::Number(number) => {
                    operator.holds_in_order(number.cmp_natural(bound))
                }
                _ => None,
            },
            Step::Order { operator, slot, bound } => match self.value(slot)? {
                AttributeValue::Number(number) => {
                    operator.holds_in_order(number.cmp(&steps.number(bound)))
                }
                _ => None,
            },
            Step::All { .. } | Step::Any { .. } | Step::Matches { .. } | Step::Node { .. } => None,
        }
    }

    /// Returns the truth of a test that is not a comparison, or whose value has another type than the step compares.
    fn evaluate_test(&mut self, node: NodeId, step: &Step) -> Option<bool> {
        match *step {
            Step::Matches { slot, test } => match self.value(slot) {
                Some(AttributeValue::Text(text)) => {
                    let tests = &self.program.patterns;
                    let results = self.patterns.get_or_insert_with(|| tests.begin(self.values));
                    tests.matches(test, text, results)
                }
                _ => self.evaluate_node(node),
            },
            _ => self.evaluate_node(node),
        }
    }

    /// Returns the truth of a part that is memoized. Evaluates it the first time.
    fn memoized(&mut self, node: NodeId, bit: u64) -> Option<bool> {
        if self.known & bit != 0 {
            return (self.undetermined & bit == 0).then_some(self.truths & bit != 0);
        }
        let truth = match *self.program.steps.step(node) {
            Step::All { children, .. } => self.short_circuit(children, false),
            Step::Any { children, .. } => self.short_circuit(children, true),
            _ => self.evaluate_node(node),
        };
        self.known |= bit;
        match truth {
            Some(true) => self.truths |= bit,
            Some(false) => {}
            None => self.undetermined |= bit,
        }
        truth
    }

    /// Returns the truth of a conjunction (`deciding` is false) or disjunction (`deciding` is true). One child with the
    /// deciding truth decides; otherwise one undetermined child makes the whole undetermined.
    fn short_circuit(&mut self, children: Children, deciding: bool) -> Option<bool> {
        let mut is_undetermined = false;
        let steps = &self.program.steps;
        for child in steps.children(children) {
            // Most children are comparisons: no call for them.
            match self.compared(child.node, &child.step).or_else(|| self.truth(child.node)) {
                Some(truth) if truth == deciding => return Some(deciding),
                Some(_) => {}
                None => is_undetermined = true,
            }
        }
        (!is_undetermined).then_some(!deciding)
    }

    /// Returns the truth of a negation or a test, from the complete form.
    fn evaluate_node(&mut self, node: NodeId) -> Option<bool> {
        match self.program.node(node) {
            Operation::Test(test) => match &test.predicate {
                Predicate::Items(items) => self.items(node, test, items.quantifier()),
                _ => self.test(test),
            },
            Operation::Not(child) => self.truth(*child).map(|truth| !truth),
            // AND and OR have their own steps.
            Operation::All(_) | Operation::Any(_) => None,
        }
    }

    /// Returns the truth of a test.
    fn test(&mut self, test: &Test<Slot>) -> Option<bool> {
        let Some(value) = self.value(test.attribute) else {
            return if let Predicate::Exists = test.predicate {
                Some(false)
            } else {
                test.if_missing
            };
        };
        match (&test.predicate, value) {
            (Predicate::Compare(operator, operand), value) => {
                let right = operand.value(|slot| self.value(*slot))?;
                // Before the comparison: what the run cannot afford is not begun, and is undetermined.
                self.take(operator.scanned(value, right))?;
                operator.holds(value, right)
            }
            (Predicate::During(window), AttributeValue::Text(text)) => {
                self.take(TimeWindow::scanned(text))?;
                parse_instant(text).map(|instant| window.covers(instant))
            }
            (Predicate::Exists, AttributeValue::Failed | AttributeValue::NotRequested) => None,
            (Predicate::Exists, _) => Some(true),
            (Predicate::IpIn(networks), AttributeValue::Text(text)) => networks.contain(text),
            (Predicate::Length(operator, operand), AttributeValue::List(list)) => {
                let right = operand.value(|slot| self.value(*slot))?;
                operator.holds(AttributeValue::Number((list.len() as u64).into()), right)
            }
            // A text that is matched has its own step, and so has a condition on items.
            (
                Predicate::Matches(_)
                | Predicate::IpIn(_)
                | Predicate::During(_)
                | Predicate::Items(_)
                | Predicate::Length(..)
                | Predicate::Unordered(..),
                _,
            ) => None,
        }
    }

    /// Returns the truth of the condition on items that the test `node` has.
    fn items(&mut self, node: NodeId, test: &Test<Slot>, quantifier: Quantifier) -> Option<bool> {
        match self.value(test.attribute) {
            None => test.if_missing,
            Some(_) => self.judge_items(node, test, quantifier)?.truth,
        }
    }

    /// Judges the items of a list. `None` if the attribute is not a list, or if there are too many items.
    pub(crate) fn judge_items(
        &mut self,
        node: NodeId,
        test: &Test<Slot>,
        quantifier: Quantifier,
    ) -> Option<JudgedItems<'r>> {
        let Some(AttributeValue::List(list)) = self.value(test.attribute) else { return None };
        let body = self.program.body(node);
        self.take(body.steps(list))?;
        Some(body.judge(quantifier, list, self))
    }

    /// Returns the truth of the condition on items that the test `node` has, for one item.
    pub(crate) fn truth_of_item(&mut self, node: NodeId, item: AttributeValue<'_>) -> Option<bool> {
        let body = self.program.body(node);
        let values = body.values_of(item, self);
        body.run(&values, self).truth(body.root)
    }

    /// Returns the results with which the pattern tests of an item start; `None` if it has none.
    pub(super) fn patterns_of_items(&mut self, body: &Body) -> Option<PatternResults> {
        if body.patterns() == 0 {
            return None;
        }
        let (program, values) = (self.program, self.values);
        let results = self.patterns.get_or_insert_with(|| program.patterns.begin(values));
        let tests = (body.first_pattern(), body.patterns());
        Some(program.patterns.begin_for_item(results, tests, values))
    }

    /// Sets the results with which the pattern tests start.
    pub(super) fn start_patterns(&mut self, patterns: PatternResults) {
        self.patterns = Some(patterns);
    }

    /// Takes the steps of a comparison from what a run may take. `None` if they do not fit.
    #[inline]
    fn take(&mut self, steps: usize) -> Option<()> {
        (steps <= UNCOUNTED_STEPS || self.affords(steps)).then_some(())
    }

    #[cold]
    fn affords(&mut self, steps: usize) -> bool {
        // The sum stays beyond the bound, so every later long comparison is refused, too.
        self.scanned = self.scanned.saturating_add(steps);
        self.scanned <= MAX_SCANNED_STEPS
    }

    /// Returns whether a comparison was left out because it would take too long.
    fn is_too_long(&self, node: NodeId, test: &Test<Slot>) -> bool {
        self.scanned > MAX_SCANNED_STEPS
            && self.steps(node, test).is_some_and(|steps| steps > UNCOUNTED_STEPS)
    }

    /// Returns the number of steps of a test that looks at the whole of its attribute.
    pub(crate) fn steps(&self, node: NodeId, test: &Test<Slot>) -> Option<usize> {
        let left = self.value(test.attribute)?;
        match (&test.predicate, left) {
            (Predicate::Compare(operator, operand), _) => {
                Some(operator.scanned(left, operand.value(|slot| self.value(*slot))?))
            }
            (Predicate::During(_), AttributeValue::Text(text)) => Some(TimeWindow::scanned(text)),
            (Predicate::Items(_), AttributeValue::List(list)) => {
                Some(self.program.body(node).steps(list))
            }
            _ => None,
        }
    }

    /// Returns the cause of `test`, the undetermined test of `node`. `slots` names its attributes.
    pub(crate) fn cause<'p>(
        &mut self,
        node: NodeId,
        test: &Test<Slot>,
        slots: &'p Slots,
        answers: &AttributeAnswers,
    ) -> Undetermined<'p> {
        let others = match &test.predicate {
            // Which of them an item needs, the item says.
            Predicate::Items(_) => &[],
            other => other.other_attributes(),
        };
        for slot in std::iter::once(&test.attribute).chain(others) {
            let path = slots.path(*slot);
            match self.value(*slot) {
                None => return Undetermined::Absent(path),
                Some(AttributeValue::Failed | AttributeValue::NotRequested) => {
                    return Undetermined::Unresolved(path, answers.why_unknown(path).into());
                }
                Some(_) => {}
            }
        }
        let path = slots.path(test.attribute);
        if let Some(cause) = self.cause_of_item(node, test, slots, answers) {
            return cause;
        }
        match (*self.program.steps.step(node), self.value(test.attribute)) {
            (Step::Matches { test, .. }, Some(AttributeValue::Text(_))) => {
                if self.program.patterns.is_compiled(test) {
                    Undetermined::TooLong(path)
                } else {
                    Undetermined::PatternTooLarge(path)
                }
            }
            _ if self.is_too_long(node, test) => Undetermined::TooLong(path),
            _ => Undetermined::Incomparable(path, test.predicate.operator_name()),
        }
    }

    /// Returns the cause of the first undetermined item of a list; `None` if no item is.
    fn cause_of_item<'p>(
        &mut self,
        node: NodeId,
        test: &Test<Slot>,
        slots: &'p Slots,
        answers: &AttributeAnswers,
    ) -> Option<Undetermined<'p>> {
        let Predicate::Items(items) = &test.predicate else { return None };
        let item = self.judge_items(node, test, items.quantifier())?.item?;
        let body = self.program.body(node);
        let values = body.values_of(item, self);
        let mut causes = Vec::new();
        body.run(&values, self).causes(body.root, &body.slots, answers, &mut causes);
        let outer = |path: &_| body.outer_of(path).map(|slot| slots.path(slot));
        let cause = causes.into_iter().next()?;
        // A named condition is one value of the body. Its causes are those of the condition in this program.
        if let Undetermined::Unresolved(named, _) = &cause
            && let Some(node) = body.named_at(named)
        {
            let mut causes = Vec::new();
            self.causes(node, slots, answers, &mut causes);
            return causes.into_iter().next();
        }
        Some(cause.of_item_in(slots.path(test.attribute), outer))
    }

    /// Collects the causes of a node that is undetermined, in the order in which the condition was written.
    pub(crate) fn causes<'p>(
        &mut self,
        node: NodeId,
        slots: &'p Slots,
        answers: &AttributeAnswers,
        causes: &mut Vec<Undetermined<'p>>,
    ) {
        match self.program.node(node) {
            Operation::All(children) | Operation::Any(children) => {
                for child in as_written(children) {
                    if self.truth(child).is_none() {
                        self.causes(child, slots, answers, causes);
                    }
                }
            }
            Operation::Not(child) => self.causes(*child, slots, answers, causes),
            Operation::Test(test) => causes.push(self.cause(node, test, slots, answers)),
        }
    }
}

/// The truth of a condition on items, and the first item that decides it: a true one of a true `any`, a false one of a
/// false `all`, else an undetermined one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedItems<'r> {
    pub(crate) truth: Option<bool>,
    pub(crate) item: Option<AttributeValue<'r>>,
}

impl Body {
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
            // All items share the budget of the run that asks.
            run.resume(scanned);
            // Without patterns nothing is copied for an item.
            if let Some(patterns) = &patterns {
                run.start_patterns(patterns.clone());
            }
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
            // An empty list ends here, too: `ANY` of it is false, and `ALL` is true.
            (None, None) => JudgedItems { truth: Some(!deciding), item: None },
        }
    }

    /// Returns the values that the condition reads, without an item.
    fn values<'i, 'r: 'i>(&self, outer: &mut Run<'r>) -> ItemValues<'i> {
        let absent = SlotValue { value: None, symbol: Symbol::NO_TEXT };
        let mut values = ItemValues::from_elem(absent, self.slots.paths().count());
        for (own, node) in &self.named {
            // `Failed` and not absent: a test of an undetermined name must be undetermined.
            let truth = outer.truth(*node).map_or(AttributeValue::Failed, AttributeValue::Bool);
            values[*own as usize] = self.slots.known(*own, truth);
        }
        for (own, outer_slot) in &self.outer {
            if let Some(value) = outer.value(*outer_slot) {
                values[*own as usize] = self.slots.known(*own, value);
            }
        }
        values
    }

    #[inline(always)]
    fn set_item<'r>(&self, item: AttributeValue<'r>, values: &mut [SlotValue<'r>]) {
        values[self.item as usize] = self.slots.known(self.item, item);
    }

    /// Returns the values that the condition reads for one item.
    pub(crate) fn values_of<'i, 'r: 'i>(
        &self,
        item: AttributeValue<'i>,
        outer: &mut Run<'r>,
    ) -> ItemValues<'i> {
        let mut values = self.values(outer);
        self.set_item(item, &mut values);
        values
    }

    /// Starts a run for one item, with the values that [`Body::values_of`] returns.
    pub(crate) fn run<'b>(&'b self, values: &'b [SlotValue<'b>], outer: &mut Run<'_>) -> Run<'b> {
        let mut run = Run::new(&self.program, values);
        run.resume(outer.scanned());
        if let Some(patterns) = outer.patterns_of_items(self) {
            run.start_patterns(patterns);
        }
        run
    }
}
