//! Entities, on every database.

use portcullis_engine::json;
use portcullis_model::entity::EntitiesBody;
use portcullis_model::input::DeclaredBody;
use serde_json::{Value, json};

use super::lists::{changed_since, page};
use super::rows::EntityRow;
use super::*;
use crate::commits::commit::Committed;
use crate::people::syncs::SyncEnd;
use crate::store::Store;
use crate::testing::{TestDatabase, execute, on_every_database};

on_every_database!(
    an_entity_comes_back_as_it_went_in,
    what_does_not_change_raises_no_revision,
    the_first_entity_touches_the_plans_and_no_later_one,
    the_end_of_a_sync_deletes_what_it_did_not_name,
    changes_are_read_since_a_revision,
    principals_and_roles_do_not_meet,
    pages_follow_one_another,
    a_table_has_the_entities_of_every_page,
    a_table_refuses_content_that_is_no_json,
    an_epoch_is_above_every_lost_revision,
    the_first_entity_is_in_the_epoch_of_the_rules,
);

const TENANT: &str = "acme";

fn entities(sent: &Value) -> Vec<NewEntity> {
    let text = json!({"entities": sent}).to_string();
    let json = json::parse(text.as_bytes()).expect("JSON");
    EntitiesBody::parse(&json).expect("sound").entities
}

async fn write(store: &Store, sent: &Value, origin: EntityOrigin<'_>) -> (Upserted, Committed) {
    let mut tx = store.write(TENANT, 7).await.expect("begins");
    let sent = entities(sent);
    let upsert = Upsert::compare(&mut tx, &sent, origin).await.expect("works");
    let upserted = upsert.write(&mut tx).await.expect("works");
    (upserted, tx.commit().await.expect("commits"))
}

fn alice() -> Value {
    json!({
        "type": "user", "id": "alice", "roles": ["doctor"], "domain_roles": {"ws-1": ["owner"]},
        "properties": {"ward": "er", "level": 3, "tags": ["a", 1], "on": true},
    })
}

async fn get(store: &Store, kind: &str, id: &str) -> Option<EntityRecord> {
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    find(&mut tx, kind, id).await.expect("works")
}

async fn an_entity_comes_back_as_it_went_in(database: TestDatabase) {
    let store = database.open().await;
    write(&store, &json!([alice()]), EntityOrigin { source: Some("hr"), sync: None }).await;
    let mut expected = alice();
    expected["source"] = json!("hr");
    expected["updated_at"] = json!("1970-01-01T00:00:00.007Z");
    let found = get(&store, "user", "alice").await.expect("stored");
    assert_eq!(json!(found), expected);
    assert_eq!(get(&store, "chart", "alice").await, None);
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    assert!(delete(&mut tx, "user", "alice").await.expect("works"));
    assert!(!delete(&mut tx, "user", "alice").await.expect("works"), "it is gone");
    tx.commit().await.expect("commits");
    assert_eq!(get(&store, "user", "alice").await, None);
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let state = state(&mut tx).await.expect("works");
    assert_eq!((state.position.revision, state.entities), (2, 0));
    assert_eq!(crate::tenancy::tenants::revision(&mut tx).await.expect("works"), 1);
    assert_eq!(store.begin_read("other").await.expect("begins").tenant(), "other");
}

async fn what_does_not_change_raises_no_revision(database: TestDatabase) {
    let store = database.open().await;
    let (first, committed) = write(&store, &json!([alice()]), EntityOrigin::default()).await;
    assert_eq!(first, Upserted { written: 1, unchanged: 0 });
    assert_eq!(committed.entities.map(|position| position.revision), Some(1));
    let (second, committed) = write(&store, &json!([alice()]), EntityOrigin::default()).await;
    assert_eq!(second, Upserted { written: 0, unchanged: 1 });
    assert_eq!(committed.entities, None);
    let both = json!([alice(), {"type": "chart", "id": "c"}]);
    let (third, committed) = write(&store, &both, EntityOrigin::default()).await;
    assert_eq!(third, Upserted { written: 1, unchanged: 1 });
    assert_eq!(committed.entities.map(|position| position.revision), Some(2));
}

async fn the_first_entity_touches_the_plans_and_no_later_one(database: TestDatabase) {
    let store = database.open().await;
    let (_, first) = write(&store, &json!([alice()]), EntityOrigin::default()).await;
    assert_eq!((first.position.revision, first.touched.is_some()), (1, true));
    let bob = json!([{"type": "user", "id": "bob"}]);
    let (_, second) = write(&store, &bob, EntityOrigin::default()).await;
    assert_eq!((second.position.revision, second.touched), (1, None));
}

