//! The wall between tenants behind the statements that find a row by its hash alone.

use portcullis_model::Timestamp;
use portcullis_model::session::{SessionLink, SessionRecord};
use uuid::Uuid;

use super::{session_links, sessions};
use crate::testing::{TestDatabase, on_every_database};

on_every_database!(
    a_tenant_finds_no_session_and_no_link_of_another,
    tokens_are_refreshed_by_one_process_once,
);

/// A session of `north`.
fn session() -> SessionRecord {
    SessionRecord {
        id: Uuid::from_u128(1),
        tenant_id: "north".to_owned(),
        subject: "ann".to_owned(),
        provider_id: None,
        issuer: Some("https://id.example".to_owned()),
        login_subject: Some("ann".to_owned()),
        login_session: None,
        tokens: vec![1],
        created_at: Timestamp::from_millis(0),
        used_at: Timestamp::from_millis(0),
        ends_at: Timestamp::from_millis(1_000),
        token_ends_at: None,
        refreshing_until: None,
    }
}

async fn a_tenant_finds_no_session_and_no_link_of_another(database: TestDatabase) {
    let store = database.open().await;
    let (at, hash) = (Timestamp::from_millis(0), [7; 32]);
    let session = session();
    let link = SessionLink {
        id: session.id,
        tenant_id: "north".to_owned(),
        subject: "ann".to_owned(),
        roles: Vec::new(),
        created_at: at,
        expires_at: Timestamp::from_millis(1_000),
    };
    for tenant in ["north", "south"] {
        let mut tx = store.write(tenant, 0).await.expect("begins");
        if tenant == "north" {
            sessions::insert(&mut tx, &session, &hash).await.expect("works");
            session_links::insert(&mut tx, &link, &hash).await.expect("works");
        }
        tx.commit().await.expect("commits");
    }
    let mut tx = store.write_as("south").await.expect("begins");
    assert_eq!(sessions::find(&mut tx, &hash).await.expect("works"), None);
    assert!(!sessions::delete(&mut tx, "ann", session.id).await.expect("works"));
    assert!(!session_links::take(&mut tx, &hash).await.expect("works"));
    // What names no tenant is behind the wall of the database, where it has one.
    if matches!(database, TestDatabase::Postgres(_)) {
        assert_eq!(sessions::find_anywhere(&mut tx, &hash).await.expect("works"), None);
        assert_eq!(session_links::find(&mut tx, &hash, at).await.expect("works"), None);
        let ended = sessions::end_logins(&mut tx, "https://id.example", Some("ann"), None).await;
        assert_eq!(ended.expect("works"), 0);
    }
    tx.commit().await.expect("commits");
    let mut tx = store.write_as("north").await.expect("begins");
    assert!(sessions::find(&mut tx, &hash).await.expect("works").is_some(), "the control");
    assert!(session_links::take(&mut tx, &hash).await.expect("works"), "the control");
    tx.commit().await.expect("commits");
}

async fn tokens_are_refreshed_by_one_process_once(database: TestDatabase) {
    let store = database.open().await;
    let (hash, read) = ([7; 32], session());
    let at = Timestamp::from_millis;
    let mut tx = store.write("north", 0).await.expect("begins");
    sessions::insert(&mut tx, &read, &hash).await.expect("works");
    for (now, is_taken) in [(0, true), (9, false), (10, true)] {
        let taken = sessions::begin_refresh(&mut tx, &read, at(now), at(now + 10)).await;
        assert_eq!(taken.expect("works"), is_taken, "at {now}");
    }
    sessions::refreshed(&mut tx, read.id, &[2], Some(at(100))).await.expect("works");
    // Whoever read the session before has tokens that the provider took already.
    assert!(!sessions::begin_refresh(&mut tx, &read, at(12), at(22)).await.expect("works"));
    let again = sessions::find(&mut tx, &hash).await.expect("works").expect("a session");
    assert!(sessions::begin_refresh(&mut tx, &again, at(12), at(22)).await.expect("works"));
    tx.commit().await.expect("commits");
}
