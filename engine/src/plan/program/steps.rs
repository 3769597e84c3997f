//! The compact form of a program: few bytes per part, with parts that are evaluated together close together.

use super::nodes::{NodeId, Operation};
use crate::condition::{Operand, Predicate, Test};
use crate::number::Number;
use crate::operator::{Lookup, Operator};
use crate::plan::slots::{Slot, Slots, Symbol};

/// The maximum number of memoized parts: a run has one bit for each.
pub(super) const MAX_MEMOIZED: u8 = 64;

/// The steps of a program, by node.
#[derive(Debug, Default)]
pub(super) struct Steps {
    steps: Box<[Step]>,
    children: Box<[StepOf]>,
    numbers: Box<[Number]>,
    symbols: Box<[Symbol]>,
}

/// A child of AND or OR, with its step: a run reads the children of one part from one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepOf {
    pub(super) node: NodeId,
    pub(super) step: Step,
}

/// The compact form of one node. A test handles values of the type that it compares; the node itself handles the
/// others.
///
/// `repr(u8)` keeps the tag in its own byte. Without it the compiler encodes the tag in unused values of a field,
/// which takes longer to decode, and every check decodes many steps.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Step {
    All {
        memo: Memo,
        children: Children,
    },
    Any {
        memo: Memo,
        children: Children,
    },
    /// Compares a text with the literal of the node.
    Text {
        negated: bool,
        slot: Slot,
    },
    /// Asks whether a text begins with the literal of the node.
    Prefix {
        slot: Slot,
    },
    /// Compares the symbol of a text with the symbol of one literal.
    Symbol {
        negated: bool,
        slot: Slot,
        symbol: Symbol,
    },
    /// Looks a text up among literals: `mask` has a bit for each.
    Mask {
        negated: bool,
        slot: Slot,
        mask: u32,
    },
    /// Looks a text up among more literals: a sorted range of symbols.
    Sorted {
        negated: bool,
        count: u16,
        slot: Slot,
        first: u32,
    },
    /// Compares a number with a natural number.
    OrderNatural {
        operator: Operator,
        slot: Slot,
        bound: u32,
    },
    /// Compares a number with another number; `bound` is its index.
    Order {
        operator: Operator,
        slot: Slot,
        bound: u32,
    },
    /// Matches a text with a pattern; `test` is the number of the pattern test.
    Matches {
        slot: Slot,
        test: u32,
    },
    /// Any other part: evaluated from its node.
    Node {
        memo: Memo,
    },
}

/// The children of AND or OR.
#[derive(Clone, Copy, Debug)]
pub(super) struct Children {
    count: u16,
    first: u32,
}

/// The number of the bit that memoizes a truth, if it is memoized.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memo(u8);

impl Memo {
    fn new(memo: Option<u8>) -> Self {
        Self(memo.unwrap_or(u8::MAX))
    }

    /// Returns the bit, if the truth is memoized.
    #[inline]
    pub(super) fn bit(self) -> Option<u64> {
        (self.0 < MAX_MEMOIZED).then(|| 1 << self.0)
    }
}

impl Steps {
    /// Packs nodes. `patterns_of_items` returns the number of pattern tests of a condition on items.
    pub(super) fn new(
        nodes: &[Operation],
        memos: &[Option<u8>],
        slots: &Slots,
        patterns_of_items: impl Fn(NodeId) -> u32,
    ) -> Self {
        let mut packer = Packer::new(slots);
        // The children of a part have smaller numbers than the part.
        for ((id, node), memo) in (0..).zip(nodes).zip(memos) {
            let step = packer.step(node, *memo);
            packer.steps.push(step);
            // Pattern tests of items are numbered among those of the nodes, in the order of `pattern_tests`.
            packer.pattern_tests += patterns_of_items(id);
        }
        Self {
            steps: packer.steps.into(),
            children: packer.children.into(),
            numbers: packer.numbers.into(),
            symbols: packer.symbols.into(),
        }
    }

    /// Implements [`super::Program::evaluate_last`].
    pub(super) fn evaluate_last(&mut self, root: NodeId, test: NodeId) {
        let Step::All { children, .. } = *self.step(root) else { return };
        let range = children.first as usize..children.first as usize + usize::from(children.count);
        let children = &mut self.children[range];
        if let Some(position) = children.iter().position(|child| child.node == test) {
            children[position..].rotate_left(1);
        }
    }

    #[inline]
    pub(super) fn step(&self, node: NodeId) -> &Step {
        &self.steps[node as usize]
    }

    #[inline]
    pub(super) fn children(&self, children: Children) -> &[StepOf] {
        &self.children[children.first as usize..][..usize::from(children.count)]
    }

    #[inline]
    pub(super) fn number(&self, bound: u32) -> Number {
        self.numbers[bound as usize]
    }

    pub(super) fn sorted_has(&self, first: u32, count: u16, symbol: Symbol) -> bool {
        self.symbols[first as usize..][..usize::from(count)].binary_search(&symbol).is_ok()
    }

