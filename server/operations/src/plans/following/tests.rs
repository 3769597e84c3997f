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
    a_write_in_an_epoch_that_another_process_began_counts,
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

/// The write that notices the lost commits is acknowledged with the position that the epoch has by then.
async fn a_write_in_an_epoch_that_another_process_began_counts(database: TestDatabase) {
    let (store, other) = (database.open().await, database.open().await);
    let (here, there) = (plans(&store), plans(&other));
    write(&store, &here, "acme", 1).await;
    assert_eq!(revision(&here, "acme").await, 1);
    let turn = store.patient_turn("acme").await.expect("nobody writes");
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
