//! The written forms of a condition: tree and expression. Each is read into the condition that it was written from.

mod every_form;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use portcullis_engine::{Condition, expression, json, operator};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::effort::run;
use crate::scenarios::scenario;
use crate::support::route::engine_condition;
use every_form::verify;

/// The number of cases of each property.
const CASES: u32 = 3_000;
/// Every tree of a scenario has an expression and a tree that are read into the same condition.
#[test]
fn expressions_are_one_to_one_with_trees() {
    let printed = RefCell::new(BTreeSet::<usize>::new());
    run(CASES, &scenario(1), |scenario| {
        for policy in &scenario.policies {
            let Some(tree) = &policy.tree else { continue };
            let condition = engine_condition(tree);
            verify(&condition);
            printed.borrow_mut().insert(expression::print(&condition).len());
        }
        Ok(())
    });
    let lengths = printed.into_inner();
    assert!(lengths.len() >= 500, "only {} lengths of texts", lengths.len());
}

/// Names of any characters: words, words of the grammar, and anything else.
fn path() -> impl Strategy<Value = String> {
    let kinds = select(
        &[
            "user", "resource", "action", "context", "token", "geo", "in", "true", "false", "not",
            "all",
        ][..],
    );
    let words =
        select(&["in", "true", "not_in", "exists", "a.b", "a..b", "2fa", "größe", "a-b"][..]);
    let names = prop_oneof![
        words.prop_map(str::to_owned),
        "[a-z_.0-9]{1,8}",
        "[^\\x00]{1,12}",
        any::<String>()
            .prop_filter("a name has no U+0000", |it| !it.is_empty() && !it.contains('\0')),
    ];
    (kinds, names).prop_map(|(kind, name)| format!("{kind}.{name}"))
}

fn text() -> impl Strategy<Value = Value> {
    any::<String>()
        .prop_filter("JSON is without U+0000", |it| !it.contains('\0'))
        .prop_map(Value::from)
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<f64>().prop_filter("JSON has no other", |it| it.is_finite()).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
    ]
}

/// Any literal that the operator takes, or an attribute.
fn operand(operator: &'static str) -> BoxedStrategy<Value> {
    let attribute = path().prop_map(|path| json!({"attribute": path}));
    let scalar = prop_oneof![text(), number(), any::<bool>().prop_map(Value::from)];
    let list = prop::collection::vec(prop_oneof![text(), number()], 0..6).prop_map(Value::from);
    const DATES: &[&str] = &[
        "0000-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59.999999999-23:59",
        "2016-12-31T23:59:60Z",
    ];
    const NETWORKS: &[&str] =
        &["10.0.0.0/8", "10.20.0.0/16", "::ffff:10.0.0.1", "2001:db8::/32", "::/0"];
    match operator {
        "exists" => Just(Value::Null).boxed(),
        "matches" => select(&["", "a|b", "(?x) a # b", "\\\\\"'\n", "(?i)\\pL{2}"][..])
            .prop_map(Value::from)
            .boxed(),
        "ip_in" => prop::collection::vec(select(NETWORKS), 0..4).prop_map(Value::from).boxed(),
        "during" => select(&["mon", "sat"][..])
            .prop_map(|day| json!({"days": [day, "sun"], "from": "22:00", "to": "06:30", "zone": "Europe/Berlin"}))
            .boxed(),
        "before" | "after" => {
            prop_oneof![select(DATES).prop_map(Value::from), attribute].boxed()
        }
        "within" | "within_next" => select(&["P1D", "PT15M", "P30DT1H1S"][..]).prop_map(Value::from).boxed(),
        "in" | "not_in" | "contains_any" | "contains_all" => prop_oneof![3 => list, 1 => attribute].boxed(),
        "starts_with" | "ends_with" => prop_oneof![text(), attribute].boxed(),
        "lt" | "lte" | "gt" | "gte" => prop_oneof![text(), number(), attribute].boxed(),
        _ => prop_oneof![3 => scalar, 1 => attribute].boxed(),
    }
}

/// A `CONDITION` node of any operator, name and literal.
fn leaf() -> impl Strategy<Value = Value> {
    select(operator::names().collect::<Vec<_>>()).prop_flat_map(|operator| {
        (path(), operand(operator), any::<Option<bool>>()).prop_map(
            move |(path, value, missing)| {
                let mut node =
                    json!({"type": "CONDITION", "attribute": path, "operator": operator});
                if operator != "exists" {
                    node["value"] = value;
                    if let Some(truth) = missing {
                        node["if_missing"] = truth.into();
                    }
                }
                node
            },
        )
    })
}