    pub(super) fn weight(&self) -> usize {
        size_of_val::<[Step]>(&self.steps)
            + size_of_val::<[StepOf]>(&self.children)
            + size_of_val::<[Number]>(&self.numbers)
            + size_of_val::<[Symbol]>(&self.symbols)
    }
}

/// Packs nodes into steps and the tables that steps refer to.
struct Packer<'s> {
    slots: &'s Slots,
    steps: Vec<Step>,
    children: Vec<StepOf>,
    numbers: Vec<Number>,
    symbols: Vec<Symbol>,
    /// The number of pattern tests so far.
    pattern_tests: u32,
}

impl<'s> Packer<'s> {
    fn new(slots: &'s Slots) -> Self {
        Self {
            slots,
            steps: Vec::new(),
            children: Vec::new(),
            numbers: Vec::new(),
            symbols: Vec::new(),
            pattern_tests: 0,
        }
    }

    fn step(&mut self, node: &Operation, memo: Option<u8>) -> Step {
        let memo = Memo::new(memo);
        let step = match node {
            Operation::All(all) => {
                let children = self.children(all.iter().map(|child| child.node));
                children.map(|children| Step::All { children, memo })
            }
            Operation::Any(any) => {
                let children = self.children(any.iter().map(|child| child.node));
                children.map(|children| Step::Any { children, memo })
            }
            Operation::Test(test) => self.test(test),
            Operation::Not(_) => None,
        };
        step.unwrap_or(Step::Node { memo })
    }

    fn children(&mut self, children: impl ExactSizeIterator<Item = NodeId>) -> Option<Children> {
        // Neither fails: a condition has at most a thousand nodes, and no program has four billion children.
        let (first, count) = (index(self.children.len())?, u16::try_from(children.len()).ok()?);
        // Children have smaller numbers than their parents, so their steps are packed.
        let steps = &self.steps;
        self.children.extend(children.map(|node| StepOf { node, step: steps[node as usize] }));
        Some(Children { first, count })
    }

    /// Packs a test. `None` if no step has a compact form of it.
    fn test(&mut self, test: &Test<Slot>) -> Option<Step> {
        let slot = test.attribute;
        let (operator, operand) = match &test.predicate {
            Predicate::Compare(operator, operand) => (operator, operand),
            Predicate::Matches(_) => {
                let test = self.pattern_tests;
                self.pattern_tests += 1;
                return Some(Step::Matches { slot, test });
            }
            Predicate::Exists
            | Predicate::IpIn(_)
            | Predicate::During(_)
            | Predicate::Items(_)
            | Predicate::Length(..)
            | Predicate::Unordered(..) => return None,
        };
        let (_, negated) = operator.positive();
        match (operator.row().lookup, operand) {
            (Lookup::Equal, Operand::Text(text)) => Some(match self.slots.symbol(slot, text) {
                Some(symbol) => Step::Symbol { slot, symbol, negated },
                None => Step::Text { slot, negated },
            }),
            (Lookup::Prefix, Operand::Text(_)) => Some(Step::Prefix { slot }),
            (Lookup::EqualItem, Operand::List(list)) => {
                // Texts suffice: a value that is not a text has no symbol, and is compared by the node itself.
                let symbols = list.texts().map(|text| self.slots.symbol(slot, text));
                self.set(slot, negated, symbols.collect::<Option<_>>()?)
            }
            (Lookup::Equal | Lookup::Below { .. }, Operand::Number(number)) => {
                let operator = *operator;
                if let Some(bound) = number.as_u32() {
                    return Some(Step::OrderNatural { slot, operator, bound });
                }
                // Policies often compare with the same few numbers. Looking 16 back keeps compilation linear.
                let known = self.numbers.iter().rev().take(16).position(|known| known == number);
                let bound = match known {
                    Some(back) => self.numbers.len() - 1 - back,
                    None => {
                        self.numbers.push(*number);
                        self.numbers.len() - 1
                    }
                };
                Some(Step::Order { slot, operator, bound: index(bound)? })
            }
            _ => None,
        }
    }

    /// Packs a set of literals: as a mask if all symbols fit into one, else as a sorted range.
    fn set(&mut self, slot: Slot, negated: bool, mut symbols: Vec<Symbol>) -> Option<Step> {
        if let Some(bits) = symbols.iter().map(|symbol| symbol.bit()).collect::<Option<Vec<_>>>() {
            let mask = bits.into_iter().fold(0, |mask, bit| mask | bit);
            return Some(Step::Mask { negated, slot, mask });
        }
        symbols.sort_unstable();
        let (first, count) = (index(self.symbols.len())?, u16::try_from(symbols.len()).ok()?);
        self.symbols.extend(symbols);
        Some(Step::Sorted { negated, count, slot, first })
    }
}

fn index(index: usize) -> Option<u32> {
    u32::try_from(index).ok()
}
