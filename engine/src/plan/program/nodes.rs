//! The nodes of a program: the complete form of each part of a condition.

use crate::condition::{Items, Operand, Predicate, Test};
use crate::operator::Lookup;
use crate::plan::slots::Slot;
use crate::value::heap_bytes;

/// The number of a part of a program.
pub(crate) type NodeId = u32;

/// A part of a condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    /// AND, with the cheapest child first.
    All(Box<[Child]>),
    /// OR, with the cheapest child first.
    Any(Box<[Child]>),
    Not(NodeId),
    Test(Test<Slot>),
}

/// A child of AND or OR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Child {
    pub(crate) node: NodeId,
    /// The child's position in the tree as written.
    pub(super) position: u32,
}

/// Returns the children in the order in which they were written.
pub(crate) fn as_written(children: &[Child]) -> impl Iterator<Item = NodeId> + use<> {
    let mut children = children.to_vec();
    children.sort_unstable_by_key(|child| child.position);
    children.into_iter().map(|child| child.node)
}

impl Operation {
    /// Returns the children of any operation.
    pub(super) fn children(&self) -> impl Iterator<Item = NodeId> {
        let (children, child): (&[Child], _) = match self {
            Self::All(children) | Self::Any(children) => (children, None),
            Self::Not(child) => (&[], Some(*child)),
            Self::Test(_) => (&[], None),
        };
        children.iter().map(|child| child.node).chain(child)
    }

    /// Returns whether this is a test by a pattern.
    pub(super) fn is_pattern_test(&self) -> bool {
        matches!(self, Self::Test(Test { predicate: Predicate::Matches(_), .. }))
    }

    /// Returns the slot and the texts of a test for equality with texts, which can be interned.
    pub(super) fn literal_texts(&self) -> Option<(Slot, Vec<&str>)> {
        let Self::Test(test) = self else { return None };
        let Predicate::Compare(operator, operand) = &test.predicate else { return None };
        let texts = match (operator.row().lookup, operand) {
            (Lookup::Equal, Operand::Text(text)) => vec![&**text],
            (Lookup::EqualItem, Operand::List(list)) => list.texts().collect(),
            _ => return None,
        };
        Some((test.attribute, texts))
    }

    /// Returns the sides of an order that a declared date-time leaves undetermined, also of one that a condition on items has.
    pub(crate) fn unordered(&self) -> impl Iterator<Item = Slot> {
        let (left, others): (_, &[Slot]) = match self {
            Self::Test(test) => match &test.predicate {
                Predicate::Unordered(..) => {
                    (Some(test.attribute), test.predicate.other_attributes())
                }
                Predicate::Items(items) if has_unordered(items) => (None, items.reads()),
                _ => (None, &[]),
            },
            Self::All(_) | Self::Any(_) | Self::Not(_) => (None, &[]),
        };
        left.into_iter().chain(others.iter().copied())
    }

    /// Returns the heap bytes, for the weight of a plan.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::All(children) | Self::Any(children) => size_of_val::<[Child]>(children),
            Self::Not(_) => 0,
            Self::Test(test) => match &test.predicate {
                Predicate::Compare(_, Operand::Text(text))
                | Predicate::Unordered(_, Operand::Text(text)) => heap_bytes(text),
                Predicate::Compare(_, Operand::List(list)) => list.weight(),
                // The rules of a zone exist once in the process.
                Predicate::Exists
                | Predicate::Compare(..)
                | Predicate::Unordered(..)
                | Predicate::During(_)
                | Predicate::Length(..) => 0,
                Predicate::Items(items) => items.weight(),
                // The automata of a plan are shared, and counted elsewhere.
                Predicate::Matches(pattern) => pattern.source().len(),
                Predicate::IpIn(networks) => networks.weight(),
            },
        }
    }
}

fn has_unordered(items: &Items<Slot>) -> bool {
    let tests = items.child().tests();
    tests.iter().any(|test| matches!(test.predicate, Predicate::Unordered(..)))
}
