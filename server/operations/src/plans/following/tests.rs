//! Two processes on one database, of which one follows the other without notifications.

use std::sync::Arc;
use std::time::Duration;

use portcullis_engine::{Effect, ResourcePattern, RuleTuple};
use portcullis_model::clock::Clock;
use portcullis_model::rule::{NewRule, RuleOrigin};
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::changes::{self, Changes, StreamPosition};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use portcullis_storage::{Store, rules};
use uuid::Uuid;

use crate::metrics::Metrics;
use crate::plans::Plans;

on_every_database!(
    a_write_of_another_process_counts_after_the_next_read,
    only_the_tenants_that_changed_are_read,
    no_plan_from_before_an_epoch_decides_after_it,
    a_commit_without_a_change_counts_with_the_revision_that_it_answers,
);

fn plans(store: &Store) -> Plans {
    let (staleness, clock) = (Duration::from_secs(30), Clock::system());
    Plans::new(store.clone(), 1 << 20, staleness, clock, Metrics::new().plans)
}

async fn write(store: &Store, plans: &Plans, tenant: &str, id: u128) {
    let tuple = RuleTuple {
        sub: id.to_string(),
        dom: "*".to_owned(),
        obj: ResourcePattern::parse("doc:read").expect("a pattern"),
        act: "read".to_owned(),
    };
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(0) };
    let rule = NewRule { tuple, effect: Effect::Allow };
    let rule = rule.into_record(Uuid::from_u128(id), RuleOrigin::Explicit, &by);
    let mut tx = store.write(tenant, 0).await.expect("begins");
    assert!(rules::insert(&mut tx, &rule).await.expect("works"));
    tx.pass_gates();
    plans.commit(tx).await.expect("commits");
}

async fn revision(plans: &Plans, tenant: &str) -> u64 {
    plans.find(tenant, "doc:read", 0).await.expect("a plan").revision()
}

async fn end(store: &Store) -> StreamPosition {
    changes::end(&mut store.read_all().await.expect("begins")).await.expect("reads")
}

async fn read(store: &Store, position: &mut StreamPosition) -> Changes {
    let mut tx = store.read_all().await.expect("begins");
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

/// Its caller may send it to this process as the least revision of a check, and expects it without that, too.
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
