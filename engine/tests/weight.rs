//! The weight of a plan, by which a cache bounds its memory, against the heap bytes that the plan really holds.

#![expect(clippy::expect_used, reason = "all of it is test code")]

use std::sync::Arc;

use portcullis_engine::during::TimeWindow;
use portcullis_engine::{
    Condition, Effect, Plan, Policy, ResolverRef, ResourcePattern, Rule, RuleTuple, json,
};
use portcullis_workloads::measure::kept;
use serde_json::{Value, json as tree};
use uuid::Uuid;

/// The greatest difference between the weight and the measured bytes, as a share of the measured bytes.
const TOLERANCE: f64 = 0.1;
/// Sizes with few policies, around the limits of the index, and many.
const SIZES: [usize; 6] = [1, 4, 5, 17, 200, 1_000];
const RESOURCE: &str = "document:read";

/// A kind of plan: the condition of its policy of this number.
type Shape = (&'static str, fn(usize) -> Value);

const SHAPES: [Shape; 15] = [
    ("one text", |number| test("user.department", "eq", text(number))),
    ("a text of 200 bytes", |number| test("user.department", "eq", long_text(number))),
    ("a text that all policies share", |_| test("user.department", "eq", text(0))),
    ("an attribute of its own", |number| test(&format!("user.name{number}"), "eq", text(0))),
    ("a claim of its own", |number| test(&format!("token.a.claim{number}"), "exists", Value::Null)),
    ("an attribute with a long name", |number| {
        test(&format!("resource.{}", long_text(number)), "eq", number)
    }),
    ("an attribute of a resolver", |number| {
        test(&format!("geo{}.name{number}", number % 7), "eq", text(number))
    }),
    ("a number", |number| test("user.level", "gte", number)),
    ("an interval", |number| {
        all(vec![test("user.level", "gt", number), test("user.level", "lt", number + 50)])
    }),
    ("a prefix", |number| test("resource.path", "starts_with", text(number))),
    ("a list of texts", |number| {
        test("user.department", "in", (number..number + 30).map(text).collect::<Vec<_>>())
    }),
    ("a list of numbers", |number| {
        test("user.level", "in", (number..number + 30).collect::<Vec<_>>())
    }),
    ("networks", |number| {
        let network = |third: usize| format!("10.{}.{third}.0/24", number % 200);
        test("user.address", "ip_in", (0..20).map(|third| network(2 * third)).collect::<Vec<_>>())
    }),
    ("a time window", |number| {
        let window = tree!({"from": "08:00", "to": format!("09:{:02}", number % 60), "zone": "Europe/Berlin"});
        test("user.since", "during", window)
    }),
    ("a tree of many kinds", |number| {
        let either = vec![
            test("user.level", "lt", number % 10),
            test("user.groups", "contains", text(number % 40)),
            all(vec![
                test("resource.owner", "ne", text(number)),
                test("request.time", "after", "2026-01-01T00:00:00Z"),
            ]),
        ];
        let outside = tree!({"type": "NOT", "child": test("resource.path", "ends_with", "/x")});
        all(vec![
            test("user.department", "eq", text(number % 25)),
            tree!({"type": "OR", "children": either}),
            outside,
        ])
    }),
];

fn text(number: usize) -> String {
    format!("text-{number}")
}

fn long_text(number: usize) -> String {
    format!("{number:0>200}")
}

fn test(attribute: &str, operator: &str, value: impl Into<Value>) -> Value {
    let mut test = tree!({"type": "CONDITION", "attribute": attribute, "operator": operator});
    let value = value.into();
    if !value.is_null() {
        test["value"] = value;
    }
    test
}

fn all(children: Vec<Value>) -> Value {
    tree!({"type": "AND", "children": children})
}

fn policy(number: usize, condition: &Value) -> Policy {
    let text = condition.to_string();
    let read = json::parse(text.as_bytes()).expect("JSON");
    Policy {
        id: Uuid::from_u128(number as u128),
        name: format!("policy {number}"),
        resource: ResourcePattern::Any,
        effect: if number.is_multiple_of(3) { Effect::Deny } else { Effect::Allow },
        priority: (number % 10) as i32,
        condition: Ok(Condition::parse(&read).expect("a condition")),
    }
}

fn rule(number: usize) -> Rule {
    let tuple = RuleTuple {
        sub: format!("role-{}", number / 2),
        dom: "acme".to_owned(),
        obj: if number.is_multiple_of(2) {
            ResourcePattern::Any
        } else {
            ResourcePattern::Exact(RESOURCE.to_owned())
        },
        act: "read".to_owned(),
    };
    Rule { id: Uuid::from_u128(number as u128), tuple, effect: Effect::Allow }
}

/// Compiles a plan, and asserts that its weight is near the bytes that it holds: on the heap, and in its own value.
#[track_caller]
fn assert_true(what: &str, size: usize, rules: &[Rule], condition: Option<fn(usize) -> Value>) {
    let policies = || {
        condition
            .into_iter()
            .flat_map(|shape| (0..size).map(move |number| policy(number, &shape(number))))
    };
    let resolver = ResolverRef { id: Uuid::nil(), version: 1 };
    let mut weight = 0;
    let measured = kept(|| {
        let plan =
            Plan::compile_with(RESOURCE, 1, rules, policies(), Arc::default(), |_| Some(resolver));
        weight = plan.weight();
        plan
    });
    let measured = measured as f64 + size_of::<Plan>() as f64;
    let difference = (weight as f64 - measured) / measured;
    println!("{what}, {size}: weight {weight}, measured {measured}, {:.1} %", difference * 100.0);
    assert!(difference.abs() <= TOLERANCE, "{what}, {size}: {weight} instead of {measured}");
}

#[test]
fn the_weight_of_plans_with_policies_is_true() {
    // The table of time zones belongs to the process, and is made with the first window.
    TimeWindow::parse("Europe/Berlin").expect("a zone");
    for (what, shape) in SHAPES {
        for size in SIZES {
            assert_true(what, size, &[], Some(shape));
        }
    }
}

#[test]
fn the_weight_of_plans_with_rules_is_true() {
    for size in [0, 1, 10, 1_000, 20_000] {
        let rules: Vec<Rule> = (0..size).map(rule).collect();
        assert_true("rules", size, &rules, None);
    }
}

#[test]
fn the_measurement_sees_a_wrong_weight() {
    // A plan of policies, measured with the weight of a plan without any, is outside of the tolerance.
    let empty = Plan::compile(RESOURCE, 1, &[], []).weight() as f64;
    let measured = kept(|| {
        let policies = (0..200).map(|number| policy(number, &SHAPES[0].1(number)));
        Plan::compile(RESOURCE, 1, &[], policies)
    });
    assert!((empty - measured as f64).abs() > TOLERANCE * measured as f64);
}
