//! Bar 10: the costs of resolvers that a check does not need, and of partial evaluation.

use anyhow::{Context as _, Result, ensure};
use chrono::{DateTime, Utc};
use portcullis_engine::{
    AttributeAnswer, AttributeAnswers, Check, CheckBody, Condition, Effect, Json, Plan, Policy,
    ResourcePattern, Verdict, json,
};
use portcullis_workloads::measure::{Variant, allocations, compare};
use portcullis_workloads::report::{Bar, Group};
use uuid::Uuid;

const RESOURCE: &str = "document:read";

const BODY: &[u8] =
    br#"{"subject": "ann", "resource": "document:read", "action": "read", "attributes": {
    "user": {"department": "d7", "clearance": 3}, "resource": {"region": "eu"}}}"#;

/// The number of policies like workload W3's, one of which allows.
const POLICIES: usize = 100;

/// The number of policies that read a resolver's attribute.
const RESOLVED: usize = 10;

pub(crate) fn unneeded(group: &mut Group<'_>) -> Result<()> {
    let plain = (0..POLICIES).map(department).collect::<Result<Vec<_>>>()?;
    let plan = |resolved: Vec<Policy>| {
        Plan::compile(RESOURCE, 1, &[], plain.iter().cloned().chain(resolved))
    };
    let many = |effect, priority, tree: &dyn Fn(usize) -> String| -> Result<Vec<Policy>> {
        (0..RESOLVED).map(|index| policy(1_000 + index, effect, priority, &tree(index))).collect()
    };
    // Another attribute excludes them, so the index does not find them.
    let elsewhere = |index| {
        let other = format!("d{}", 50 + index);
        format!(r#"{{"type": "AND", "children": [{}, {}]}}"#, department_is(&other), in_germany())
    };
    let found_elsewhere = plan(many(Effect::Deny, 10, &elsewhere)?);
    // They are open, but another policy outranks them.
    let outranked = plan(many(Effect::Deny, -10, &|_| in_germany())?);
    // They are open and rank first, but would only allow a check that is allowed anyway.
    let in_vain = plan(many(Effect::Allow, 10, &|_| in_germany())?);
    // They are open and decide.
    let needed = plan(many(Effect::Deny, 10, &|_| in_germany())?);
    let without = plan(vec![]);

    let json = json::parse(BODY)?;
    let check = Check::new(CheckBody::parse(&json)?, "acme", None, DateTime::<Utc>::UNIX_EPOCH);
    let none = AttributeAnswers::default();
    let mut answers = AttributeAnswers::default();
    answers.insert("geo", "country", AttributeAnswer::Value(Json::String("FR".into())));
    let decided = |plan: &Plan| match plan.decide(&check, &none) {
        Verdict::Decided(decision) => decision.effect() == Effect::Allow,
        Verdict::NeedsAttributes(_) => false,
    };
    let asked = || matches!(needed.decide(&check, &none), Verdict::NeedsAttributes(asks) if asks.len() == 1);
    let settled = || needed.evaluate_with(&check, &answers).effect() == Effect::Allow;
    ensure!([&without, &found_elsewhere, &outranked, &in_vain].into_iter().all(decided));
    ensure!(asked() && settled());

    let samples = compare(vec![
        Variant::new("no policy reads a resolver", 1, |_| decided(&without)),
        Variant::new("another attribute says no", 1, |_| decided(&found_elsewhere)),
        Variant::new("outranked", 1, |_| decided(&outranked)),
        Variant::new("would allow what is allowed", 1, |_| decided(&in_vain)),
        Variant::new("needed: whom to ask", 1, |_| asked()),
        Variant::new("needed: the decision with the answer", 1, |_| settled()),
    ]);
    group.times("one check", &samples);
    for (index, what) in [(1, "another attribute says no"), (2, "outranked"), (3, "in vain")] {
        let added = samples[index].ns() - samples[0].ns();
        group.measurement(format!("added, {what}"), added, " ns", Bar::AtMost(100.0));
    }
    let allocated = allocations(|| {
        decided(&in_vain);
    });
    group.measurement(
        "allocations of a check that needs none",
        allocated as f64,
        "",
        Bar::AtMost(0.0),
    );
    Ok(())
}

fn department(index: usize) -> Result<Policy> {
    let tree = format!(
        r#"{{"type": "AND", "children": [{},
            {{"type": "CONDITION", "attribute": "user.clearance", "operator": "gte", "value": 2}},
            {{"type": "CONDITION", "attribute": "resource.region", "operator": "in", "value": ["eu", "us"]}}]}}"#,
        department_is(&format!("d{index}"))
    );
    policy(index, Effect::Allow, 0, &tree)
}

fn department_is(name: &str) -> String {
    format!(
        r#"{{"type": "CONDITION", "attribute": "user.department", "operator": "eq", "value": "{name}"}}"#
    )
}

fn in_germany() -> String {
    r#"{"type": "CONDITION", "attribute": "geo.country", "operator": "eq", "value": "DE"}"#
        .to_owned()
}

fn policy(index: usize, effect: Effect, priority: i32, tree: &str) -> Result<Policy> {
    let tree = json::parse(tree.as_bytes())?;
    Ok(Policy {
        id: Uuid::from_u64_pair(0, index as u64),
        name: format!("policy {index}"),
        resource: ResourcePattern::parse(RESOURCE).context("a resource")?,
        effect,
        priority,
        condition: Ok(Condition::parse(&tree)?),
    })
}
