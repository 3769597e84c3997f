//! Condition trees over the leaves of a world: the shapes that an index supports, and any others.

use serde_json::{Value, json};

use super::choices::Choices;
use super::leaves::Leaves;
use crate::support::conditions::Truth;

/// A condition tree whose leaves are the numbers of a world's leaves.
pub(crate) enum Tree {
    Leaf(usize),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Not(Box<Tree>),
}

use Tree::{And, Leaf, Not, Or};

impl Tree {
    /// Writes the tree as JSON.
    pub(crate) fn node(&self, leaves: &[Value]) -> Value {
        let nodes = |children: &[Self]| -> Value {
            children.iter().map(|child| child.node(leaves)).collect()
        };
        match self {
            Leaf(index) => leaves[*index].clone(),
            And(children) => json!({"type": "AND", "children": nodes(children)}),
            Or(children) => json!({"type": "OR", "children": nodes(children)}),
            Not(child) => json!({"type": "NOT", "child": child.node(leaves)}),
        }
    }

    /// Returns the truth of the tree if its leaves have these truths. In the order false, undetermined, true, AND is the
    /// minimum of its children and OR the maximum.
    pub(crate) fn truth(&self, leaves: &[Truth]) -> Truth {
        const ORDER: [Truth; 3] = [Truth::False, Truth::Undetermined, Truth::True];
        ORDER[usize::from(self.rank(leaves))]
    }

    fn rank(&self, leaves: &[Truth]) -> u8 {
        match self {
            Leaf(index) => match leaves[*index] {
                Truth::False => 0,
                Truth::Undetermined => 1,
                Truth::True => 2,
            },
            And(children) => children.iter().map(|child| child.rank(leaves)).min().unwrap_or(2),
            Or(children) => children.iter().map(|child| child.rank(leaves)).max().unwrap_or(0),
            Not(child) => 2 - child.rank(leaves),
        }
    }
}

/// Generates a tree of one of the shapes.
pub(crate) fn tree(choices: &mut impl Choices, leaves: &Leaves) -> Tree {
    match choices.below(8) {
        0 => any(choices, leaves, 1),
        1..=3 => selected(choices, leaves),
        4 => {
            let intervals = (0..=choices.below(3)).map(|_| interval(choices, leaves)).collect();
            if choices.chance(70) { And(intervals) } else { Or(intervals) }
        }
        5 => negated(choices, leaves, 3),
        6 => Or((0..=choices.below(4)).map(|_| selected(choices, leaves)).collect()),
        _ => {
            let depth = choices.below(6) + 1;
            any(choices, leaves, depth)
        }
    }
}

/// Generates an AND of a key and further conditions, in any order.
fn selected(choices: &mut impl Choices, leaves: &Leaves) -> Tree {
    let mut children = vec![key(choices, leaves)];
    for _ in 0..choices.below(4) {
        let child = match choices.below(4) {
            0 => interval(choices, leaves),
            1 => negated(choices, leaves, 1),
            _ => any(choices, leaves, 2),
        };
        let place = choices.below(children.len() + 1);
        children.insert(place, child);
    }
    And(children)
}

fn key(choices: &mut impl Choices, leaves: &Leaves) -> Tree {
    if leaves.keys.is_empty() { any(choices, leaves, 1) } else { Leaf(choices.pick(&leaves.keys)) }
}

/// Generates both sides of an interval: as AND, or as the negation of being outside.
fn interval(choices: &mut impl Choices, leaves: &Leaves) -> Tree {
    if leaves.intervals.is_empty() {
        return any(choices, leaves, 1);
    }
    let sides = choices.pick(&leaves.intervals).map(Leaf);
    match choices.below(4) {
        0 => Not(Box::new(Or(sides.into_iter().map(|side| Not(Box::new(side))).collect()))),
        1 => Not(Box::new(And(sides.into()))),
        _ => And(sides.into()),
    }
}

/// Generates NOT over AND and OR in turns, so that De Morgan's laws swap each level.
fn negated(choices: &mut impl Choices, leaves: &Leaves, depth: usize) -> Tree {
    let mut children = Vec::new();
    for _ in 0..=choices.below(3) {
        children.push(match choices.below(if depth > 0 { 5 } else { 3 }) {
            0 => interval(choices, leaves),
            1 => key(choices, leaves),
            2 => any(choices, leaves, 1),
            _ => negated(choices, leaves, depth - 1),
        });
    }
    Not(Box::new(if choices.chance(50) { And(children) } else { Or(children) }))
}

/// Generates any tree of at most this depth.
fn any(choices: &mut impl Choices, leaves: &Leaves, depth: usize) -> Tree {
    let kind = if depth > 1 { choices.below(5) } else { 0 };
    if kind == 0 {
        return Leaf(choices.below(leaves.nodes.len()));
    }
    if kind == 1 {
        return Not(Box::new(any(choices, leaves, depth - 1)));
    }
    let children = (0..=choices.below(4)).map(|_| any(choices, leaves, depth - 1)).collect();
    if kind == 2 { Or(children) } else { And(children) }
}
