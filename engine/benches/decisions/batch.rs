//! Bar 10: 10,000 checks of one batch, beside the parse.

use std::collections::HashMap;

use anyhow::{Result, anyhow, ensure};
use chrono::DateTime;
use portcullis_engine::batch::{BatchBody, MAX_ITEMS};
use portcullis_engine::{
    AttributeAnswers, Check, CheckBuffer, Effect, Plan, Policy, ResourcePattern, Rule, Verdict,
    expression,
};
use portcullis_workloads::DOMAIN;
use portcullis_workloads::measure::load_time;
use portcullis_workloads::report::{Bar, Group};
use uuid::Uuid;

/// Resources of a batch, each with a plan of ten policies.
const RESOURCES: usize = 20;
const POLICIES: usize = 10;

fn resource(number: usize) -> String {
    format!("object{number}:read")
}

fn plan(number: usize) -> Result<Plan> {
    let policies: Result<Vec<Policy>> = (0..POLICIES).map(|nth| policy(number, nth)).collect();
    let rules: [Rule; 0] = [];
    Ok(Plan::compile(&resource(number), 1, &rules, policies?))
}

fn policy(number: usize, nth: usize) -> Result<Policy> {
    let text = format!(
        "user.department == resource.department && resource.level >= {nth} && context.web == true"
    );
    let condition = expression::parse(&text).map_err(|fault| anyhow!("{fault}"))?;
    Ok(Policy {
        id: Uuid::from_u64_pair(number as u64, nth as u64),
        name: format!("policy {nth}"),
        resource: ResourcePattern::Exact(resource(number)),
        effect: Effect::Allow,
        priority: 1,
        condition: Ok(condition),
    })
}

/// Returns the body of a batch. Every second item is allowed.
fn body() -> String {
    let items: Vec<_> = (0..MAX_ITEMS)
        .map(|number| {
            let department = ["north", "south"][number % 2];
            format!(
                r#"{{"id":"{number}","resource":"{}","attributes":{{"user":{{"department":"north"}},"resource":{{"department":"{department}","level":{}}},"context":{{"web":true}}}}}}"#,
                resource(number % RESOURCES),
                number % POLICIES
            )
        })
        .collect();
    format!(r#"{{"subject":"ann","action":"read","checks":[{}]}}"#, items.join(","))
}

/// Decides each item with its reason, as a batch does. Returns the number of allowed items.
fn decide(batch: &BatchBody<'_>, plans: &HashMap<String, Plan>) -> usize {
    let now = DateTime::UNIX_EPOCH;
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut found: Vec<&Plan> = Vec::new();
    let mut answers = Vec::with_capacity(batch.count());
    for check in (0..batch.count()).filter_map(|index| batch.check(index)) {
        let Some(plan) = plans.get(check.resource) else { continue };
        let number = *numbers.entry(check.resource).or_insert_with(|| {
            found.push(plan);
            found.len() - 1
        });
        let check = Check::new(check, DOMAIN, None, now);
        if let Verdict::Decided(decision) =
            found[number].decide(&check, &AttributeAnswers::default())
        {
            answers.push((decision.effect(), decision.matched_rule_id(), decision.reason()));
        }
    }
    answers.iter().filter(|(effect, _, _)| *effect == Effect::Allow).count()
}

pub(crate) fn batch(group: &mut Group<'_>) -> Result<()> {
    let plans: Result<HashMap<_, _>> =
        (0..RESOURCES).map(|number| Ok((resource(number), plan(number)?))).collect();
    let (plans, text) = (plans?, body());
    let mut buffer = CheckBuffer::default();
    let batch = buffer.read_batch(text.as_bytes())?;
    ensure!(decide(&batch, &plans) == MAX_ITEMS / 2, "every second item is allowed");
    let per_item = |time: std::time::Duration| time.as_secs_f64() * 1e9 / MAX_ITEMS as f64;
    let decided = per_item(load_time(|| decide(&batch, &plans)));
    group.measurement("an item: decision and reason", decided, " ns", Bar::AtMost(1_000.0));
    let parsed = per_item(load_time(|| {
        let mut buffer = CheckBuffer::default();
        buffer.read_batch(text.as_bytes()).ok().map(|batch| batch.count())
    }));
    group.measurement("an item: parse", parsed, " ns", Bar::Shown);
    Ok(())
}
