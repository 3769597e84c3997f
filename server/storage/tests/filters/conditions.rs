//! Random conditions over the attributes of rows and of requests.

use fastrand::Rng;
use portcullis_engine::operator::{self, ComparedKind, Operator, Takes};
use serde_json::{Value, json};

use super::condition;
use super::rows::{ATTRIBUTES, DATES, DOUBLES, INSTANTS, INTEGERS, MIXED, PRESENCES, TEXTS, UUIDS};

const KNOWN: [&str; 15] = [
    "user.dept",
    "user.level",
    "user.tags",
    "user.flag",
    "user.nobody",
    "user.since",
    "user.team",
    "user.day",
    "user.levels",
    "user.teams",
    "user.days",
    "resource.given",
    "request.subject",
    "request.roles",
    "request.action",
];

/// The item of a list, with the type of the items behind it.
const ITEM: &str = "item of ";

/// Returns the attributes of the user with their possible values.
pub(crate) fn known_attributes() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("dept", texts()),
        ("level", numbers()),
        ("tags", lists()),
        ("flag", vec![json!(true), json!(false)]),
        ("since", values(&INSTANTS)),
        ("team", values(&UUIDS)),
        ("day", values(&DATES)),
        ("levels", lists()),
        ("teams", vec![json!([UUIDS[0], UUIDS[1], UUIDS[5]]), json!([UUIDS[3]]), json!([])]),
        ("days", vec![json!([DATES[0], DATES[1]]), json!([DATES[4], "a"]), json!([])]),
        ("roles", vec![json!(["ann", "a%"]), json!([]), json!("a_b")]),
    ]
}

/// Returns the tree of a condition.
pub(crate) fn random(rng: &mut Rng) -> Value {
    accepted(rng, |rng| node(rng, 0))
}

fn node(rng: &mut Rng, depth: u32) -> Value {
    let kind = if depth > 3 { 9 } else { rng.u8(..10) };
    match kind {
        0..=1 => json!({"type": "AND", "children": children(rng, depth)}),
        2..=3 => json!({"type": "OR", "children": children(rng, depth)}),
        4 => json!({"type": "NOT", "child": node(rng, depth + 1)}),
        5 => list_test(rng),
        _ => test(rng),
    }
}

fn children(rng: &mut Rng, depth: u32) -> Vec<Value> {
    (0..rng.usize(1..4)).map(|_| node(rng, depth + 1)).collect()
}

fn test(rng: &mut Rng) -> Value {
    accepted(rng, |rng| {
        let attribute = path(rng);
        test_of(rng, &attribute)
    })
}

/// Returns a node that the service accepts: some operators refuse some literals.
fn accepted(rng: &mut Rng, draw: impl Fn(&mut Rng) -> Value) -> Value {
    loop {
        let node = draw(rng);
        if condition(&node).is_some() {
            return node;
        }
    }
}

/// Returns a condition on the items of a list, or on their number.
fn list_test(rng: &mut Rng) -> Value {
    accepted(rng, |rng| {
        let attribute = match rng.u8(..8) {
            0..=4 => {
                let lists: Vec<_> = ATTRIBUTES.iter().filter(|one| one.is_list()).collect();
                format!("resource.{}", lists[rng.usize(..lists.len())].name)
            }
            // Sometimes another type, which is undetermined.
            5 => path(rng),
            _ => {
                let lists: Vec<_> = KNOWN.iter().filter(|path| kind(path).1).collect();
                (*lists[rng.usize(..lists.len())]).to_owned()
            }
        };
        let mut node = match rng.u8(..3) {
            0 => {
                let operators = ["eq", "ne", "lt", "lte", "gt", "gte"];
                let value = match rng.u8(..4) {
                    0 => json!({"attribute": path(rng)}),
                    1 => json!(1.5),
                    _ => json!(rng.u8(..4)),
                };
                json!({"type": "LENGTH", "operator": operators[rng.usize(..6)], "value": value})
            }
            _ => {
                let child = item_node(rng, kind(&attribute).0, 0);
                json!({"type": if rng.bool() { "ANY" } else { "ALL" }, "child": child})
            }
        };
        node["attribute"] = json!(attribute);
        if rng.u8(..4) == 0 {
            node["if_missing"] = json!(rng.bool());
        }
        node
    })
}

/// Returns a condition on an item of this type.
fn item_node(rng: &mut Rng, item: &str, depth: u32) -> Value {
    let kind = if depth > 1 { 9 } else { rng.u8(..10) };
    if kind == 0 {
        return json!({"type": "NOT", "child": item_node(rng, item, depth + 1)});
    }
    if kind <= 4 {
        let beside = if rng.bool() { item_node(rng, item, depth + 1) } else { test(rng) };
        let children = [item_node(rng, item, depth + 1), beside];
        return json!({"type": if kind <= 2 { "AND" } else { "OR" }, "children": children});
    }
    test_of_item(rng, item)
}

/// Returns a test of an item of this type, or of another attribute beside it.
fn test_of_item(rng: &mut Rng, item: &str) -> Value {
    if rng.u8(..6) == 0 {
        let attribute = path(rng);
        let operator = operator(rng, &attribute);
        if operator.parse::<Operator>().is_ok() {
            return json!({"type": "CONDITION", "attribute": attribute, "operator": operator,
                "value": {"attribute": "item"}});
        }
    }
    loop {
        let mut test = test_of(rng, &format!("{ITEM}{item}"));
        let members = test.as_object_mut().expect("an object");
        // An item is never absent.
        members.remove("if_missing");
        members.insert("attribute".to_owned(), json!("item"));
        if test["operator"] != "exists" {
            return test;
        }
    }
}

