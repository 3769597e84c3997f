//! The leaves of a world's condition trees.

use portcullis_engine::operator::Operator;
use serde_json::{Value, json};

use super::choices::Choices;
use super::values::{Values, near, network};
use crate::support::pools::{DURATIONS, Group, OPERATORS, OTHER_PATHS, PATTERNS, windows};

/// The attributes by which policies select: many leaves of a world share them.
const KEYS: [(&str, Group); 7] = [
    ("user.dept", Group::Text),
    ("resource.owner", Group::Text),
    ("request.subject", Group::Text),
    ("user.level", Group::Number),
    ("token.level", Group::Number),
    ("user.tags", Group::List),
    ("user.since", Group::Date),
];

/// A pool of `CONDITION` nodes that the policies of a world share.
pub(crate) struct Leaves {
    pub(crate) nodes: Vec<Value>,
    /// The leaves that select by a key alone.
    pub(crate) keys: Vec<usize>,
    /// The leaves of both sides of each interval.
    pub(crate) intervals: Vec<[usize; 2]>,
}

impl Leaves {
    /// Generates up to about `size` leaves.
    pub(crate) fn new(choices: &mut impl Choices, values: &Values, size: usize) -> Self {
        let size = choices.below(size) + 8;
        let mut leaves = Self { nodes: Vec::new(), keys: Vec::new(), intervals: Vec::new() };
        let (path, group) = choices.pick(&KEYS);
        while leaves.nodes.len() < size {
            match choices.below(8) {
                0..=1 => {
                    let node = key(choices, values, path, group);
                    let index = leaves.add(node);
                    leaves.keys.push(index);
                }
                2..=3 => {
                    let [low, high] = interval(choices, values);
                    let sides = [leaves.add(low), leaves.add(high)];
                    leaves.intervals.push(sides);
                }
                4 => {
                    let node = of_items(choices, values);
                    leaves.add(node);
                }
                _ => {
                    let node = condition(choices, values);
                    leaves.add(node);
                }
            }
        }
        leaves
    }

    fn add(&mut self, node: Value) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }
}

/// Generates a leaf that holds for few values of one attribute.
fn key(choices: &mut impl Choices, values: &Values, path: &str, group: Group) -> Value {
    if group == Group::List && choices.chance(40) {
        return of_items(choices, values);
    }
    let operator = match (group, choices.below(8)) {
        (Group::List, 0..=2) => "contains_any",
        (Group::List, 3) => "contains_all",
        (Group::List, _) => "contains",
        (Group::Date, 0..=5) => "within",
        (Group::Date, _) => "within_next",
        (_, 0..=4) => "eq",
        (_, 5) => "in",
        (Group::Text, 6) => "starts_with",
        _ => "ne",
    };
    let operand = literal(choices, values, operator, group);
    node(choices, path, operator, operand)
}

/// Generates a leaf that holds for an item of a list, of those by which an index selects and of others.
fn of_items(choices: &mut impl Choices, values: &Values) -> Value {
    let tests = (0..=choices.below(2)).map(|_| {
        let (operator, group) = match choices.below(8) {
            0..=2 => ("eq", Group::List),
            3..=4 => ("starts_with", Group::Text),
            5 => ("in", Group::List),
            6 => ("ne", Group::List),
            _ => ("gt", Group::Number),
        };
        let value = literal(choices, values, operator, group);
        json!({"type": "CONDITION", "attribute": "item", "operator": operator, "value": value})
    });
    let tests: Vec<Value> = tests.collect();
    let child = match &tests[..] {
        [test] => test.clone(),
        tests => json!({"type": if choices.chance(50) { "AND" } else { "OR" }, "children": tests}),
    };
    let quantifier = if choices.chance(80) { "ANY" } else { "ALL" };
    let path = choices.pick(Group::List.paths());
    let mut node = json!({"type": quantifier, "attribute": path, "child": child});
    if choices.chance(30) {
        node["if_missing"] = choices.chance(50).into();
    }
    node
}

