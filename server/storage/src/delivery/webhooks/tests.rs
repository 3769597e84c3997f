//! The table of webhooks keeps records and encrypted secrets.

use super::*;
use crate::store::Store;
use crate::testing::{TestDatabase, on_every_database};

on_every_database!(
    what_is_inserted_is_found_and_listed,
    an_update_keeps_the_secret_unless_it_brings_one,
    a_deletion_says_whether_the_webhook_was_there,
    a_foreign_webhook_is_not_there,
    an_unknown_event_in_a_row_is_reported,
);

fn webhook(id: u128, tenant: &str) -> WebhookRecord {
    WebhookRecord {
        id: Uuid::from_u128(id),
        url: "https://hooks.example/".to_owned(),
        events: vec![EventType::AccessDenied, EventType::PolicyAbacCreated],
        tenant_id: tenant.to_owned(),
        created_by: "ann".to_owned(),
        created_at: Timestamp::from_millis(1_000),
        updated_at: None,
        managed_by: None,
    }
}

async fn insert_all(store: &Store, tenant: &str, ids: &[u128]) {
    let mut tx = store.write(tenant, 0).await.expect("begins");
    for id in ids {
        insert(&mut tx, &webhook(*id, tenant), b"encrypted").await.expect("works");
    }
    let committed = tx.commit().await.expect("commits");
    assert_eq!(
        (committed.position.revision, committed.touched),
        (0, None),
        "webhooks are no rules"
    );
}

async fn secret(tx: &mut Tx, id: u128) -> Vec<u8> {
    const SQL: &str = "SELECT secret FROM webhooks WHERE tenant_id = $1 AND id = $2";
    let row = fetch_optional!(tx, (Vec<u8>,), SQL, &tx.tenant, Uuid::from_u128(id));
    row.expect("works").expect("there").0
}

async fn ids(tx: &mut Tx, page: Page) -> Vec<u128> {
    let listed = list(tx, page).await.expect("works");
    listed.records.iter().map(|record| record.id.as_u128()).collect()
}

async fn what_is_inserted_is_found_and_listed(database: TestDatabase) {
    let store = database.open().await;
    insert_all(&store, "acme", &[3, 1, 2]).await;
    let mut tx = store.begin_read("acme").await.expect("begins");
    let found = find(&mut tx, Uuid::from_u128(2)).await.expect("works");
    assert_eq!(found, Some(webhook(2, "acme")));
    assert_eq!(find(&mut tx, Uuid::from_u128(4)).await.expect("works"), None);
    assert_eq!(ids(&mut tx, Page::FIRST).await, [1, 2, 3]);
    assert_eq!(ids(&mut tx, Page { after: Uuid::nil(), limit: 2 }).await, [1, 2]);
    assert_eq!(ids(&mut tx, Page { after: Uuid::from_u128(2), limit: 2 }).await, [3]);
}

async fn an_update_keeps_the_secret_unless_it_brings_one(database: TestDatabase) {
    let store = database.open().await;
    insert_all(&store, "acme", &[1, 2]).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    let mut changed = webhook(1, "acme");
    changed.url = "https://other.example/".to_owned();
    changed.events = vec![EventType::WebhookTest];
    changed.updated_at = Some(Timestamp::from_millis(2_000));
    update(&mut tx, &changed, None).await.expect("works");
    assert_eq!(secret(&mut tx, 1).await, b"encrypted");
    update(&mut tx, &changed, Some(b"another")).await.expect("works");
    assert_eq!(secret(&mut tx, 1).await, b"another");
    assert_eq!(find(&mut tx, changed.id).await.expect("works"), Some(changed));
    assert_eq!(find(&mut tx, Uuid::from_u128(2)).await.expect("works"), Some(webhook(2, "acme")));
    assert_eq!(secret(&mut tx, 2).await, b"encrypted");
}

async fn a_deletion_says_whether_the_webhook_was_there(database: TestDatabase) {
    let store = database.open().await;
    insert_all(&store, "acme", &[1, 2]).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert!(delete(&mut tx, Uuid::from_u128(1)).await.expect("works"));
    assert!(!delete(&mut tx, Uuid::from_u128(1)).await.expect("works"));
    assert_eq!(ids(&mut tx, Page::FIRST).await, [2]);
}

async fn a_foreign_webhook_is_not_there(database: TestDatabase) {
    let store = database.open().await;
    insert_all(&store, "a", &[1]).await;
    insert_all(&store, "b", &[1, 2]).await;
    let mut tx = store.write("a", 0).await.expect("begins");
    assert_eq!(find(&mut tx, Uuid::from_u128(2)).await.expect("works"), None);
    assert_eq!(ids(&mut tx, Page::FIRST).await, [1]);
    assert!(!delete(&mut tx, Uuid::from_u128(2)).await.expect("works"));
    let mut foreign = webhook(2, "b");
    foreign.url = "https://evil.example/".to_owned();
    update(&mut tx, &foreign, Some(b"known")).await.expect("changes nothing");
    // The same id in both tenants is two webhooks.
    assert!(delete(&mut tx, Uuid::from_u128(1)).await.expect("works"));
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("b").await.expect("begins");
    for id in [1, 2] {
        let kept = find(&mut tx, Uuid::from_u128(id)).await.expect("works");
        assert_eq!(kept, Some(webhook(id, "b")));
        assert_eq!(secret(&mut tx, id).await, b"encrypted");
    }
}

async fn an_unknown_event_in_a_row_is_reported(database: TestDatabase) {
    let store = database.open().await;
    insert_all(&store, "acme", &[1]).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    const SQL: &str = "UPDATE webhooks SET events = $2 WHERE tenant_id = $1";
    execute!(tx, SQL, &tx.tenant, r#"["access.allowed"]"#).expect("works");
    let error = find(&mut tx, Uuid::from_u128(1)).await.expect_err("unreadable");
    assert_eq!(error.to_string(), "cannot read the stored webhooks.events");
}
