use portcullis_engine::Rule;

use super::*;
use crate::cache::shared_tests::rule;
use crate::shares::TENANT_BYTES;

/// The bytes of the tests' caches: room for about a hundred empty plans.
const ROOM: u64 = 128 << 10;

fn key(tenant: &str, resource: &str) -> Key {
    Key { tenant: tenant.into(), resource: resource.into() }
}

/// Keeps a plan. Returns its weight.
fn keep_rules(plans: &OwnedPlans, tenant: &str, resource: &str, rules: &[Rule]) -> u64 {
    let plan = Plan::compile(resource, 1, rules, []).into();
    plans.keep(key(tenant, resource), plan, Arc::default()).weight() as u64
}

fn keep(plans: &OwnedPlans, tenant: &str, resource: &str) -> u64 {
    keep_rules(plans, tenant, resource, &[])
}

fn has(plans: &OwnedPlans, tenant: &str, resource: &str) -> bool {
    let shown = plans.view.any(&KeyRef { tenant, resource });
    let owned = plans.owner.get(&KeyRef { tenant, resource });
    assert_eq!(shown.as_ref().map(Arc::as_ptr), owned.as_ref().map(Arc::as_ptr));
    shown.is_some()
}

/// Keeps plans of so many resources of a tenant.
fn flood(plans: &OwnedPlans, tenant: &str, count: usize) {
    for number in 0..count {
        keep(plans, tenant, &format!("invented-{number}:read"));
        assert!(plans.view.bytes() <= plans.max_bytes, "{}", plans.view.bytes());
    }
}

/// Asks about a resource as a check does. Returns whether the plan was loaded.
fn ask(plans: &OwnedPlans, tenant: &str, resource: &str, rules: &[Rule]) -> bool {
    let is_missing = plans.view.pin().get(tenant, resource, 0).is_none();
    if is_missing {
        keep_rules(plans, tenant, resource, rules);
    }
    is_missing
}

/// Returns the loads that each of two tenants with one plan of 62 KiB or more needs in 100 checks, after and while a noisy
/// one asks about 8,000 resources 16 times each. The plan of the first one was in memory before. `owner` says under which
/// name the plans of a tenant are kept.
fn loads_beside_a_flood(owner: fn(&'static str) -> &'static str) -> [usize; 2] {
    let plans = OwnedPlans::new(8 << 20);
    let rules: Vec<_> = (0..500).map(|number| rule(number, "*")).collect();
    let ask_quiet = |tenant| usize::from(ask(&plans, owner(tenant), tenant, &rules));
    ask_quiet("early");
    assert!(plans.view.bytes() >= 62 << 10, "{}", plans.view.bytes());
    let mut loads = [0, 0];
    for asked in 0..16 * 8_000 {
        // Each resource eight times in a row, and again after all others.
        let resource = format!("own-{}:read", asked / 8 % 8_000);
        ask(&plans, owner("noisy"), &resource, &rules[..10]);
        if asked >= 15 * 8_000 && asked % 80 == 0 {
            loads[0] += ask_quiet("early");
            loads[1] += ask_quiet("late");
        }
    }
    loads
}

#[test]
fn a_tenant_that_floods_the_cache_pushes_out_its_own_plans_only() {
    assert_eq!(loads_beside_a_flood(|tenant| tenant), [0, 1]);
    let [early, _] = loads_beside_a_flood(|_| "everybody");
    assert!(early > 0, "the control must lose it");
}

#[test]
fn what_moka_drops_leaves_the_view_and_the_shares() {
    let plans = OwnedPlans::new(ROOM);
    keep(&plans, "acme", "doc:read");
    assert!(has(&plans, "acme", "doc:read"));
    // The shares do not know of these and make no room.
    for number in 0..1_000 {
        let plan = Plan::compile("doc:read", 1, &[], []).into();
        let plan = CachedPlan::new("doc:read", plan, Arc::default());
        plans.owner.insert(key("other", &number.to_string()), Arc::new(plan));
    }
    plans.owner.run_pending_tasks();
    assert!(!has(&plans, "acme", "doc:read"));
    assert_eq!((plans.view.len(), plans.view.bytes()), (0, 0));
}

#[test]
fn a_tenant_that_is_alone_fills_the_cache_and_gives_way_to_others() {
    let plans = OwnedPlans::new(ROOM);
    flood(&plans, "first", 1_000);
    let alone = plans.view.len();
    let weight = keep(&plans, "first", "invented-0:read");
    assert!(plans.view.bytes() > ROOM - 2 * weight, "it may take everything");
    flood(&plans, "second", 1_000);
    let is_left = |n: &i32| has(&plans, "first", &format!("invented-{n}:read"));
    let of_first = (0..1_000).filter(is_left).count();
    assert!(of_first.abs_diff(alone / 2) <= 2, "{of_first} of {alone}: each has a half");
}

#[test]
fn plans_in_use_stay_and_unused_plans_go() {
    let plans = OwnedPlans::new(ROOM);
    keep(&plans, "acme", "often:read");
    for number in 0..1_000 {
        assert!(plans.view.pin().get("acme", "often:read", 0).is_some(), "{number}");
        keep(&plans, "acme", &format!("once-{number}:read"));
    }
    assert!(!has(&plans, "acme", "once-0:read"));
    // Even if everything is read all the time, the memory is bounded.
    flood(&plans, "acme", 10_000);
    for new in 0..4 {
        let hot = plans.view.pin();
        for number in 0..10_000 {
            hot.get("acme", &format!("invented-{number}:read"), 0);
        }
        drop(hot);
        keep(&plans, "acme", &format!("new-{new}:read"));
        assert!(plans.view.bytes() <= ROOM);
    }
}

#[test]
fn a_plan_that_is_larger_than_the_cache_is_not_kept() {
    let plans = OwnedPlans::new(200);
    assert!(keep(&plans, "acme", "doc:read") > 200);
    assert_eq!((plans.view.len(), plans.view.bytes()), (0, 0));
}

#[test]
fn a_plan_that_replaces_another_counts_once() {
    let plans = OwnedPlans::new(ROOM);
    let weight = (0..1_000).map(|_| keep(&plans, "acme", "doc:read")).last();
    assert!(has(&plans, "acme", "doc:read"));
    plans.owner.run_pending_tasks();
    assert_eq!((plans.owner.entry_count(), Some(plans.owner.weighted_size())), (1, weight));
    assert_eq!(
        (plans.view.len(), Some(plans.view.bytes())),
        (1, weight.map(|weight| weight + TENANT_BYTES))
    );
}
