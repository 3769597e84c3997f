//! Random plans whose conditions often hold.

use fastrand::Rng;
use portcullis_engine::{
    Condition, Effect, Plan, Policy, ResourcePattern, Rule, RuleTuple, expression, json,
};
use portcullis_workloads::vocabulary::condition;
use uuid::Uuid;

pub(super) const RESOURCE: &str = "record:read";

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