/// Returns the type of an attribute, or of its items, and whether it is a list.
fn kind(attribute: &str) -> (&'static str, bool) {
    if let Some(item) = attribute.strip_prefix(ITEM) {
        let kinds = ["text", "integer", "number", "uuid", "date", "boolean", "timestamptz"];
        return (kinds.iter().find(|kind| **kind == item).unwrap_or(&"text"), false);
    }
    let name = attribute.strip_prefix("resource.").unwrap_or(attribute);
    match ATTRIBUTES.iter().find(|attribute| attribute.name == name) {
        Some(attribute) => (attribute.kind.trim_end_matches("[]"), attribute.is_list()),
        None if PRESENCES.iter().any(|(presence, ..)| *presence == name) => ("boolean", false),
        None => match attribute {
            "user.flag" => ("boolean", false),
            "user.tags" | "request.roles" => ("text", true),
            "user.level" => ("number", false),
            "user.since" => ("timestamptz", false),
            "user.team" => ("uuid", false),
            "user.day" => ("date", false),
            "user.levels" => ("number", true),
            "user.teams" => ("uuid", true),
            "user.days" => ("date", true),
            _ => ("text", false),
        },
    }
}

/// Returns an operator, mostly one that compares the type of the attribute.
fn operator(rng: &mut Rng, attribute: &str) -> &'static str {
    let (kind, is_list) = kind(attribute);
    let compared = match kind {
        _ if is_list => ComparedKind::List,
        "boolean" => ComparedKind::Bool,
        "integer" | "number" => ComparedKind::Number,
        _ => ComparedKind::Text,
    };
    let fits = |name: &&str| {
        let row = name.parse().map(Operator::row);
        row.is_ok_and(|row| {
            let compares = row.compares.iter().any(|(left, _)| *left == compared);
            compares
                && (kind == "timestamptz")
                    == (matches!(row.takes, Takes::Instant | Takes::Duration))
        })
    };
    let fitting: Vec<&'static str> = operator::names().filter(fits).collect();
    let pool = if rng.u8(..6) > 0 { fitting } else { operator::names().collect() };
    pool[rng.usize(..pool.len())]
}

fn test_of(rng: &mut Rng, attribute: &str) -> Value {
    let operator = operator(rng, attribute);
    let mut test = json!({"type": "CONDITION", "attribute": attribute, "operator": operator});
    if operator != "exists" {
        test["value"] = match rng.u8(..5) {
            0 if operator.parse::<Operator>().is_ok() => {
                json!({"attribute": other(rng, operator)})
            }
            _ => value(rng, operator, attribute),
        };
        if rng.u8(..5) == 0 {
            test["if_missing"] = json!(rng.bool());
        }
    }
    test
}

/// Returns the attribute of a right side, mostly a list if the operator takes one.
fn other(rng: &mut Rng, name: &str) -> String {
    let takes_list =
        name.parse().is_ok_and(|operator: Operator| operator.row().takes == Takes::List);
    let paths: Vec<String> = (0..4).map(|_| path(rng)).collect();
    paths.iter().find(|path| kind(path).1 == takes_list).unwrap_or(&paths[0]).clone()
}

fn path(rng: &mut Rng) -> String {
    match rng.u8(..12) {
        0..=2 => KNOWN[rng.usize(..KNOWN.len())].to_owned(),
        3 => format!("resource.{}", PRESENCES[rng.usize(..PRESENCES.len())].0),
        _ => {
            let name = ATTRIBUTES[rng.usize(..ATTRIBUTES.len())].name;
            format!("resource.{}", if name == MIXED { "tags" } else { name })
        }
    }
}

/// Returns a literal, mostly of the type of the attribute.
fn value(rng: &mut Rng, operator: &str, attribute: &str) -> Value {
    let pool = match operator {
        "in" | "not_in" | "contains_any" | "contains_all" => lists(),
        "within" | "within_next" => {
            ["PT1S", "P1D", "P30D", "P36525D"].map(|text| json!(text)).to_vec()
        }
        "matches" => vec![json!("a.*"), json!("[A-Z]+")],
        "ip_in" => vec![json!("10.0.0.0/8"), json!([])],
        "during" => vec![json!({"zone": "Europe/Berlin"})],
        "before" | "after" => values(&INSTANTS),
        _ if rng.u8(..8) == 0 => [texts(), numbers(), vec![json!(true)]].concat(),
        "starts_with" | "ends_with" | "contains"
            if matches!(kind(attribute), ("uuid" | "date", false)) =>
        {
            ["", "0190", "01", "2026-", "-", "ff", "FF"].map(|text| json!(text)).to_vec()
        }
        _ => match kind(attribute).0 {
            "integer" | "number" => numbers(),
            "boolean" => vec![json!(true), json!(false)],
            "uuid" => values(&UUIDS),
            "date" => values(&DATES),
            _ => texts(),
        },
    };
    pool[rng.usize(..pool.len())].clone()
}

fn values(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!(text)).collect()
}

fn texts() -> Vec<Value> {
    values(&TEXTS)
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
        json!([UUIDS[0], UUIDS[3], UUIDS[5], "a"]),
        json!([DATES[0], DATES[3], DATES[5], DATES[7]]),
    ]
}
