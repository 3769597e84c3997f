//! Random conditions over the attributes of rows and of requests.

use fastrand::Rng;
use portcullis_engine::Condition;
use portcullis_engine::operator::{self, ComparedKind, Operator, Takes};
use serde_json::{Value, json};

use super::condition;
use super::rows::{DOUBLES, INSTANTS, INTEGERS, TEXTS};

/// Attributes of rows that both databases have.
const OF_ROWS: [&str; 10] = [
    "resource.name",
    "resource.name",
    "resource.code",
    "resource.owner",
    "resource.owner",
    "resource.prefix",
    "resource.level",
    "resource.rank",
    "resource.score",
    "resource.flag",
];
/// Attributes of rows that only PostgreSQL has.
const OF_POSTGRES: [&str; 4] =
    ["resource.until", "resource.tags", "resource.numbers", "resource.scores"];
const KNOWN: [&str; 10] = [
    "user.dept",
    "user.level",
    "user.tags",
    "user.flag",
    "user.nobody",
    "user.since",
    "resource.given",
    "request.subject",
    "request.roles",
    "request.action",
];

/// Returns the attributes of the user with their possible values.
pub(crate) fn known_attributes() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("dept", texts()),
        ("level", numbers()),
        ("tags", lists()),
        ("flag", vec![json!(true), json!(false)]),
        ("since", INSTANTS.iter().map(|text| json!(text)).collect()),
        ("roles", vec![json!(["ann", "a%"]), json!([]), json!("a_b")]),
    ]
}

pub(crate) fn random(rng: &mut Rng, with_arrays: bool) -> Condition {
    loop {
        let tree = node(rng, with_arrays, 0);
        // Some operators refuse some literals.
        if let Some(condition) = condition(&tree) {
            return condition;
        }
    }
}

fn node(rng: &mut Rng, with_arrays: bool, depth: u32) -> Value {
    let kind = if depth > 3 { 9 } else { rng.u8(..10) };
    match kind {
        0..=1 => json!({"type": "AND", "children": children(rng, with_arrays, depth)}),
        2..=3 => json!({"type": "OR", "children": children(rng, with_arrays, depth)}),
        4 => json!({"type": "NOT", "child": node(rng, with_arrays, depth + 1)}),
        _ => test(rng, with_arrays),
    }
}

fn children(rng: &mut Rng, with_arrays: bool, depth: u32) -> Vec<Value> {
    (0..rng.usize(1..4)).map(|_| node(rng, with_arrays, depth + 1)).collect()
}

fn test(rng: &mut Rng, with_arrays: bool) -> Value {
    loop {
        let test = any_test(rng, with_arrays);
        if condition(&test).is_some() {
            return test;
        }
    }
}

/// Returns an operator, mostly one that compares the type of the attribute.
fn operator(rng: &mut Rng, attribute: &str) -> &'static str {
    let is_time = matches!(attribute, "resource.until" | "user.since");
    let kind = match attribute {
        "resource.flag" | "user.flag" => ComparedKind::Bool,
        "resource.tags" | "resource.numbers" | "resource.scores" | "user.tags"
        | "request.roles" => ComparedKind::List,
        "resource.level" | "resource.rank" | "resource.score" | "user.level" => {
            ComparedKind::Number
        }
        _ => ComparedKind::Text,
    };
    let fits = |name: &&str| {
        let row = name.parse().map(Operator::row);
        row.is_ok_and(|row| {
            let compares = row.compares.iter().any(|(left, _)| *left == kind);
            compares && is_time == (row.takes == Takes::Instant)
        })
    };
    let fitting: Vec<&'static str> = operator::names().filter(fits).collect();
    let pool = if rng.u8(..6) > 0 { fitting } else { operator::names().collect() };
    pool[rng.usize(..pool.len())]
}

fn any_test(rng: &mut Rng, with_arrays: bool) -> Value {
    let attribute = path(rng, with_arrays);
    let operator = operator(rng, attribute);
    let mut test = json!({"type": "CONDITION", "attribute": attribute, "operator": operator});
    if operator != "exists" {
        test["value"] = match rng.u8(..5) {
            0 if operator.parse::<Operator>().is_ok() => {
                json!({"attribute": path(rng, with_arrays)})
            }
            _ => value(rng, operator, attribute),
        };
        if rng.u8(..5) == 0 {
            test["if_missing"] = json!(rng.bool());
        }
    }
    test
}

fn path(rng: &mut Rng, with_arrays: bool) -> &'static str {
    match rng.u8(..8) {
        0..=1 => KNOWN[rng.usize(..KNOWN.len())],
        2..=3 if with_arrays => OF_POSTGRES[rng.usize(..OF_POSTGRES.len())],
        _ => OF_ROWS[rng.usize(..OF_ROWS.len())],
    }
}

/// Returns a literal, mostly of the type of the attribute.
fn value(rng: &mut Rng, operator: &str, attribute: &str) -> Value {
    let pool = match operator {
        "in" | "not_in" => lists(),
        "matches" => vec![json!("a.*"), json!("[A-Z]+")],
        "ip_in" => vec![json!("10.0.0.0/8"), json!([])],
        "during" => vec![json!({"zone": "Europe/Berlin"})],
        "before" | "after" => INSTANTS.iter().map(|text| json!(text)).collect(),
        _ if rng.u8(..8) == 0 => [texts(), numbers(), vec![json!(true)]].concat(),
        _ => match attribute {
            "resource.level" | "resource.rank" | "resource.score" | "resource.numbers"
            | "resource.scores" | "user.level" => numbers(),
            "resource.flag" | "user.flag" => vec![json!(true), json!(false)],
            _ => texts(),
        },
    };
    pool[rng.usize(..pool.len())].clone()
}

fn texts() -> Vec<Value> {
    TEXTS.iter().map(|text| json!(text)).collect()
}

fn numbers() -> Vec<Value> {
    let integers = INTEGERS.iter().map(|number| json!(number));
    let doubles = DOUBLES.iter().map(|number| json!(number));
    let beyond = [json!(u64::MAX), json!(1_u64 << 63), json!(-9_223_372_036_854_777_856.0)];
    integers.chain(doubles).chain(beyond).collect()
}

fn lists() -> Vec<Value> {
    vec![
        json!([]),
        json!(["a", "ann", "%", 1]),
        json!(["A", "a_b", "50%", ""]),
        json!([0, 1.5, 2, 9_007_199_254_740_993_u64, 1e300]),
        json!([u64::MAX, 1]),
        json!(["ä", "ANN", -1, "O'Brien"]),
    ]
}
