//! Plans that are made before checks ask for them decide as plans that checks load.

use std::sync::Arc;
use std::time::Duration;

use portcullis_model::policy::NewPolicy;
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use portcullis_storage::{Store, policies, rules};

use super::*;
use crate::plans::following::tests::{decisions, plans, rule, write_on};
use crate::plans::load;

on_every_database!(
    one_check_makes_the_plans_of_its_tenant_alone,
    plans_that_a_change_touched_come_back,
    a_change_between_the_plan_of_a_pattern_and_the_snapshot_counts,
    a_failure_ends_a_pass_and_the_next_one_makes_all,
);

/// Patterns of which some are around others, and resources that they decide.
const PATTERNS: [&str; 7] = ["bill:read", "*", "doc:*", "doc:read", "x:*", "doc:write", "x:!"];
const RESOURCES: [&str; 5] = ["bill:read", "doc:read", "doc:write", "x:!", "x:y"];

async fn write_all(store: &Store, plans: &Plans, tenant: &str) {
    for (id, pattern) in (1..).zip(PATTERNS) {
        write_on(store, plans, tenant, id, pattern).await;
    }
}

async fn add_policy(store: &Store, plans: &Plans, id: u128, resource: &str) {
    let text = format!(
        r#"{{"name": "p{id}", "resource": "{resource}", "effect": "deny", "priority": {id},
            "rule_data": {{"type": "CONDITION", "attribute": "request.subject", "operator": "eq", "value": "{id}"}}}}"#
    );
    let json = portcullis_engine::json::parse(text.as_bytes()).expect("JSON");
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(0) };
    let policy = NewPolicy::parse(&json).expect("valid");
    let policy = policy.into_record(uuid::Uuid::from_u128(id), "acme", &by);
    let mut tx = store.write("acme", 0).await.expect("begins");
    policies::insert(&mut tx, &policy).await.expect("works");
    tx.pass_gates();
    plans.commit(tx).await.expect("commits");
}

/// Asserts that the plans of all resources are in memory and decide as those that are loaded alone.
async fn assert_ready(store: &Store, plans: &Plans) {
    let before = plans.metrics.loads.get();
    for resource in RESOURCES {
        let found = plans.find("acme", resource, 0).await.expect("a plan");
        let alone = load(store, "acme", resource).await.expect("loads");
        assert_eq!(found.revision(), alone.revision(), "{resource}");
        let decided = decisions(found.plan(), resource, 1..30);
        assert_eq!(decided, decisions(&alone, resource, 1..30), "{resource}");
    }
    assert_eq!(plans.metrics.loads.get(), before, "no check loads a plan");
}

async fn one_check_makes_the_plans_of_its_tenant_alone(database: TestDatabase) {
    let store = database.open().await;
    let there = plans(&store);
    write_all(&store, &there, "acme").await;
    write_all(&store, &there, "other").await;
    for (id, resource) in [(11, "bill:read"), (12, "doc:*"), (13, "doc:write"), (14, "x:!")] {
        add_policy(&store, &there, id, resource).await;
    }
    let here = plans(&store);
    here.warm().await;
    assert_eq!(here.cache.size().plans, 0, "nobody asked");
    here.find("acme", "bill:read", 0).await.expect("a plan");
    here.warm().await;
    assert_ready(&store, &here).await;
    assert_eq!(here.cache.latest("other"), None);
    // A policy on everything is a part of each plan that has its own.
    add_policy(&store, &there, 15, "*").await;
    let here = plans(&store);
    here.find("acme", "new:one", 0).await.expect("a plan");
    here.warm().await;
    assert_ready(&store, &here).await;
}

async fn plans_that_a_change_touched_come_back(database: TestDatabase) {
    let store = database.open().await;
    let here = plans(&store);
    let own: Vec<String> = (0..MANY_OUTDATED).map(|number| format!("many-{number}:read")).collect();
    let mut tx = store.write("acme", 0).await.expect("begins");
    for (id, resource) in (1_000..).zip(&own) {
        let inserted = rules::insert(&mut tx, &rule(id, resource)).await;
        assert!(inserted.expect("works"));
    }
    tx.pass_gates();
    here.commit(tx).await.expect("commits");
    write_all(&store, &here, "acme").await;
    here.find("acme", "bill:read", 0).await.expect("a plan");
    here.warm().await;
    // Everything, some plans, and one.
    for (id, pattern) in [(21, "*"), (22, "doc:*"), (23, "doc:read")] {
        write_on(&store, &here, "acme", id, pattern).await;
        here.find("acme", "doc:read", 0).await.expect("a plan");
        here.want_warm("acme", Instant::now() + MAX_REST);
        here.warm().await;
        assert_ready(&store, &here).await;
        let ready = own.iter().filter(|own| here.cache.find("acme", own, 0).is_some());
        assert_eq!(ready.count(), own.len(), "after {pattern}");
        here.want_warm("acme", Instant::now() + MAX_REST);
        assert!(here.warming.next().is_none(), "nothing changed since");
    }
}

/// The plan of `*` is valid at the revision that adds a pattern `<name>:*`.
async fn a_change_between_the_plan_of_a_pattern_and_the_snapshot_counts(database: TestDatabase) {
    let store = database.open().await;
    let here = plans(&store);
    write_on(&store, &here, "acme", 1, "doc:read").await;
    let everything = here.find("acme", WILDCARD, 0).await.expect("a plan");
    write_on(&store, &here, "acme", 2, "doc:*").await;
    let wanted = || vec![("doc:read".to_owned(), Arc::clone(&everything))];
    let read = async |wanted| {
        let read = parts::read(store.clone(), "acme".to_owned(), String::new(), wanted).await;
        let records = read.expect("reads");
        let facts = Arc::new(records.facts.clone());
        records.compile(&facts)
    };
    let alone = load(&store, "acme", "doc:read").await.expect("loads");
    let made = read(wanted()).await;
    assert_eq!(decisions(&made[0], "doc:read", 1..4), decisions(&alone, "doc:read", 1..4));
    // Of a plan that the change touches, nothing is made.
    write_on(&store, &here, "acme", 3, "*").await;
    assert!(read(wanted()).await.is_empty());
}

async fn a_failure_ends_a_pass_and_the_next_one_makes_all(database: TestDatabase) {
    let store = database.open().await;
    let here = plans(&store);
    write_all(&store, &here, "acme").await;
    here.find("acme", "bill:read", 0).await.expect("a plan");
    let mut pass = here.warming.next().expect("it is wanted");
    // Its first part makes everything: it fails before its end.
    pass.warmed = Some(here.cache.begin_warming("acme"));
    pass.warmed.as_ref().expect("it began").abandon();
    here.warming.end(&pass, Duration::ZERO, Instant::now());
    here.want_warm("acme", Instant::now());
    here.warm().await;
    assert_ready(&store, &here).await;
}
