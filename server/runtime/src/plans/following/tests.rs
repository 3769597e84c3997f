//! Two processes on one database, of which one follows the other without notifications.

use std::sync::Arc;
use std::time::Duration;

use portcullis_engine::{Check, CheckBody, Effect, Plan, ResourcePattern, RuleTuple, json};
use portcullis_model::clock::Clock;
use portcullis_model::rule::{NewRule, RuleOrigin, RuleRecord};
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::changes::{self, Changes, StreamPosition};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use portcullis_storage::{Store, rules};
use uuid::Uuid;

use crate::metrics::Metrics;
use crate::plans::{Plans, load};

on_every_database!(
    a_write_of_another_process_counts_after_the_next_read,
    only_the_tenants_that_changed_are_read,
    plans_of_a_tenant_that_nobody_wrote_to_stay,
    a_write_in_an_epoch_that_another_process_began_counts,
    no_plan_from_before_an_epoch_decides_after_it,
    a_commit_without_a_change_counts_with_the_revision_that_it_answers,
    shared_plans_are_as_plans_of_their_own,
    rules_on_every_resource_are_in_memory_once,
);

pub(crate) fn plans(store: &Store) -> Plans {
    let (staleness, clock) = (Duration::from_secs(30), Clock::system());
    Plans::new(store.clone(), 1 << 20, staleness, clock, Metrics::new().plans)
}

async fn write(store: &Store, plans: &Plans, tenant: &str, id: u128) {
    write_on(store, plans, tenant, id, "doc:read").await;
}

/// Returns a rule that names the subject `id`.
pub(crate) fn rule(id: u128, pattern: &str) -> RuleRecord {
    let tuple = RuleTuple {
        sub: id.to_string(),
        dom: "*".to_owned(),
        obj: ResourcePattern::parse(pattern).expect("a pattern"),
        act: "read".to_owned(),
    };
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(0) };
    let rule = NewRule { tuple, effect: Effect::Allow };
    rule.into_record(Uuid::from_u128(id), RuleOrigin::Explicit, &by)
}

pub(crate) async fn write_on(store: &Store, plans: &Plans, tenant: &str, id: u128, pattern: &str) {
    let mut tx = store.write(tenant, 0).await.expect("begins");
    assert!(rules::insert(&mut tx, &rule(id, pattern)).await.expect("works"));
    tx.pass_gates();
    plans.commit(tx).await.expect("commits");
}

async fn revision(plans: &Plans, tenant: &str) -> u64 {
    plans.find(tenant, "doc:read", 0).await.expect("a plan").revision()
}

async fn end(store: &Store) -> StreamPosition {
    changes::end(&mut store.begin_read_all().await.expect("begins")).await.expect("reads")
}

async fn read(store: &Store, position: &mut StreamPosition) -> Changes {
    let mut tx = store.begin_read_all().await.expect("begins");
    let changes = changes::since(&mut tx, position).await.expect("reads").expect("nothing is lost");
    *position = changes.position.clone();
    changes
}

async fn a_write_of_another_process_counts_after_the_next_read(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let (here, there) = (plans(&store), plans(&store));
    write(&store, &there, "acme", 1).await;
    let mut position = end(&store).await;
    assert_eq!(revision(&here, "acme").await, 1);
    write(&store, &there, "acme", 2).await;
    assert_eq!(revision(&here, "acme").await, 1, "the control: nothing was read");
    let changes = read(&store, &mut position).await;
    here.catch_up(&changes.tenants).await.expect("works");
    assert_eq!(revision(&here, "acme").await, 2);
    // Lost changes: everything that is in memory is compared.
    write(&store, &there, "acme", 3).await;
    here.compare_all().await.expect("works");
    assert_eq!(revision(&here, "acme").await, 3);
}

async fn only_the_tenants_that_changed_are_read(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let (here, there) = (plans(&store), plans(&store));
    let mut position = end(&store).await;
    for (number, tenant) in ["a", "b", "c"].into_iter().enumerate() {
        write(&store, &there, tenant, number as u128).await;
        assert_eq!(revision(&here, tenant).await, 1);
    }
    read(&store, &mut position).await;
    write(&store, &there, "b", 9).await;
    let changes = read(&store, &mut position).await;
    let names: Vec<_> = changes.tenants.iter().map(|change| &*change.tenant).collect();
    assert_eq!(names, ["b"]);
}

/// Else an outage right after would leave its checks without a plan.
async fn plans_of_a_tenant_that_nobody_wrote_to_stay(database: TestDatabase) {
    let store = database.open().await;
    let (here, there) = (plans(&store), plans(&store));
    assert_eq!(revision(&here, "acme").await, 0);
    here.compare_all().await.expect("works");
    assert_eq!(here.cache.latest("acme"), Some(0), "it is not forgotten");
    write(&store, &there, "acme", 1).await;
    here.compare_all().await.expect("works");
    assert_eq!(revision(&here, "acme").await, 1);
}

/// The write that notices the lost commits is acknowledged with the position that the epoch has by then.
async fn a_write_in_an_epoch_that_another_process_began_counts(database: TestDatabase) {
    let (store, other) = (database.open().await, database.open().await);
    let (here, there) = (plans(&store), plans(&other));
    write(&store, &here, "acme", 1).await;
    assert_eq!(revision(&here, "acme").await, 1);
    let turn = store.patient_turn("acme").await;
    let meanwhile = async {
        there.begin_epoch("acme", 1).await.expect("begins");
        let loaded = revision(&here, "acme").await;
        write(&other, &there, "acme", 2).await;
        drop(turn);
        loaded
    };
    let (position, loaded) = tokio::join!(here.begin_epoch("acme", 1), meanwhile);
    let acknowledged = position.expect("goes on").revision;
    assert!(acknowledged > loaded, "{acknowledged} after {loaded}");
    assert_eq!(revision(&here, "acme").await, acknowledged);
}

