//! Plans that were found at different revisions.

use std::time::Duration;

use portcullis_engine::json;
use portcullis_model::clock::Clock;
use portcullis_model::ids::Ids;
use portcullis_model::resource::Registration;
use portcullis_model::{Authorship, Timestamp};
use portcullis_runtime::metrics::PlanMetrics;
use portcullis_storage::Store;
use portcullis_storage::testing::{TestDatabase, on_every_database};

use super::*;
use crate::content::registration::register;

on_every_database!(
    plans_of_several_revisions_are_brought_to_the_latest,
    a_batch_has_a_limited_number_of_resources,
);

async fn plans(database: &TestDatabase) -> (Store, Plans) {
    let store = database.open().await;
    let staleness = Duration::from_secs(600);
    let plans =
        Plans::new(store.clone(), 1 << 20, staleness, Clock::system(), PlanMetrics::default());
    (store, plans)
}

/// Commits a change of `resource`.
async fn change(store: &Store, plans: &Plans, resource: &str) {
    let body = format!(r#"{{"name": "{resource}", "defaultRoles": ["reader"]}}"#);
    let body = json::parse(body.as_bytes()).expect("JSON");
    let registration = Registration::parse(&body).expect("valid");
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
    let mut tx = store.write("acme", 0).await.expect("begins");
    register(&mut tx, registration, "acme", &by, &Ids::new()).await.expect("works");
    tx.pass_gates();
    plans.commit(tx).await.expect("commits");
}

async fn plans_of_several_revisions_are_brought_to_the_latest(database: TestDatabase) {
    let (store, plans) = plans(&database).await;
    let resources = ["a:read", "b:read", "c:read"];
    let stale = plans.find("acme", "a:read", 0).await.expect("a plan");
    let untouched = plans.find("acme", "c:read", 0).await.expect("a plan");
    assert_eq!((stale.revision(), untouched.revision()), (0, 0));
    change(&store, &plans, "a:read").await;
    change(&store, &plans, "b:read").await;
    let newest = plans.find("acme", "b:read", 0).await.expect("a plan");
    let found = vec![stale, newest, Arc::clone(&untouched)];
    let common = agree(&plans, "acme", &resources, found).await.expect("agrees");
    assert_eq!(common.revision, 2);
    let loaded: Vec<_> = common.plans.iter().map(|plan| plan.plan().revision()).collect();
    // The plan of the resource that changed is a new one; the one that nothing touched is the same.
    assert!(loaded[0] >= 1, "{loaded:?}");
    assert!(Arc::ptr_eq(&common.plans[2], &untouched));
    assert!(common.plans.iter().all(|plan| plan.revision() >= 2));
}

async fn a_batch_has_a_limited_number_of_resources(database: TestDatabase) {
    let (_, plans) = plans(&database).await;
    let names: Vec<_> = (0..=MAX_RESOURCES).map(|number| format!("a:{number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let refused = find(&plans, "acme", &names, 0).await.expect_err("too many");
    assert!(matches!(refused, OperationError::BadRequest(_)), "{refused:?}");
}
