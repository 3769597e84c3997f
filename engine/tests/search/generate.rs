//! Random plans and attributes over a small vocabulary, so that conditions often hold.

use fastrand::Rng;
use portcullis_engine::{
    Condition, Effect, Plan, Policy, ResourcePattern, Rule, RuleTuple, expression, json,
};
use serde_json::{Map, Value, json as tree};
use uuid::Uuid;

pub(super) const RESOURCE: &str = "record:read";
const SUBJECTS: [&str; 6] = ["alice", "bob", "carol", "dave", "erin", "frank"];
const TEXTS: [&str; 6] = ["alice", "bob", "a", "ab", "b/c", "carol"];

pub(super) fn subject(number: usize) -> String {
    SUBJECTS[number].to_owned()
}

/// Generates attributes of a kind.
pub(super) fn attributes(random: &mut Rng, kind: &str) -> Value {
    let names: &[&str] = match kind {
        "user" => &["name", "level", "teams", "flag"],
        _ => &["owner", "level", "tags", "state", "flag"],
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
        "teams" | "tags" => (0..random.usize(0..4)).map(|_| scalar(random)).collect(),
        "odd" if random.bool() => tree!([text(random), 1]),
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

/// Generates a plan with policies and rules, some of which read resolvers, and their text.
pub(super) fn plan(random: &mut Rng) -> (Plan, String) {
    let count = [1, 3, 8, 40][random.usize(0..4)];
    let resolvers = random.u8(0..3) == 0;
    let policies: Vec<Policy> =
        (0..count).map(|number| policy(random, number, resolvers)).collect();
    let rules = if random.bool() { Vec::new() } else { (0..3).map(|n| rule(random, n)).collect() };
    let shown = |policy: &Policy| {
        let condition = policy.condition.as_ref().map(expression::print);
        format!("{} {:?} {condition:?}", policy.priority, policy.effect)
    };
    let shown = format!("{:?} {rules:?}", policies.iter().map(shown).collect::<Vec<_>>());
    (Plan::compile(RESOURCE, 1, &rules, policies), shown)
}

fn policy(random: &mut Rng, number: u64, resolvers: bool) -> Policy {
    let condition = condition(random, 3, resolvers).to_string();
    let read = json::parse(condition.as_bytes()).expect("JSON");
    Policy {
        id: Uuid::from_u64_pair(random.u64(0..9), number),
        name: format!("policy {number}"),
        resource: ResourcePattern::Any,
        effect: if random.u8(0..3) == 0 { Effect::Deny } else { Effect::Allow },
        priority: random.i32(0..4),
        condition: Ok(Condition::parse(&read).expect(&condition)),
    }
}

fn rule(random: &mut Rng, number: u64) -> Rule {
    let subs = ["alice", "role-0", "role-1", "nobody", "e9"];
    let tuple = RuleTuple {
        sub: subs[random.usize(0..subs.len())].to_owned(),
        dom: "*".to_owned(),
        obj: ResourcePattern::Any,
        act: "read".to_owned(),
    };
    let effect = if random.u8(0..4) == 0 { Effect::Deny } else { Effect::Allow };
    Rule { id: Uuid::from_u64_pair(10, number), tuple, effect }
}

fn condition(random: &mut Rng, depth: u8, resolvers: bool) -> Value {
    if depth > 0 && random.u8(0..5) < 3 {
        let mut child = || condition(random, depth - 1, resolvers);
        let children = [child(), child()];
        let [first, _] = &children;
        return match random.u8(0..7) {
            0 => tree!({"type": "NOT", "child": first}),
            1..=4 => tree!({"type": "AND", "children": children}),
            _ => tree!({"type": "OR", "children": children}),
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
    let mut test = tree!({"type": "CONDITION", "attribute": attribute});
    let (operator, value): (&str, Value) = match random.u8(0..12) {
        0..=3 => (["eq", "eq", "ne"][random.usize(0..3)], operand(random, resolvers)),
        4 => ("exists", Value::Null),
        5 | 6 => {
            let list: Value = (0..random.usize(0..4)).map(|_| scalar(random)).collect();
            let of =
                if random.bool() { tree!({"attribute": path(random, resolvers)}) } else { list };
            (["in", "not_in"][random.usize(0..2)], of)
        }
        7 => ("contains", operand(random, resolvers)),
        8 => ("starts_with", text(random).into()),
        9 => ("matches", "a.*".into()),
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

fn operand(random: &mut Rng, resolvers: bool) -> Value {
    match random.u8(0..3) {
        0 => tree!({"attribute": path(random, resolvers)}),
        _ => scalar(random),
    }
}
