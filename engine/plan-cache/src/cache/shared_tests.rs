//! The plans that resources without rules and policies of their own share.

use std::cell::{Cell, RefCell};

use portcullis_engine::{Check, CheckBody, Effect, ResourcePattern, Rule, RuleTuple, json};
use portcullis_workloads::measure::kept;
use uuid::Uuid;

use super::*;
use crate::own_patterns::OwnPatterns;

/// A store of one tenant: its rules, its revision, and the loads so far.
#[derive(Default)]
struct Store {
    rules: RefCell<Vec<Rule>>,
    revision: Cell<u64>,
    loads: Cell<usize>,
}

pub(crate) fn rule(number: u128, pattern: &str) -> Rule {
    let tuple = RuleTuple {
        sub: "ann".to_owned(),
        dom: "*".to_owned(),
        obj: ResourcePattern::parse(pattern).expect("a pattern"),
        act: number.to_string(),
    };
    Rule { id: Uuid::from_u128(number), tuple, effect: Effect::Allow }
}

impl Store {
    /// Makes a store whose tenant has rules on these patterns at revision 7.
    fn new(patterns: &[&str]) -> Self {
        let store = Self::default();
        store.revision.set(7);
        store.rules.borrow_mut().extend((1..).zip(patterns).map(|(n, text)| rule(n, text)));
        store
    }

    /// Commits a rule on this pattern, and publishes it.
    fn commit(&self, cache: &PlanCache<()>, pattern: &str) {
        let revision = self.revision.get() + 1;
        self.revision.set(revision);
        let rule = rule(u128::from(revision), pattern);
        let touched = Touched::by_rule(rule.id, rule.tuple.obj.clone());
        self.rules.borrow_mut().push(rule);
        cache.publish("acme", revision, vec![touched]);
    }

    async fn load(&self, resource: &str) -> Result<NewPlan, ()> {
        self.loads.set(self.loads.get() + 1);
        let (rules, revision) = (self.rules.borrow(), self.revision.get());
        let patterns = rules.iter().map(|rule| rule.tuple.obj.to_string());
        let own = (resource == WILDCARD).then(|| Arc::new(OwnPatterns::new(patterns, revision)));
        Ok(NewPlan { plan: Plan::compile(resource, revision, &rules, []), own })
    }

    /// Finds the plan of a resource as a service does.
    async fn find(&self, cache: &PlanCache<()>, resource: &str) -> Arc<CachedPlan> {
        if let Some(found) = cache.find("acme", resource, 0) {
            return found;
        }
        let get = async |resource: &str| {
            cache.get("acme", resource, 0, || self.load(resource)).await.expect("loads")
        };
        if !cache.has_own("acme", resource) {
            get(WILDCARD).await;
            if let Some(pattern) = cache.shared_pattern("acme", resource) {
                get(&pattern).await;
                return cache.find("acme", resource, 0).expect("a shared plan");
            }
        }
        get(resource).await
    }

    /// Compares the decisions of the plan of a resource with those of a new one, and returns its revision.
    async fn revision_of(&self, cache: &PlanCache<()>, resource: &str) -> u64 {
        let found = self.find(cache, resource).await;
        let new = Plan::compile(resource, found.revision(), &self.rules.borrow(), []);
        assert_eq!(decisions(found.plan(), resource), decisions(&new, resource));
        found.revision()
    }
}

/// Returns the rule that decides each action of ann.
fn decisions(plan: &Plan, resource: &str) -> Vec<Option<Uuid>> {
    let decide = |action: usize| {
        let body =
            format!(r#"{{"subject": "ann", "resource": "{resource}", "action": "{action}"}}"#);
        let body = json::parse(body.as_bytes()).expect("JSON");
        let body = CheckBody::parse(&body).expect("a check");
        let check = Check::new(body, "acme", None, chrono::DateTime::UNIX_EPOCH);
        plan.evaluate(&check).rule_id()
    };
    (0..12).map(decide).collect()
}

#[tokio::test]
async fn invented_resources_cost_no_load_and_no_memory() {
    let (cache, store) = (PlanCache::new(1 << 20), Store::new(&["*", "doc:*", "bill:read"]));
    for number in 0..1_000 {
        assert_eq!(store.revision_of(&cache, &format!("invented-{number}:read")).await, 7);
        assert_eq!(store.revision_of(&cache, &format!("doc:invented-{number}")).await, 7);
    }
    assert_eq!((store.loads.get(), cache.size().plans), (2, 2));
    assert_eq!(store.revision_of(&cache, "bill:write").await, 7);
    assert_eq!((store.loads.get(), cache.size().plans), (2, 2));
    assert_eq!(store.revision_of(&cache, "bill:read").await, 7);
    assert_eq!((store.loads.get(), cache.size().plans), (3, 3));
}

#[tokio::test]
async fn a_resource_with_its_first_rule_leaves_the_shared_plan() {
    let (cache, store) = (PlanCache::new(1 << 20), Store::new(&["*"]));
    let held = store.find(&cache, "doc:read").await;
    assert_eq!(store.revision_of(&cache, "bill:read").await, 7);
    store.commit(&cache, "doc:read");
    assert_eq!(store.revision_of(&cache, "doc:read").await, 8);
    assert_eq!(held.revision(), 7, "the plan of an earlier check stays what it was");
    assert!(!held.is_valid_at("doc:read", 8));
    assert_eq!(store.revision_of(&cache, "bill:read").await, 8);
    assert_eq!(store.loads.get(), 2, "the other resource needs no load");
    store.commit(&cache, "bill:*");
    for resource in ["bill:read", "doc:read", "x:y"] {
        assert_eq!(store.revision_of(&cache, resource).await, 9);
    }
}

#[tokio::test]
async fn a_change_on_everything_loads_the_shared_plan_again() {
    let (cache, store) = (PlanCache::new(1 << 20), Store::new(&["*"]));
    assert_eq!(store.revision_of(&cache, "doc:read").await, 7);
    store.commit(&cache, "*");
    assert_eq!(store.revision_of(&cache, "doc:read").await, 8);
    // The change may have been of any rule: the patterns are read again.
    store.rules.borrow_mut().push(rule(9, "doc:read"));
    store.revision.set(9);
    cache.publish("acme", 9, vec![ResourcePattern::Any.into()]);
    assert_eq!(store.revision_of(&cache, "doc:read").await, 9);
    assert_eq!(store.revision_of(&cache, "bill:read").await, 9);
}

#[tokio::test]
async fn many_new_patterns_are_read_again() {
    let (cache, store) = (PlanCache::new(1 << 20), Store::new(&["*"]));
    assert_eq!(store.revision_of(&cache, "doc:read").await, 7);
    for number in 0..600 {
        store.commit(&cache, &format!("doc-{number}:read"));
        store.find(&cache, "bill:read").await;
    }
    assert_eq!(store.revision_of(&cache, "doc-599:read").await, 607);
    assert_eq!(store.revision_of(&cache, "doc:read").await, 607);
    assert!(store.loads.get() <= 5, "{}", store.loads.get());
}

#[test]
fn the_weight_of_the_patterns_is_the_memory_that_they_take() {
    for count in [0, 1, 100, 10_000] {
        let texts: Vec<_> = (0..count).map(|number| format!("doc-{number}:read")).collect();
        let make = || Arc::new(OwnPatterns::new(&texts, 1));
        let (weight, bytes) = (make().weight(), usize::try_from(kept(make)).expect("few bytes"));
        assert!(weight.abs_diff(bytes) * 10 <= bytes, "{count}: {weight} for {bytes}");
    }
}
