//! The cost of conditions on the items of a list: of the list itself, of each item, and of finding policies by an item.

use std::hint::black_box;

use anyhow::{Result, anyhow};
use chrono::DateTime;
use portcullis_engine::{
    Check, CheckBody, Effect, Json, Plan, Policy, ResourcePattern, expression, json,
};
use portcullis_workloads::DOMAIN;
use portcullis_workloads::measure::{Samples, Variant, allocations, compare};
use portcullis_workloads::report::{Bar, Group};

/// Items of a short and of a long list, none of which decides.
const SHORT: usize = 1;
const LONG: usize = 33;
/// Policies that an index finds by an item.
const MANY: usize = 5_000;

/// A condition, and the most nanoseconds that an item of its list takes.
const CONDITIONS: [(&str, &str, f64); 3] = [
    ("equality", r#"any(user.groups, item == "other")"#, 6.0),
    ("prefix", r#"any(user.groups, item starts_with "/other/")"#, 6.0),
    ("two tests", r#"any(user.groups, item starts_with "/" && item != user.team)"#, 12.0),
];

fn plan(conditions: impl IntoIterator<Item = String>) -> Result<Plan> {
    let policies = (0..).zip(conditions).map(|(id, text)| {
        let condition = expression::parse(&text).map_err(|fault| anyhow!("{fault}"))?;
        Ok(Policy {
            id: uuid::Uuid::from_u128(id),
            name: text,
            resource: ResourcePattern::Any,
            effect: Effect::Allow,
            priority: 0,
            condition: Ok(condition),
        })
    });
    let policies: Vec<Policy> = policies.collect::<Result<_>>()?;
    Ok(Plan::compile("doc:read", 1, &[], policies))
}

/// Returns the body of a check of a person with so many groups.
fn body(groups: usize) -> Result<Json<'static>> {
    let groups: Vec<_> = (0..groups).map(|group| format!("\"group-{group}\"")).collect();
    let user = format!(r#"{{"groups": [{}], "team": "red", "level": 3}}"#, groups.join(", "));
    let body = format!(
        r#"{{"subject": "ann", "resource": "doc:read", "action": "read", "attributes": {{"user": {user}}}}}"#
    );
    Ok(json::parse(body.as_bytes())?.into_owned())
}

fn variant<'v>(name: &str, plan: &'v Plan, body: CheckBody<'v>) -> Variant<'v> {
    Variant::new(name, 1, move |_| evaluate(plan, body))
}

fn evaluate(plan: &Plan, body: CheckBody<'_>) -> Effect {
    plan.evaluate(&Check::new(body, DOMAIN, None, DateTime::UNIX_EPOCH)).effect()
}

pub(crate) fn items(group: &mut Group<'_>) -> Result<()> {
    let bodies = [body(SHORT)?, body(LONG)?];
    let [short, long] = [CheckBody::parse(&bodies[0])?, CheckBody::parse(&bodies[1])?];
    let number = plan(["user.level == 4".to_owned()])?;
    for (name, condition, most) in CONDITIONS {
        let plan = plan([condition.to_owned()])?;
        let samples = compare(vec![
            variant("a number", &number, short),
            variant("a short list", &plan, short),
            variant("a long list", &plan, long),
        ]);
        group.times(name, &samples);
        let [number, few, many] =
            [0, 1, 2].map(|index| samples.get(index).map_or(0.0, Samples::ns));
        let each = (many - few) / (LONG - SHORT) as f64;
        group.measurement(format!("{name}: an item"), each, " ns", Bar::AtMost(most));
        let list = few - number - each * SHORT as f64;
        group.measurement(format!("{name}: the list"), list, " ns", Bar::AtMost(40.0));
        let allocated = allocations(|| {
            black_box(evaluate(&plan, long));
        });
        group.measurement(format!("{name}: allocations"), allocated as f64, "", Bar::AtMost(0.0));
    }
    let length = plan(["length(user.groups) == 2".to_owned()])?;
    let samples =
        compare(vec![variant("a number", &number, long), variant("a length", &length, long)]);
    group.times("length", &samples);
    group.measurement("length / number", samples[1].ratio(&samples[0]), "", Bar::AtMost(1.5));
    let contains = plan((0..MANY).map(|n| format!("user.groups contains \"team-{n}\"")))?;
    let any = plan((0..MANY).map(|n| format!("any(user.groups, item == \"team-{n}\")")))?;
    let samples = compare(vec![variant("contains", &contains, long), variant("any", &any, long)]);
    group.times("5,000 policies", &samples);
    let ratio = samples[1].ratio(&samples[0]);
    group.measurement("5,000 policies: any / contains", ratio, "", Bar::AtMost(1.2));
    Ok(())
}
