//! One check's run of a program.

use super::Program;
use super::nodes::{NodeId, Operation, as_written};
use super::steps::{Children, Step};
use crate::condition::{Operand, Predicate, Test};
use crate::plan::slots::{Slot, SlotValue, Symbol};
use crate::value::Value;

/// Why a test is undetermined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The attribute is absent.
    Absent(Slot),
    /// The attribute's resolver failed, or was not asked.
    Unresolved(Slot),
    /// The attribute's type, or the pair of types, is none that the operator compares.
    Incomparable(Slot, &'static str),
}

/// One check's run of a program.
#[derive(Debug)]
pub(crate) struct Run<'r> {
    program: &'r Program,
    values: &'r [SlotValue<'r>],
    /// What is remembered.
    known: u64,
    /// Of that: what is true, and what is undetermined.
    truths: u64,
    open: u64,
}

impl<'r> Run<'r> {
    pub(crate) fn new(program: &'r Program, values: &'r [SlotValue<'r>]) -> Self {
        Self { program, values, known: 0, truths: 0, open: 0 }
    }

    /// The value of an attribute; `None` is absent.
    #[inline]
    pub(crate) fn value(&self, slot: Slot) -> Option<Value<'r>> {
        self.values[slot as usize].value
    }

    /// What the value of an attribute is among the texts that it is compared with.
    #[inline]
    pub(crate) fn symbol(&self, slot: Slot) -> Symbol {
        self.values[slot as usize].symbol
    }

    /// What a part says.
    pub(crate) fn operation(&self, node: NodeId) -> &'r Operation {
        self.program.node(node)
    }

    /// True, false, or undetermined (`None`).
    #[inline]
    pub(crate) fn truth(&mut self, node: NodeId) -> Option<bool> {
        let steps = &self.program.steps;
        match steps.step(node) {
            Step::Symbol { slot, symbol, negated } => match self.symbol(slot) {
                Symbol::NO_TEXT => self.ask_node(node),
                found => Some((found == symbol) != negated),
            },
            Step::Mask { negated, slot, mask } => match self.symbol(slot) {
                Symbol::NO_TEXT => self.ask_node(node),
                found => Some(steps.mask_has(mask, found) != negated),
            },
            Step::Sorted { negated, count, slot, first } => match self.symbol(slot) {
                Symbol::NO_TEXT => self.ask_node(node),
                found => Some(steps.sorted_has(first, count, found) != negated),
            },
            Step::Order { operator, slot, bound } => match self.value(slot) {
                Some(Value::Number(number)) => {
                    operator.holds_in_order(number.cmp(&steps.number(bound)))
                }
                _ => self.ask_node(node),
            },
            Step::All { place, children } => match place.bit() {
                None => self.settle(children, false),
                Some(bit) => self.recall(node, bit),
            },
            Step::Any { place, children } => match place.bit() {
                None => self.settle(children, true),
                Some(bit) => self.recall(node, bit),
            },
            Step::Node { place } => match place.bit() {
                None => self.ask_node(node),
                Some(bit) => self.recall(node, bit),
            },
        }
    }

    /// The truth of a part that is remembered once it was asked.
    fn recall(&mut self, node: NodeId, bit: u64) -> Option<bool> {
        if self.known & bit != 0 {
            return (self.open & bit == 0).then_some(self.truths & bit != 0);
        }
        let truth = match self.program.steps.step(node) {
            Step::All { children, .. } => self.settle(children, false),
            Step::Any { children, .. } => self.settle(children, true),
            _ => self.ask_node(node),
        };
        self.known |= bit;
        match truth {
            Some(true) => self.truths |= bit,
            Some(false) => {}
            None => self.open |= bit,
        }
        truth
    }

    /// The truth of a conjunction (`settling` false) or disjunction (`settling` true): one settling child
    /// settles it, otherwise one undetermined child leaves it open.
    fn settle(&mut self, children: Children, settling: bool) -> Option<bool> {
        let mut open = false;
        for &child in self.program.steps.children(children) {
            match self.truth(child) {
                Some(truth) if truth == settling => return Some(settling),
                Some(_) => {}
                None => open = true,
            }
        }
        (!open).then_some(!settling)
    }

    /// The truth of a negation or of any test.
    fn ask_node(&mut self, node: NodeId) -> Option<bool> {
        match self.program.node(node) {
            Operation::Test(test) => self.test(test),
            Operation::Not(child) => self.truth(*child).map(|truth| !truth),
            // AND and OR have steps of their own.
            Operation::All(_) | Operation::Any(_) => None,
        }
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
            (Predicate::Exists, Value::Failed | Value::Unasked) => None,
            (Predicate::Exists, _) => Some(true),
            (Predicate::Matches(pattern), Value::Text(text)) => Some(pattern.matches(text)),
            (Predicate::IpIn(networks), Value::Text(text)) => networks.contain(text),
            (Predicate::Matches(_) | Predicate::IpIn(_), _) => None,
        }
    }

    /// Why a test is undetermined, which it must be.
    pub(crate) fn cause(&self, test: &Test<Slot>) -> Cause {
        let right = match &test.predicate {
            Predicate::Compare(_, Operand::Attribute(other)) => Some(*other),
            _ => None,
        };
        for slot in [Some(test.attribute), right].into_iter().flatten() {
            match self.value(slot) {
                None => return Cause::Absent(slot),
                Some(Value::Failed | Value::Unasked) => return Cause::Unresolved(slot),
                Some(_) => {}
            }
        }
        Cause::Incomparable(test.attribute, test.predicate.operator_name())
    }

    /// Collects why `node` is undetermined, which it must be: the tests that leave it open.
    pub(crate) fn causes(&mut self, node: NodeId, causes: &mut Vec<Cause>) {
        match self.program.node(node) {
            Operation::All(children) | Operation::Any(children) => {
                for child in as_written(children) {
                    if self.truth(child).is_none() {
                        self.causes(child, causes);
                    }
                }
            }
            Operation::Not(child) => self.causes(*child, causes),
            Operation::Test(test) => causes.push(self.cause(test)),
        }
    }
}