/// Any tree, up to the greatest depth.
fn tree() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(30, 60, 4, |child| {
        prop_oneof![
            child.clone().prop_map(|child| json!({"type": "NOT", "child": child})),
            (select(&["AND", "OR"][..]), prop::collection::vec(child, 1..4))
                .prop_map(|(kind, children)| json!({"type": kind, "children": children})),
        ]
    })
}

/// Names, texts and numbers of any kind, and nodes of any shape, survive in every form.
#[test]
fn every_operator_name_and_literal_survives() {
    let seen = RefCell::new(BTreeMap::<String, u32>::new());
    run(CASES, &tree(), |tree| {
        // Numbers beyond a double are no JSON here.
        let text = tree.to_string();
        let Ok(json) = json::parse(text.as_bytes()) else { return Ok(()) };
        let condition = Condition::parse(&json).expect("a tree");
        verify(&condition);
        for operator in operator::names() {
            if text.contains(&format!("\"operator\":\"{operator}\"")) {
                *seen.borrow_mut().entry(operator.to_owned()).or_default() += 1;
            }
        }
        Ok(())
    });
    let seen = seen.into_inner();
    assert!(
        seen.len() == operator::names().count() && seen.values().all(|count| *count > 100),
        "{seen:?}"
    );
}

/// The largest trees survive: the deepest, the one of the most nodes, the longest list.
#[test]
fn the_largest_trees_survive() {
    let leaf = json!({"type": "CONDITION", "attribute": "user.a b", "operator": "eq", "value": 1, "if_missing": true});
    let deepest = |kind: &str| {
        (1..32).fold(leaf.clone(), |child, level| match level % 2 {
            0 => json!({"type": "NOT", "child": child}),
            _ => json!({"type": kind, "children": [child]}),
        })
    };
    let widest = json!({"type": "OR", "children": vec![leaf.clone(); 999]});
    let items: Vec<u32> = (0..10_000).collect();
    let longest =
        json!({"type": "CONDITION", "attribute": "user.a", "operator": "in", "value": items});
    for tree in [deepest("AND"), deepest("OR"), widest, longest] {
        verify(&engine_condition(&tree));
    }
}

/// The seed of the fuzz target `expression`.
const SEEDS: &str = include_str!("../../fuzz/seeds/expression/all.txt");
/// The words of its dictionary, in quotes.
const WORDS: &str = include_str!("../../fuzz/expression.dict");
/// The number of changed texts of the seeds.
const CHANGED: u32 = 20_000;

/// Does with changes of the seed what the fuzz target does: parts in another order, with words put in and characters
/// left out. Nothing panics, and each form of what is accepted is read into the same condition.
#[test]
fn changes_of_the_fuzzed_seed_survive() {
    let parts: Vec<&str> = SEEDS.split(" && ").map(str::trim).collect();
    let words: Vec<String> = (WORDS.lines())
        .filter_map(|line| Some(line.strip_prefix('"')?.strip_suffix('"')?.replace("\\\"", "\"")))
        .collect();
    assert!(parts.len() >= 8 && words.len() >= 10, "{parts:?}, {words:?}");
    let (mut random, mut accepted, mut refused) = (fastrand::Rng::with_seed(7), 0_u32, 0_u32);
    verify(&expression::parse(SEEDS).expect("the seed"));
    for _ in 0..CHANGED {
        let mut text = String::new();
        for index in 0..random.usize(1..4) {
            let joint = [" && ", "\n|| "][random.usize(..2)];
            text.push_str(if index == 0 { "" } else { joint });
            text.push_str(parts[random.usize(..parts.len())]);
        }
        for _ in 0..random.usize(..3) {
            let mut at = random.usize(..=text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            match random.bool() {
                true => text.insert_str(at, &words[random.usize(..words.len())]),
                false => drop(text[at..].chars().next().map(|_| text.remove(at))),
            }
        }
        match expression::parse(&text) {
            Ok(condition) => {
                verify(&condition);
                accepted += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(accepted >= 2_000 && refused >= 2_000, "{accepted} accepted, {refused} refused");
}