async fn the_end_of_a_sync_deletes_what_it_did_not_name(database: TestDatabase) {
    let store = database.open().await;
    let user = |id: &str| json!({"type": "user", "id": id, "roles": ["r"]});
    let all: Vec<Value> = (0..5).map(|number| user(&number.to_string())).collect();
    let hr = EntityOrigin { source: Some("hr"), sync: None };
    write(&store, &json!(all), hr).await;
    write(&store, &json!([user("by hand")]), EntityOrigin::default()).await;
    let id = Uuid::from_u128(9);
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    crate::people::syncs::begin(&mut tx, &syncs::SYNCS, "hr", id).await.expect("works");
    tx.commit().await.expect("commits");
    let sync = EntityOrigin { source: Some("hr"), sync: Some(id) };
    let (named, committed) = write(&store, &json!([user("1"), user("3")]), sync).await;
    assert_eq!((named.unchanged, committed.entities), (2, None), "the marks are no change");
    assert!(get(&store, "user", "0").await.is_some(), "nothing goes before the end");
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    let open = crate::people::syncs::OpenSync { id, records: 5 };
    assert_eq!(
        crate::people::syncs::current(&mut tx, &syncs::SYNCS, "hr").await.expect("works"),
        Some(open)
    );
    assert_eq!(
        syncs::finish(&mut tx, SyncEnd { source: "hr", id, most: 2 }).await.expect("works"),
        Err(3)
    );
    drop(tx);
    assert!(get(&store, "user", "0").await.is_some(), "nothing goes beyond the limit");
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    assert_eq!(
        syncs::finish(&mut tx, SyncEnd { source: "hr", id, most: 3 }).await.expect("works"),
        Ok(3)
    );
    assert_eq!(
        crate::people::syncs::current(&mut tx, &syncs::SYNCS, "hr").await.expect("works"),
        None
    );
    assert_eq!(tx.commit().await.expect("commits").entities.map(|one| one.revision), Some(3));
    let mut left = Vec::new();
    for id in ["0", "1", "2", "3", "4", "by hand"] {
        left.extend(get(&store, "user", id).await.map(|entity| entity.id));
    }
    assert_eq!(left, ["1", "3", "by hand"]);
}

async fn changes_are_read_since_a_revision(database: TestDatabase) {
    let store = database.open().await;
    write(&store, &json!([alice(), {"type": "chart", "id": "c"}]), EntityOrigin::default()).await;
    write(&store, &json!([{"type": "chart", "id": "d"}]), EntityOrigin::default()).await;
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    assert!(delete(&mut tx, "chart", "c").await.expect("works"));
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    for (since, expected) in
        [(0, vec!["alice", "d", "-c"]), (1, vec!["d", "-c"]), (2, vec!["-c"]), (3, vec![])]
    {
        let rows = changed_since(&mut tx, since, 10).await.expect("works");
        let shown =
            |row: StoredEntity| if row.is_deleted { format!("-{}", row.id) } else { row.id };
        assert_eq!(rows.into_iter().map(shown).collect::<Vec<_>>(), expected);
    }
    let page = page(&mut tx, ("", ""), 10).await.expect("works");
    let rows = page.read(EntityRow::read, "entities").expect("sound");
    let mut ids: Vec<_> = rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["alice", "d"]);
}

async fn principals_and_roles_do_not_meet(database: TestDatabase) {
    let store = database.open().await;
    let stored = json!([
        {"type": "user", "id": "alice", "roles": ["doctor"], "domain_roles": {"d": ["svc:owner"]}},
        {"type": "user", "id": "svc:ci"},
        {"type": "svc", "id": "bot"},
    ]);
    write(&store, &stored, EntityOrigin::default()).await;
    let user = |id: &str, roles: &[&str]| json!({"type": "user", "id": id, "roles": roles});
    let service = |id: &str| json!({"type": "svc", "id": id});
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    for (sent, expected) in [
        (json!([user("bob", &["doctor"]), service("new")]), None),
        (json!([user("bob", &[]), user("doctor", &[])]), Some(NameClash::EntityIsRole(1))),
        (json!([service("owner")]), Some(NameClash::EntityIsRole(0))),
        (json!([user("bob", &["x"]), user("x", &[])]), Some(NameClash::EntityIsRole(1))),
        (json!([service("ci")]), Some(NameClash::EntityIsEntity(0))),
        (json!([user("svc:bot", &[])]), Some(NameClash::EntityIsEntity(0))),
        (json!([user("svc:x", &[]), service("x")]), Some(NameClash::EntityIsEntity(1))),
        (json!([user("bob", &["alice"])]), Some(NameClash::RoleIsEntity("alice".to_owned()))),
        (json!([user("bob", &["svc:bot"])]), Some(NameClash::RoleIsEntity("svc:bot".to_owned()))),
    ] {
        assert_eq!(clash(&mut tx, &entities(&sent)).await.expect("works"), expected, "{sent}");
    }
    // A role that nobody has any more is none.
    assert!(delete(&mut tx, "user", "alice").await.expect("works"));
    assert_eq!(clash(&mut tx, &entities(&json!([service("owner")]))).await.expect("works"), None);
}

