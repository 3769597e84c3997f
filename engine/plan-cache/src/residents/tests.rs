use portcullis_engine::{Condition, Effect, Policy, ResourcePattern, Rule, RuleTuple, json};
use portcullis_workloads::measure::kept_in_blocks;
use uuid::Uuid;

use super::*;

/// The bytes of the tests' caches: room for about a hundred empty plans.
const ROOM: u64 = 128 << 10;

fn empty_plan(resource: &str) -> Plan {
    Plan::compile(resource, 1, &[], [])
}

fn keep(residents: &Residents, tenant: &str, resource: &str) -> u64 {
    let key = Key { tenant: tenant.into(), resource: resource.into() };
    residents.keep(key, empty_plan(resource).into(), Arc::default()).weight() as u64
}

fn has(residents: &Residents, tenant: &str, resource: &str) -> bool {
    residents.plans.pin().contains_key(&KeyRef { tenant, resource })
}

/// Keeps plans of so many resources of a tenant.
fn flood(residents: &Residents, tenant: &str, count: usize) {
    for number in 0..count {
        keep(residents, tenant, &format!("invented-{number}:read"));
    }
}

/// Returns how many of the ten plans of a quiet tenant are left after a noisy one kept 10,000. `owner` is the name under
/// which the plans of a tenant are kept.
fn left_after_a_flood(owner: fn(&'static str) -> &'static str) -> usize {
    let residents = Residents::new(ROOM);
    let quiet: Vec<String> = (0..10).map(|number| format!("doc-{number}:read")).collect();
    for resource in &quiet {
        keep(&residents, owner("quiet"), resource);
    }
    for number in 0..10_000 {
        keep(&residents, owner("noisy"), &format!("invented-{number}:read"));
        assert!(residents.bytes() <= ROOM, "{}", residents.bytes());
    }
    quiet.iter().filter(|resource| has(&residents, owner("quiet"), resource)).count()
}

#[test]
fn a_tenant_that_floods_the_cache_pushes_out_its_own_plans_only() {
    assert_eq!(left_after_a_flood(|tenant| tenant), 10);
}

#[test]
fn without_shares_the_flood_pushes_out_the_plans_of_others() {
    let left = left_after_a_flood(|_| "everybody");
    assert_eq!(left, 0, "the control must lose them");
}

#[test]
fn a_tenant_that_is_alone_fills_the_cache_and_gives_way_to_others() {
    let residents = Residents::new(ROOM);
    flood(&residents, "first", 1_000);
    let alone = residents.len();
    let weight = keep(&residents, "first", "invented-0:read");
    assert!(residents.bytes() > ROOM - 2 * weight, "it may take everything");
    flood(&residents, "second", 1_000);
    let of_first = (0..1_000).filter(|n| has(&residents, "first", &format!("invented-{n}:read")));
    let of_first = of_first.count();
    assert!(of_first.abs_diff(alone / 2) <= 2, "{of_first} of {alone}: each has a half");
}

#[test]
fn plans_in_use_stay_and_unused_plans_go() {
    let residents = Residents::new(ROOM);
    keep(&residents, "acme", "often:read");
    for number in 0..1_000 {
        assert!(residents.pin().get("acme", "often:read", 0).is_some(), "{number}");
        keep(&residents, "acme", &format!("once-{number}:read"));
    }
    assert!(!has(&residents, "acme", "once-0:read"));
    // Even if everything is read all the time, the memory is bounded.
    flood(&residents, "acme", 10_000);
    for new in 0..4 {
        let plans = residents.pin();
        for number in 0..10_000 {
            plans.get("acme", &format!("invented-{number}:read"), 0);
        }
        drop(plans);
        keep(&residents, "acme", &format!("new-{new}:read"));
        assert!(residents.bytes() <= ROOM);
    }
}

#[test]
fn a_plan_that_is_larger_than_the_cache_is_not_kept() {
    let residents = Residents::new(200);
    let weight = keep(&residents, "acme", "doc:read");
    assert!(weight > 200);
    assert_eq!((residents.len(), residents.bytes()), (0, 0));
}

#[test]
fn a_plan_that_replaces_another_counts_once() {
    let residents = Residents::new(ROOM);
    let weight = keep(&residents, "acme", "doc:read");
    for _ in 0..1_000 {
        keep(&residents, "acme", "doc:read");
    }
    assert_eq!(residents.len(), 1);
    assert!(residents.bytes() < weight + 1_024, "{}", residents.bytes());
}

fn policy(number: u128) -> Policy {
    let text = format!(
        r#"{{"type": "AND", "children": [
            {{"type": "CONDITION", "attribute": "user.department", "operator": "eq", "value": "department-{number}"}},
            {{"type": "CONDITION", "attribute": "user.clearance", "operator": "gte", "value": 3}},
            {{"type": "CONDITION", "attribute": "resource.region", "operator": "in", "value": ["north", "south"]}}]}}"#
    );
    let condition = json::parse(text.as_bytes()).expect("JSON");
    Policy {
        id: Uuid::from_u128(number),
        name: format!("policy {number}"),
        resource: ResourcePattern::Any,
        effect: Effect::Deny,
        priority: 1,
        condition: Ok(Condition::parse(&condition).expect("a condition")),
    }
}

fn rule(number: u128) -> Rule {
    let tuple = RuleTuple {
        sub: format!("role-{number}"),
        dom: "*".to_owned(),
        obj: ResourcePattern::Any,
        act: "read".to_owned(),
    };
    Rule { id: Uuid::from_u128(number), tuple, effect: Effect::Allow }
}

#[test]
fn the_weight_of_policies_includes_the_part_of_the_allocator() {
    for (rules, policies) in [(10, 1), (10, 2), (1, 20), (100, 100)] {
        let rules: Vec<_> = (0..rules).map(rule).collect();
        let residents = Residents::new(u64::MAX);
        let measured = kept_in_blocks(|| {
            for number in 0..200 {
                let resource = format!("document-{number:06}:read");
                let plan = Plan::compile(&resource, 1, &rules, (0..policies).map(policy));
                let key = Key { tenant: "acme".into(), resource: resource.into() };
                drop(residents.keep(key, plan.into(), Arc::default()));
            }
        });
        let difference = (residents.bytes() as f64 - measured as f64) / measured as f64;
        println!("{} rules, {policies} policies: {difference:.3}", rules.len());
        assert!(difference.abs() <= 0.1, "{} instead of {measured}", residents.bytes());
    }
}