/// A write may tell its caller the revision of the epoch. A check loads a plan while the epoch waits to begin.
async fn no_plan_from_before_an_epoch_decides_after_it(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let plans = Arc::new(plans(&store));
    write(&store, &plans, "acme", 1).await;
    assert_eq!(revision(&plans, "acme").await, 1);
    let turn = store.turn("acme").await.expect("is free");
    let here = Arc::clone(&plans);
    let epoch = tokio::spawn(async move { here.begin_epoch("acme", 1).await });
    while plans.cache.latest("acme").is_some() {
        tokio::task::yield_now().await;
    }
    assert_eq!(revision(&plans, "acme").await, 1);
    drop(turn);
    let position = epoch.await.expect("no panic").expect("begins");
    assert_eq!(position.revision, (1 << 32) + 2);
    assert_eq!(revision(&plans, "acme").await, position.revision);
    // A second loss is noticed by the commit that it replaced.
    assert!(plans.histories.is_at("acme", &position));
}

/// A caller expects the next check of this process to be of that revision at least.
async fn a_commit_without_a_change_counts_with_the_revision_that_it_answers(
    database: TestDatabase,
) {
    let store = Arc::new(database.open().await);
    let (here, there) = (plans(&store), plans(&store));
    write(&store, &there, "acme", 1).await;
    assert_eq!(revision(&here, "acme").await, 1);
    write(&store, &there, "acme", 2).await;
    let tx = store.write("acme", 0).await.expect("begins");
    let committed = here.commit(tx).await.expect("commits");
    assert_eq!((committed.position.revision, committed.touched), (2, None));
    assert_eq!(revision(&here, "acme").await, 2);
}

/// Returns the rule that decides for each subject that a rule of these ids may name.
pub(crate) fn decisions(
    plan: &Plan,
    resource: &str,
    ids: std::ops::Range<u128>,
) -> Vec<Option<Uuid>> {
    let decide = |id: u128| {
        let body = format!(r#"{{"subject": "{id}", "resource": "{resource}", "action": "read"}}"#);
        let body = json::parse(body.as_bytes()).expect("JSON");
        let body = CheckBody::parse(&body).expect("a check");
        let check = Check::new(body, "acme", None, chrono::DateTime::UNIX_EPOCH);
        plan.evaluate(&check).rule_id()
    };
    ids.map(decide).collect()
}

async fn shared_plans_are_as_plans_of_their_own(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let plans = plans(&store);
    let patterns = ["bill:read", "*", "doc:*", "doc:read", "*", "x:*", "doc:*", "doc:write"];
    for (id, pattern) in (1..).zip(patterns) {
        write_on(&store, &plans, "acme", id, pattern).await;
        for resource in ["doc:read", "doc:write", "bill:read", "bill:write", "x:y", "new:one"] {
            let found = plans.find("acme", resource, 0).await.expect("a plan");
            let new = load(&store, "acme", resource).await.expect("loads");
            assert_eq!(u128::from(found.revision()), id, "{resource} after {pattern}");
            let decided = decisions(found.plan(), resource, 1..9);
            assert_eq!(decided, decisions(&new, resource, 1..9), "{resource} after {pattern}");
        }
    }
    let before = (plans.metrics.loads.get(), plans.measure());
    for number in 0..100 {
        plans.find("acme", &format!("invented-{number}:read"), 0).await.expect("a plan");
    }
    assert_eq!((plans.metrics.loads.get(), plans.measure()), before);
}

/// Twenty plans with a copy each would take twenty times the bytes of one.
async fn rules_on_every_resource_are_in_memory_once(database: TestDatabase) {
    let store = Arc::new(database.open().await);
    let (plans, resources) = (plans(&store), (0..20).map(|number| format!("doc-{number}:read")));
    let resources: Vec<String> = resources.collect();
    for id in 1..=200 {
        write_on(&store, &plans, "acme", id, "*").await;
    }
    for (id, resource) in (201..).zip(&resources) {
        write_on(&store, &plans, "acme", id, resource).await;
    }
    let whole = load(&store, "acme", &resources[0]).await.expect("loads").weight();
    let in_memory = async || {
        for resource in &resources {
            plans.find("acme", resource, 0).await.expect("a plan");
        }
        usize::try_from(plans.cache.size().bytes).expect("few")
    };
    let bytes = in_memory().await;
    assert!(bytes < 4 * whole, "{bytes} bytes, and a whole plan has {whole}");
    // A change of one of them is one of all plans.
    write_on(&store, &plans, "acme", 300, "*").await;
    let bytes = in_memory().await;
    assert!(bytes < 4 * whole, "{bytes} bytes, and a whole plan has {whole}");
    let found = plans.find("acme", &resources[7], 0).await.expect("a plan");
    let new = load(&store, "acme", &resources[7]).await.expect("loads");
    let decided = decisions(found.plan(), &resources[7], 1..301);
    assert_eq!(decided, decisions(&new, &resources[7], 1..301));
}