async fn pages_follow_one_another(database: TestDatabase) {
    let store = database.open().await;
    let all: Vec<Value> = ["a", "b"]
        .iter()
        .flat_map(|kind| (0..3).map(move |id| json!({"type": kind, "id": id.to_string()})))
        .collect();
    write(&store, &json!(all), EntityOrigin::default()).await;
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let first = list(&mut tx, None, ("", ""), 4).await.expect("works");
    assert_eq!((first.records.len(), first.more), (4, true));
    let last = first.records.last().expect("a record");
    assert_eq!((&*last.kind, &*last.id), ("b", "0"));
    let second = list(&mut tx, None, ("b", "0"), 4).await.expect("works");
    assert_eq!((second.records.len(), second.more), (2, false));
    let of_type = list(&mut tx, Some("b"), ("", ""), 9).await.expect("works");
    assert_eq!(of_type.records.len(), 3);
    assert_eq!(list(&mut tx, Some("c"), ("", ""), 9).await.expect("works").records.len(), 0);
}

async fn a_table_has_the_entities_of_every_page(database: TestDatabase) {
    let store = database.open().await;
    write(&store, &json!([alice(), {"type": "chart", "id": "1:é\n"}]), EntityOrigin::default())
        .await;
    // Two pages of notes, so that a page ends inside a type.
    let notes = "INSERT INTO entities (tenant_id, type, id, roles, domain_roles, properties, revision, updated_at, \
        is_deleted) WITH RECURSIVE series(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM series WHERE n < 4001) \
        SELECT 'acme', 'note', 'n:' || n, '[]', '{}', '{\"n\":' || n || '}', 1, 0, n = 4001 FROM series";
    execute(&store, [notes.to_owned()]).await;
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let table = table(&mut tx).await.expect("works").expect("fits");
    let numbers = |id: &str| table.get("note", id).map(|note| format!("{:?}", note.properties()));
    assert_eq!(table.for_type("note", None).count(), 4_000);
    for n in [1, 1_998, 2_000, 4_000] {
        assert_eq!(numbers(&format!("n:{n}")), Some(format!("{{\"n\": Number({n})}}")));
    }
    assert_eq!(numbers("n:4001"), None, "it is deleted");
    assert!(table.get("chart", "1:é\n").is_some());
    let alice = table.get("user", "alice").expect("an entity");
    assert_eq!(alice.roles_in("ws-1").collect::<Vec<_>>(), ["doctor", "owner"]);
    let mut tx = store.begin_read("other").await.expect("begins");
    let others = super::table(&mut tx).await.expect("works").expect("fits");
    assert!(others.get("user", "alice").is_none(), "it is of another tenant");
}

async fn a_table_refuses_content_that_is_no_json(database: TestDatabase) {
    let store = database.open().await;
    write(&store, &json!([alice()]), EntityOrigin::default()).await;
    execute(&store, ["UPDATE entities SET roles = '['".to_owned()]).await;
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let read = table(&mut tx).await;
    assert!(matches!(read, Err(StoreError::Corrupt { what: "entities.roles" })), "{read:?}");
}

async fn an_epoch_is_above_every_lost_revision(database: TestDatabase) {
    let store = database.open().await;
    write(&store, &json!([alice()]), EntityOrigin::default()).await;
    let mut revisions = Vec::new();
    // Another process begins the same epoch, and then the database loses changes again.
    for lost in [7, 7, (1 << 32) + 9] {
        let mut tx = store.write(TENANT, 7).await.expect("begins");
        begin_epoch(&mut tx, lost).await.expect("works");
        let committed = tx.commit().await.expect("commits");
        assert!(committed.touched.is_none(), "no plan is concerned");
        revisions.push(committed.entities.map(|position| position.revision));
    }
    assert_eq!(revisions, [Some((1 << 32) + 2), None, Some((2 << 32) + 3)]);
    let bob = json!([{"type": "user", "id": "bob"}]);
    let (_, committed) = write(&store, &bob, EntityOrigin::default()).await;
    assert_eq!(committed.entities.expect("a change").revision, (2 << 32) + 4);
}

async fn the_first_entity_is_in_the_epoch_of_the_rules(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write(TENANT, 7).await.expect("begins");
    begin_epoch(&mut tx, 7).await.expect("works");
    assert!(crate::tenancy::tenants::begin_epoch(&mut tx, 7).await.expect("works"));
    assert!(
        !crate::tenancy::tenants::begin_epoch(&mut tx, 7).await.expect("works"),
        "it has begun"
    );
    let committed = tx.commit().await.expect("commits");
    assert!(committed.entities.is_none(), "there is no directory");
    let (_, committed) = write(&store, &json!([alice()]), EntityOrigin::default()).await;
    assert_eq!(committed.entities.expect("a change").revision, (1 << 32) + 1);
    assert!(committed.touched.is_some(), "plans do not know the directory yet");
}
