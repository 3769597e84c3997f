//! The cost of time windows: `during` beside `before`, on the time of the check.

use anyhow::Result;
use chrono::{DateTime, TimeDelta};
use portcullis_engine::{Check, CheckBody, Condition, Effect, Plan, Policy, ResourcePattern, json};
use portcullis_workloads::DOMAIN;
use portcullis_workloads::measure::{Variant, compare};
use portcullis_workloads::report::{Bar, Group};

const BODY: &str = r#"{"subject": "ann", "resource": "doc:read", "action": "read"}"#;
/// The number of instants, each some hours after the one before.
const INSTANTS: usize = 1_000;
/// From September 2020 on: 1,000 instants are more than a year, with its changes of the clocks.
const START: i64 = 1_600_000_000;

const WINDOWS: [(&str, &str, &str); 4] = [
    ("`before`", "before", r#""2020-01-01T00:00:00Z""#),
    ("`during` in UTC", "during", r#"{"from": "08:00", "to": "18:00", "zone": "UTC"}"#),
    (
        "`during` in Berlin",
        "during",
        r#"{"days": ["mon", "fri"], "from": "08:00", "to": "18:00", "zone": "Europe/Berlin"}"#,
    ),
    (
        "`during` over midnight in Chatham",
        "during",
        r#"{"days": ["mon", "fri"], "from": "22:00", "to": "06:00", "zone": "Pacific/Chatham"}"#,
    ),
];

fn plan(operator: &str, value: &str) -> Result<Plan> {
    let tree = format!(
        r#"{{"type": "CONDITION", "attribute": "request.time", "operator": "{operator}", "value": {value}}}"#
    );
    let policy = Policy {
        id: uuid::Uuid::nil(),
        name: operator.to_owned(),
        resource: ResourcePattern::Any,
        effect: Effect::Allow,
        priority: 0,
        condition: Ok(Condition::parse(&json::parse(tree.as_bytes())?)?),
    };
    Ok(Plan::compile("doc:read", 1, &[], [policy]))
}

pub(crate) fn windows(group: &mut Group<'_>) -> Result<()> {
    let json = json::parse(BODY.as_bytes())?;
    let body = CheckBody::parse(&json)?;
    let start = DateTime::from_timestamp(START, 0).unwrap_or_default();
    let plans = WINDOWS
        .iter()
        .map(|(name, operator, value)| Ok((*name, plan(operator, value)?)))
        .collect::<Result<Vec<_>>>()?;
    let variants = plans.iter().map(|(name, plan)| {
        Variant::new(*name, INSTANTS, move |index| {
            let now = start + TimeDelta::hours(11 * i64::try_from(index).unwrap_or_default());
            plan.evaluate(&Check::new(body, DOMAIN, None, now)).effect()
        })
    });
    let samples = compare(variants.collect());
    group.times("one policy", &samples);
    for (sample, (name, ..)) in samples.iter().zip(WINDOWS).skip(1) {
        let what = format!("one policy: {name} / `before`");
        group.measurement(what, sample.ratio(&samples[0]), "", Bar::Shown);
    }
    Ok(())
}
