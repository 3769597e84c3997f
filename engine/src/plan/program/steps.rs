//! The program as most checks run it: few bytes for each part, and those that are asked together close together.

use super::nodes::{NodeId, Operation};
use crate::condition::{Operand, Predicate, Test};
use crate::number::Number;
use crate::operator::Operator;
use crate::plan::slots::{Slot, Slots, Symbol};

/// Parts of a plan whose truth is remembered during one check, at most: a bit each.
pub(super) const MAX_REMEMBERED: u8 = 64;

/// The steps of a program, by node.
#[derive(Debug, Default)]
pub(super) struct Steps {
    steps: Box<[Step]>,
    children: Box<[NodeId]>,
    numbers: Box<[Number]>,
    masks: Box<[u64]>,
    symbols: Box<[Symbol]>,
}

/// What one node comes to. The tests serve a value of the type that they compare; with any other, the node itself
/// is asked. The tag is told apart by itself, not by what the fields cannot be: every check decodes many.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(super) enum Step {
    All {
        place: Place,
        children: Children,
    },
    Any {
        place: Place,
        children: Children,
    },
    /// A text is this literal, or is not.
    Symbol {
        negated: bool,
        slot: Slot,
        symbol: Symbol,
    },
    /// A text is one of these literals, or is none: a mask of 64 bits, by its index.
    Mask {
        negated: bool,
        slot: Slot,
        mask: u32,
    },
    /// The same, for more literals: a sorted range.
    Sorted {
        negated: bool,
        count: u16,
        slot: Slot,
        first: u32,
    },
    /// A number compared with a number.
    Order {
        operator: Operator,
        slot: Slot,
        bound: u32,
    },
    /// Anything else.
    Node {
        place: Place,
    },
}

/// The children of AND or OR.
#[derive(Clone, Copy, Debug)]
pub(super) struct Children {
    count: u16,
    first: u32,
}

/// Where a truth is remembered, if it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(u8);

impl Place {
    fn new(place: Option<u8>) -> Self {
        Self(place.unwrap_or(u8::MAX))
    }

    /// The bit of the place.
    #[inline]
    pub(super) fn bit(self) -> Option<u64> {
        (self.0 < MAX_REMEMBERED).then(|| 1 << self.0)
    }
}

impl Steps {
    pub(super) fn new(nodes: &[Operation], places: &[Option<u8>], slots: &Slots) -> Self {
        let mut packer = Packer::new(slots);
        let steps =
            nodes.iter().zip(places).map(|(node, place)| packer.step(node, *place)).collect();
        Self {
            steps,
            children: packer.children.into(),
            numbers: packer.numbers.into(),
            masks: packer.masks.into(),
            symbols: packer.symbols.into(),
        }
    }

    /// See [`super::Program::ask_last`].
    pub(super) fn ask_last(&mut self, root: NodeId, test: NodeId) {
        let Step::All { children, .. } = self.step(root) else { return };
        let range = children.first as usize..children.first as usize + usize::from(children.count);
        let children = &mut self.children[range];
        if let Some(place) = children.iter().position(|child| *child == test) {
            children[place..].rotate_left(1);
        }
    }

    #[inline]
    pub(super) fn step(&self, node: NodeId) -> Step {
        self.steps[node as usize]
    }

    #[inline]
    pub(super) fn children(&self, children: Children) -> &[NodeId] {
        &self.children[children.first as usize..][..usize::from(children.count)]
    }

    #[inline]
    pub(super) fn number(&self, bound: u32) -> Number {
        self.numbers[bound as usize]
    }

    #[inline]
    pub(super) fn mask_has(&self, mask: u32, symbol: Symbol) -> bool {
        symbol.bit().is_some_and(|bit| self.masks[mask as usize] & bit != 0)
    }

    pub(super) fn sorted_has(&self, first: u32, count: u16, symbol: Symbol) -> bool {
        self.symbols[first as usize..][..usize::from(count)].binary_search(&symbol).is_ok()
    }

    pub(super) fn weight(&self) -> usize {
        size_of_val::<[Step]>(&self.steps)
            + size_of_val::<[NodeId]>(&self.children)
            + size_of_val::<[Number]>(&self.numbers)
            + size_of_val::<[u64]>(&self.masks)
            + size_of_val::<[Symbol]>(&self.symbols)
    }
}

struct Packer<'s> {
    slots: &'s Slots,
    children: Vec<NodeId>,
    numbers: Vec<Number>,
    masks: Vec<u64>,
    symbols: Vec<Symbol>,
}

impl<'s> Packer<'s> {
    fn new(slots: &'s Slots) -> Self {
        Self {
            slots,
            children: Vec::new(),
            numbers: Vec::new(),
            masks: Vec::new(),
            symbols: Vec::new(),
        }
    }

    fn step(&mut self, node: &Operation, place: Option<u8>) -> Step {
        let place = Place::new(place);
        let step = match node {
            Operation::All(all) => {
                let children = self.children(all.iter().map(|child| child.node));
                children.map(|children| Step::All { children, place })
            }
            Operation::Any(any) => {
                let children = self.children(any.iter().map(|child| child.node));
                children.map(|children| Step::Any { children, place })
            }
            Operation::Test(test) => self.test(test),
            Operation::Not(_) => None,
        };
        step.unwrap_or(Step::Node { place })
    }

    fn children(&mut self, children: impl ExactSizeIterator<Item = NodeId>) -> Option<Children> {
        let (first, count) = (index(self.children.len())?, u16::try_from(children.len()).ok()?);
        self.children.extend(children);
        Some(Children { first, count })
    }

    fn test(&mut self, test: &Test<Slot>) -> Option<Step> {
        let slot = test.attribute;
        let Predicate::Compare(operator, operand) = &test.predicate else { return None };
        match (*operator, operand) {
            (Operator::Eq | Operator::Ne, Operand::Text(text)) => {
                let negated = *operator == Operator::Ne;
                self.slots.symbol(slot, text).map(|symbol| Step::Symbol { slot, symbol, negated })
            }
            (Operator::In | Operator::NotIn, Operand::List(list)) => {
                let negated = *operator == Operator::NotIn;
                let symbols = list.texts().map(|text| self.slots.symbol(slot, text));
                self.set(slot, negated, symbols.collect::<Option<_>>()?)
            }
            (operator, Operand::Number(number)) if operator.orders() => {
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

    fn set(&mut self, slot: Slot, negated: bool, mut symbols: Vec<Symbol>) -> Option<Step> {
        if let Some(bits) = symbols.iter().map(|symbol| symbol.bit()).collect::<Option<Vec<_>>>() {
            self.masks.push(bits.into_iter().fold(0, |mask, bit| mask | bit));
            return Some(Step::Mask { negated, slot, mask: index(self.masks.len() - 1)? });
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