/// Generates two sides of an interval, which may touch others, contain one value, or be empty.
fn interval(choices: &mut impl Choices, values: &Values) -> [Value; 2] {
    let (group, sides) = match choices.below(8) {
        0 => (Group::Date, [["after"; 2], ["before"; 2]]),
        1..=2 => (Group::Text, [["gt", "gte"], ["lt", "lte"]]),
        _ => (Group::Number, [["gt", "gte"], ["lt", "lte"]]),
    };
    let path = choices.pick(group.paths());
    let bound = |choices: &mut _, operator| literal(choices, values, operator, group);
    let low = bound(choices, sides[0][0]);
    let high = match choices.below(6) {
        0 => low.clone(),
        1 if group != Group::Date => near(choices, &low),
        _ => bound(choices, sides[1][0]),
    };
    let [from, to] = sides.map(|operators| choices.pick(&operators));
    [node(choices, path, from, low), node(choices, path, to, high)]
}

/// Generates any leaf, mostly on an attribute of a type that its operator compares.
fn condition(choices: &mut impl Choices, values: &Values) -> Value {
    let (operator, groups) = choices.pick(&OPERATORS);
    let group = choices.pick(&groups);
    let path = path(choices, group);
    let compares_attributes =
        operator.parse::<Operator>().is_ok_and(|operator| operator.row().takes.accepts_attribute());
    let operand = if compares_attributes && choices.chance(12) {
        json!({"attribute": self::path(choices, group)})
    } else {
        literal(choices, values, operator, group)
    };
    node(choices, path, operator, operand)
}

fn path(choices: &mut impl Choices, group: Group) -> &'static str {
    match choices.below(20) {
        0 => choices.pick(&OTHER_PATHS),
        1 => {
            let other = choices.pick(&Group::ALL);
            choices.pick(other.paths())
        }
        _ => choices.pick(group.paths()),
    }
}

/// Generates a literal that `operator` accepts, mostly one that values of `group` can equal.
fn literal(choices: &mut impl Choices, values: &Values, operator: &str, group: Group) -> Value {
    match operator {
        "exists" => Value::Null,
        "matches" => json!(choices.pick(&PATTERNS).0),
        "ip_in" if choices.chance(50) => json!(network(choices)),
        "ip_in" => (0..choices.below(5)).map(|_| network(choices)).collect(),
        "before" | "after" => values.instant(choices),
        "during" => choices.pick(&windows()),
        "within" | "within_next" => json!(choices.pick(&DURATIONS)),
        "starts_with" | "ends_with" => part(choices, values, operator),
        "contains" if group == Group::Text => part(choices, values, operator),
        "in" | "not_in" | "contains_any" | "contains_all" => {
            let longest = if choices.chance(10) { 60 } else { 5 };
            (0..choices.below(longest)).map(|_| scalar(choices, values, group, false)).collect()
        }
        "lt" | "lte" | "gt" | "gte" => scalar(choices, values, group, false),
        _ => scalar(choices, values, group, true),
    }
}

/// Returns a text, or a prefix, suffix or part of it, which may be empty.
fn part(choices: &mut impl Choices, values: &Values, operator: &str) -> Value {
    let text = values.text(choices);
    let characters = text.chars().count();
    let length = if choices.chance(50) { characters } else { choices.below(characters + 1) };
    let from = match operator {
        "starts_with" => 0,
        "ends_with" => characters - length,
        _ => choices.below(characters - length + 1),
    };
    text.chars().skip(from).take(length).collect::<String>().into()
}

/// Generates a text or a number, or a boolean if `bools`: a value of the group, an item if the group has lists, and
/// sometimes a value of another type.
fn scalar(choices: &mut impl Choices, values: &Values, group: Group, bools: bool) -> Value {
    let group = match choices.below(12) {
        0 => Group::Text,
        1 => Group::Number,
        _ => group,
    };
    match values.of(choices, group) {
        Value::Bool(_) if !bools => json!(1),
        Value::Array(items) if items.is_empty() => json!("admin"),
        Value::Array(items) => choices.pick(&items),
        scalar => scalar,
    }
}

fn node(choices: &mut impl Choices, path: &str, operator: &str, operand: Value) -> Value {
    let mut node = json!({"type": "CONDITION", "attribute": path, "operator": operator});
    // `exists` itself decides for an absent attribute.
    if operator != "exists" {
        node["value"] = operand;
        if choices.chance(30) {
            node["if_missing"] = choices.chance(50).into();
        }
    }
    node
}
