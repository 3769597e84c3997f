//! W3 without an index: compiles every policy, and walks them until the first match.

use super::Symbols;
use super::policies::{Values, in_order, interned};
use crate::model::SamplePolicy;
use crate::plain_request::PlainRequest;

/// Each policy as a closure of its three comparisons: the benefit of compilation alone.
pub struct Closures {
    values: Symbols,
    policies: Vec<(Matches, bool)>,
}

impl Closures {
    /// Compiles policies of one resource.
    pub fn new(policies: &[SamplePolicy]) -> Self {
        let mut values = Symbols::default();
        let policies = in_order(policies).into_iter().map(|policy| {
            let (department, clearance, regions) = interned(policy, &mut values);
            let matches = move |values: &Values| {
                values.department == Some(department)
                    && values.clearance.is_some_and(|own| own >= clearance)
                    && values.region.is_some_and(|own| regions.contains(&own))
            };
            (Box::new(matches) as Matches, policy.allow)
        });
        Self { policies: policies.collect(), values }
    }

    /// Returns whether `request` is allowed.
    pub fn allows(&self, request: &PlainRequest<'_>) -> bool {
        let values = Values::read(request, &self.values);
        let first = self.policies.iter().find(|(matches, _)| matches(&values));
        first.is_some_and(|(_, allow)| *allow)
    }
}

type Matches = Box<dyn Fn(&Values) -> bool>;

/// Each policy as a tree of enums over slots, walked recursively: the result of a plain compiler.
pub struct Tree {
    values: Symbols,
    policies: Vec<(Node, bool)>,
}

enum Node {
    And(Box<[Node]>),
    Equal(usize, u32),
    AtLeast(usize, i64),
    OneOf(usize, Box<[u32]>),
}

/// The value of a slot.
#[derive(Clone, Copy)]
enum Slot {
    Absent,
    Symbol(u32),
    Number(i64),
}

impl Tree {
    /// Compiles policies of one resource.
    pub fn new(policies: &[SamplePolicy]) -> Self {
        let mut values = Symbols::default();
        let policies = in_order(policies).into_iter().map(|policy| {
            let (department, clearance, regions) = interned(policy, &mut values);
            let tests =
                [Node::Equal(0, department), Node::AtLeast(1, clearance), Node::OneOf(2, regions)];
            (Node::And(Box::new(tests)), policy.allow)
        });
        Self { policies: policies.collect(), values }
    }

    /// Returns whether `request` is allowed.
    pub fn allows(&self, request: &PlainRequest<'_>) -> bool {
        let values = Values::read(request, &self.values);
        let symbol = |value: Option<u32>| value.map_or(Slot::Absent, Slot::Symbol);
        let clearance = values.clearance.map_or(Slot::Absent, Slot::Number);
        let slots = [symbol(values.department), clearance, symbol(values.region)];
        let first = self.policies.iter().find(|(node, _)| node.holds(&slots));
        first.is_some_and(|(_, allow)| *allow)
    }
}

impl Node {
    fn holds(&self, slots: &[Slot; 3]) -> bool {
        match self {
            Self::And(children) => children.iter().all(|child| child.holds(slots)),
            Self::Equal(slot, own) => matches!(slots[*slot], Slot::Symbol(text) if text == *own),
            Self::AtLeast(slot, own) => {
                matches!(slots[*slot], Slot::Number(number) if number >= *own)
            }
            Self::OneOf(slot, own) => {
                matches!(slots[*slot], Slot::Symbol(text) if own.contains(&text))
            }
        }
    }
}
