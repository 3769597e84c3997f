//! The bytes that the cache counts are the memory that it takes. In a process without other tests: moka frees memory of
//! one thread on another.

#![expect(clippy::expect_used, reason = "a set-up that fails ends the test")]

use std::convert::Infallible;
use std::future::ready;

use portcullis_engine::{Condition, Effect, Plan, Policy, ResourcePattern, Rule, RuleTuple, json};
use portcullis_plan_cache::PlanCache;
use portcullis_workloads::measure::{kept, kept_in_blocks};
use tokio::runtime::{Builder, Runtime};
use uuid::Uuid;

/// A cache without a limit. Its loads cannot fail.
struct Cache {
    plans: PlanCache<Infallible>,
    runtime: Runtime,
}

impl Cache {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        Self { plans: PlanCache::new(u64::MAX), runtime }
    }

    /// Loads the plans of so many resources, of tenants in turn. Returns the bytes that the cache counts.
    fn load(&self, count: usize, tenants: usize, rules: &[Rule], policies: u128) -> u64 {
        for number in 0..count {
            let tenant = format!("tenant-{}", number % tenants);
            let resource = format!("document-{number:06}-of-{}:read", rules.len());
            let compile =
                || ready(Ok(Plan::compile(&resource, 1, rules, (0..policies).map(policy))));
            let get = self.plans.get(&tenant, &resource, 0, compile);
            self.runtime.block_on(get).expect("loads cannot fail");
        }
        self.plans.size().bytes
    }
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

fn assert_true(what: &str, counted: u64, measured: u64) {
    let difference = (counted as f64 - measured as f64) / measured as f64;
    println!("{what}: {counted} bytes, {measured} measured, {difference:.3}");
    assert!(difference.abs() <= 0.1, "{what}: {counted} instead of {measured}");
}

#[test]
fn the_bytes_of_the_cache_are_true() {
    for tenants in [1, 1_000] {
        let mut counted = 0;
        let measured = kept(|| {
            let cache = Cache::new();
            counted = cache.load(5_000, tenants, &[], 0);
            cache.plans
        });
        assert_true(&format!("{tenants} tenants"), counted, measured);
    }
    // The part of the allocator is included.
    for (rules, policies) in [(10, 1), (10, 2), (1, 20), (100, 100)] {
        let rules: Vec<_> = (0..rules).map(rule).collect();
        let cache = Cache::new();
        // The maps of the cache have their room before the first measured plan.
        let before = cache.load(2_000, 1, &[], 0);
        let mut counted = 0;
        let measured = kept_in_blocks(|| counted = cache.load(200, 1, &rules, policies) - before);
        assert_true(&format!("{} rules, {policies} policies", rules.len()), counted, measured);
    }
}
