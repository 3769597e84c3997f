//! Attributes and conditions over a small vocabulary, so that random conditions often hold.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// The subjects of requests.
pub const SUBJECTS: [&str; 6] = ["alice", "bob", "carol", "dave", "erin", "frank"];
const TEXTS: [&str; 6] = ["alice", "bob", "a", "ab", "b/c", "carol"];
/// Instants around 1970, and far from the present of any test.
const INSTANTS: [&str; 4] = [
    "1969-12-31T23:30:00Z",
    "1970-01-01T00:00:00Z",
    "1970-01-01T01:00:00.001Z",
    "2222-02-02T00:00:00Z",
];
const DURATIONS: [&str; 3] = ["PT1H", "P2D", "P36525D"];

/// Returns attributes of this kind, `user` or `resource`. Some are absent, and few have a type that does not go with the name.
pub fn attributes(random: &mut Rng, kind: &str) -> Value {
    let names: &[&str] = match kind {
        "user" => &["name", "level", "teams", "flag"],
        _ => &["owner", "level", "tags", "state", "flag", "since"],
    };
    let mut all = Map::new();
    for name in names {
        if random.u8(0..4) > 0 {
            all.insert((*name).to_owned(), value(random, name));
        }
    }
    all.into()
}

/// Generates a value, mostly of the type that goes with the name.
fn value(random: &mut Rng, name: &str) -> Value {
    let name = if random.u8(0..12) == 0 { "odd" } else { name };
    match name {
        "level" => random.i32(-1..5).into(),
        "flag" => random.bool().into(),
        "since" => INSTANTS[random.usize(0..INSTANTS.len())].into(),
        "teams" | "tags" => (0..random.usize(0..4)).map(|_| scalar(random)).collect(),
        "odd" if random.bool() => json!([text(random), 1]),
        "odd" => scalar(random),
        _ => text(random).into(),
    }
}

fn text(random: &mut Rng) -> &'static str {
    TEXTS[random.usize(0..TEXTS.len())]
}

fn scalar(random: &mut Rng) -> Value {
    if random.bool() { text(random).into() } else { random.i32(-1..5).into() }
}

/// Returns the tree of a condition of at most this depth. It reads attributes of resolvers only if `resolvers` is set.
pub fn condition(random: &mut Rng, depth: u8, resolvers: bool) -> Value {
    if depth > 0 && random.u8(0..5) < 3 {
        let mut child = || condition(random, depth - 1, resolvers);
        let children = [child(), child()];
        let [first, _] = &children;
        return match random.u8(0..7) {
            0 => json!({"type": "NOT", "child": first}),
            1..=4 => json!({"type": "AND", "children": children}),
            _ => json!({"type": "OR", "children": children}),
        };
    }
    test(random, resolvers)
}

fn path(random: &mut Rng, resolvers: bool) -> &'static str {
    const PATHS: [&str; 12] = [
        "resource.owner",
        "resource.owner",
        "resource.level",
        "resource.tags",
        "resource.state",
        "resource.flag",
        "resource.id",
        "user.name",
        "user.level",
        "user.teams",
        "request.subject",
        "user.flag",
    ];
    if resolvers && random.u8(0..6) == 0 {
        return ["geo.country", "geo.level", "hr.teams"][random.usize(0..3)];
    }
    PATHS[random.usize(0..PATHS.len())]
}

fn test(random: &mut Rng, resolvers: bool) -> Value {
    let attribute = if random.u8(0..12) == 0 { "request.roles" } else { path(random, resolvers) };
    let mut test = json!({"type": "CONDITION", "attribute": attribute});
    let (operator, value): (&str, Value) = match random.u8(0..12) {
        0..=3 => (["eq", "eq", "ne"][random.usize(0..3)], operand(random, resolvers)),
        4 => ("exists", Value::Null),
        5 | 6 => (["in", "not_in"][random.usize(0..2)], list(random, resolvers)),
        7 if random.bool() => ("contains", operand(random, resolvers)),
        7 => (["contains_any", "contains_all"][random.usize(0..2)], list(random, resolvers)),
        8 => ("starts_with", text(random).into()),
        9 => ("matches", "a.*".into()),
        10 if random.bool() => {
            test["attribute"] = "resource.since".into();
            let operator = ["within", "within_next"][random.usize(0..2)];
            (operator, DURATIONS[random.usize(0..DURATIONS.len())].into())
        }
        _ => (["lt", "lte", "gt", "gte"][random.usize(0..4)], operand(random, resolvers)),
    };
    test["operator"] = operator.into();
    if !value.is_null() {
        test["value"] = value;
        if random.u8(0..4) == 0 {
            test["if_missing"] = random.bool().into();
        }
    }
    test
}

/// Returns a list or an attribute.
fn list(random: &mut Rng, resolvers: bool) -> Value {
    if random.bool() {
        return json!({"attribute": path(random, resolvers)});
    }
    (0..random.usize(0..4)).map(|_| scalar(random)).collect()
}

fn operand(random: &mut Rng, resolvers: bool) -> Value {
    match random.u8(0..3) {
        0 => json!({"attribute": path(random, resolvers)}),
        _ => scalar(random),
    }
}
