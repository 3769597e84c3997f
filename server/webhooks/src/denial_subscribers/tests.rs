use portcullis_model::Timestamp;
use portcullis_model::webhook::{EventType, WebhookRecord};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use uuid::Uuid;

use super::*;

on_every_database!(
    a_tenant_is_read_once_and_again_after_a_change,
    a_read_that_began_before_a_change_is_not_kept,
);

/// Stores a webhook of `tenant` for events of `kind`.
async fn subscribe(store: &Store, tenant: &str, kind: EventType) {
    let mut tx = store.write(tenant, 0).await.expect("begins");
    let webhook = WebhookRecord {
        id: Uuid::from_u128(u128::from(kind == EventType::AccessDenied)),
        tenant_id: tenant.to_owned(),
        url: "https://hooks.example/".to_owned(),
        events: vec![kind],
        created_by: "ann".to_owned(),
        created_at: Timestamp::from_millis(0),
        updated_at: None,
        managed_by: None,
    };
    webhooks::insert(&mut tx, &webhook, b"sealed").await.expect("works");
    tx.commit().await.expect("commits");
}

async fn a_tenant_is_read_once_and_again_after_a_change(database: TestDatabase) {
    let store = database.open().await;
    let subscribers = DenialSubscribers::new(store.clone());
    assert!(subscribers.contains("acme"), "it is not known");
    subscribe(&store, "acme", EventType::PolicyRbacChanged).await;
    subscribe(&store, "bolt", EventType::AccessDenied).await;
    assert!(!subscribers.learn("acme").await.expect("works"), "another event");
    assert!(subscribers.learn("bolt").await.expect("works"));
    assert_eq!((subscribers.contains("acme"), subscribers.contains("bolt")), (false, true));
    subscribe(&store, "acme", EventType::AccessDenied).await;
    assert!(!subscribers.learn("acme").await.expect("works"), "nobody told of the change");
    subscribers.forget(["acme"]);
    assert_eq!((subscribers.contains("acme"), subscribers.len()), (true, 1));
    assert!(subscribers.learn("acme").await.expect("works"));
    subscribers.forget_all();
    assert_eq!(subscribers.len(), 0);
    store.close().await;
    assert!(subscribers.learn("acme").await.is_err());
    assert!(subscribers.contains("acme"), "a failure is not kept");
}

async fn a_read_that_began_before_a_change_is_not_kept(database: TestDatabase) {
    let subscribers = DenialSubscribers::new(database.open().await);
    let began = *subscribers.changes.lock();
    subscribers.forget(["acme"]);
    subscribers.keep(began, "acme", false);
    subscribers.keep(began, "bolt", false);
    assert_eq!(subscribers.len(), 0);
    subscribers.keep(began + 1, "acme", false);
    assert!(!subscribers.contains("acme"));
}

#[tokio::test]
async fn tenants_that_nobody_needs_leave_nothing_behind() {
    let Some(database) = TestDatabase::sqlite() else { return };
    let subscribers = DenialSubscribers::new(database.open().await);
    for number in 0..2 * MAX {
        subscribers.keep(0, &format!("tenant-{number}"), false);
        assert!(subscribers.len() <= MAX);
    }
    subscribers.keep(0, "used", false);
    for _ in 0..IDLE_ROUNDS {
        subscribers.tidy();
        assert!(!subscribers.contains("used"));
    }
    subscribers.tidy();
    assert_eq!(subscribers.len(), 1);
    (0..=IDLE_ROUNDS).for_each(|_| subscribers.tidy());
    assert_eq!(subscribers.len(), 0);
}
