use chrono::DateTime;
use portcullis_directory::{GraphBuffer, Object, RelationNumber, SubjectClaims};
use portcullis_engine::json;
use portcullis_model::entity::EntitiesBody;
use portcullis_model::input::DeclaredBody;
use portcullis_model::relation::ObjectName;
use portcullis_model::types::TypeBody;
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::entities::EntityOrigin;
use portcullis_storage::epoch;
use portcullis_storage::relations::{self, NumberedTuple, TupleKey};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use portcullis_storage::{plan_records, types};
use serde_json::json;

use super::*;

on_every_database!(
    a_table_is_never_older_than_a_noted_commit,
    a_commit_during_a_load_is_noticed,
    changes_of_another_process_are_found_by_the_poll,
    a_history_that_was_replaced_begins_an_epoch,
    tables_keep_to_their_memory,
    a_graph_has_the_tuples_of_its_revision,
);

const MIB: u64 = 1 << 20;

/// Writes the user `id` with the property `n`. Returns the place after it.
async fn write(store: &Store, tenant: &str, id: &str, n: u32) -> HistoryPosition {
    let body = json!({"entities": [{"type": "user", "id": id, "properties": {"n": n}}]});
    let text = body.to_string();
    let body = json::parse(text.as_bytes()).expect("JSON");
    let body = EntitiesBody::parse(&body).expect("sound");
    let mut tx = store.write(tenant, 0).await.expect("begins");
    let origin = EntityOrigin::default();
    let upsert = entities::Upsert::compare(&mut tx, &body.entities, origin).await.expect("works");
    upsert.write(&mut tx).await.expect("works");
    tx.commit().await.expect("commits").entities.expect("a change")
}

fn tables(store: &Store, most: u64) -> EntityTables {
    EntityTables::new(store.clone(), most, Duration::from_secs(600), Clock::system())
}

/// The property `n` of the user `id`.
fn n(loaded: &LoadedEntities, id: &str) -> Option<String> {
    let entity = loaded.table.get("user", id)?;
    Some(format!("{:?}", entity.properties().get("n")?))
}

async fn a_table_is_never_older_than_a_noted_commit(database: TestDatabase) {
    let store = database.open().await;
    let tables = tables(&store, MIB);
    tables.committed("acme", &write(&store, "acme", "ann", 1).await).await;
    assert_eq!(tables.count(), 0, "nobody needs it");
    assert!(tables.ready("acme").expect("fresh").is_none());
    let first = tables.table("acme").await.expect("loads");
    assert_eq!(n(&first, "ann").as_deref(), Some("Number(1)"));
    let position = write(&store, "acme", "ann", 2).await;
    // Whoever does not note the commit reads old entities: the test can fail.
    let stale = tables.ready("acme").expect("fresh").expect("in memory");
    assert_eq!(n(&stale, "ann").as_deref(), Some("Number(1)"));
    tables.note("acme", &position).await;
    assert!(tables.ready("acme").expect("fresh").is_none(), "it is outdated");
    let second = tables.table("acme").await.expect("loads");
    assert_eq!(n(&second, "ann").as_deref(), Some("Number(2)"));
    // A table that was used is up to date before the write is acknowledged.
    tables.committed("acme", &write(&store, "acme", "bob", 3).await).await;
    let third = tables.ready("acme").expect("fresh").expect("up to date");
    assert_eq!(n(&third, "bob").as_deref(), Some("Number(3)"));
    assert_eq!(n(&third, "ann").as_deref(), Some("Number(2)"));
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert!(entities::delete(&mut tx, "user", "ann").await.expect("works"));
    let position = tx.commit().await.expect("commits").entities.expect("a change");
    tables.committed("acme", &position).await;
    assert_eq!(n(&tables.table("acme").await.expect("loads"), "ann"), None);
}

async fn a_commit_during_a_load_is_noticed(database: TestDatabase) {
    let store = database.open().await;
    let tables = tables(&store, MIB);
    write(&store, "acme", "ann", 1).await;
    // The place is there before the read begins. A commit that the read does not see is noted in it.
    let table = tables.enter("acme");
    let read = load::load(store.clone(), "acme".to_owned(), MIB, Arc::clone(&table)).await;
    let position = write(&store, "acme", "ann", 2).await;
    tables.note("acme", &position).await;
    table.store(read.expect("loads"));
    assert!(tables.ready("acme").expect("fresh").is_none());
    let loaded = tables.table("acme").await.expect("loads");
    assert_eq!(n(&loaded, "ann").as_deref(), Some("Number(2)"));
}

async fn changes_of_another_process_are_found_by_the_poll(database: TestDatabase) {
    let store = database.open().await;
    let tables = tables(&store, MIB);
    write(&store, "acme", "ann", 1).await;
    tables.table("acme").await.expect("loads");
    write(&store, "acme", "ann", 2).await;
    tables.round().await.expect("works");
    assert!(tables.ready("acme").expect("fresh").is_none());
    let loaded = tables.table("acme").await.expect("loads");
    assert_eq!((loaded.position.revision, n(&loaded, "ann").is_some()), (2, true));
    tables.round().await.expect("works");
    assert!(tables.ready("acme").expect("fresh").is_some(), "nothing changed");
}

/// The database has other commits than the last known one, as after the restore of a backup.
async fn a_history_that_was_replaced_begins_an_epoch(database: TestDatabase) {
    let store = database.open().await;
    let elsewhere = TestDatabase::sqlite().expect("a database");
    let elsewhere = elsewhere.open().await;
    write(&elsewhere, "acme", "eve", 1).await;
    let lost = write(&elsewhere, "acme", "eve", 2).await;
    for tenant in ["poll", "load", "commit", "demand", "notice"] {
        let first = write(&store, tenant, "ann", 1).await;
        let tables = tables(&store, MIB);
        let loaded = tables.table(tenant).await.expect("loads");
        let known = (loaded.table.clone(), loaded.tuples.clone());
        tables.forget(tenant);
        let place = tables.enter(tenant);
        place.note(lost.clone());
        place.store(Arc::new(LoadedEntities::new(known, lost.clone(), None, MIB)));
        tables.note_reached(tenant, lost.clone(), 1).await.expect("nobody knows yet");
        assert_eq!(tables.reached(tenant, lost.revision), Some(1));
        match tenant {
            "poll" => tables.round().await.expect("works"),
            "load" => {
                place.clear();
                let refused = tables.table(tenant).await.expect_err("not what was demanded");
                assert!(matches!(refused, EntitiesError::Lost(2)), "{refused}");
            }
            "commit" => tables.committed(tenant, &write(&store, tenant, "ann", 2).await).await,
            "demand" => {
                let position = write(&store, tenant, "ann", 2).await;
                let refused = tables.note_reached(tenant, position, 1).await;
                assert!(matches!(refused, Err(EntitiesError::Lost(2))), "{refused:?}");
            }
            // It names too few commits to tell. The poll still knows the lost one.
            _ => {
                let mut position = first;
                for n in 2..6 {
                    position = write(&store, tenant, "ann", n).await;
                }
                let notice =
                    EntitiesNotice { tenant: tenant.to_owned(), position: position.recent() };
                tables.publish(&notice).await;
                assert!(tables.ready(tenant).expect("fresh").is_none());
                tables.round().await.expect("works");
            }
        }
        let loaded = tables.table(tenant).await.expect("loads");
        assert_eq!(epoch(loaded.position.revision), 1, "{tenant}");
        assert!(n(&loaded, "ann").is_some() && n(&loaded, "eve").is_none(), "{tenant}");
        assert_eq!(tables.reached(tenant, lost.revision), None, "{tenant}");
        let next = write(&store, tenant, "ann", 9).await;
        assert_eq!(next.revision, loaded.position.revision + 1, "{tenant}");
    }
}

async fn tables_keep_to_their_memory(database: TestDatabase) {
    let store = database.open().await;
    for tenant in ["a", "b", "c"] {
        for id in 0..3 {
            write(&store, tenant, &format!("user-{id}"), id).await;
        }
    }
    let weight = tables(&store, MIB).table("a").await.expect("loads").weight() + 512;
    let two = tables(&store, 2 * weight);
    for tenant in ["a", "b", "a", "c"] {
        two.table(tenant).await.expect("loads");
    }
    let left = |tenant| two.ready(tenant).expect("fresh").is_some();
    assert_eq!((left("a"), left("b"), left("c")), (true, false, true));
    let small = tables(&store, weight);
    for _ in 0..2 {
        let refused = small.table("a").await.expect_err("more than a share");
        assert!(matches!(refused, EntitiesError::TooLarge), "{refused}");
    }
}

/// Declares the relation `member` of groups.
async fn declare(store: &Store) -> Arc<str> {
    let json = json::parse(br#"{"relations": {"member": "[user]"}}"#).expect("JSON");
    let declared = TypeBody::parse(&json).and_then(|body| body.into_type("group"));
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(0) };
    let mut tx = store.write("acme", 0).await.expect("begins");
    let record = declared.expect("sound").into_record(&by);
    types::store(&mut tx, &record).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.begin_read("acme").await.expect("begins");
    let facts = plan_records::facts(&mut tx).await.expect("works");
    tx.end().await.expect("ends");
    facts.relations.expect("a relation")
}

/// Writes or deletes the membership of a user in the group `eng`.
async fn change_member(store: &Store, id: &str, is_member: bool) -> HistoryPosition {
    let name = |text: &str| ObjectName::parse(text).expect("a name");
    let key = TupleKey {
        object: name("group:eng"),
        relation: RelationNumber(1),
        subject: name(&format!("user:{id}")),
        subject_relation: None,
    };
    let mut tx = store.write("acme", 0).await.expect("begins");
    if is_member {
        let tuple = NumberedTuple { key, expires_at: None };
        relations::write(&mut tx, &[tuple], EntityOrigin::default()).await.expect("works");
    } else {
        relations::delete(&mut tx, &[key]).await.expect("works");
    }
    tx.commit().await.expect("commits").entities.expect("a change")
}

async fn a_graph_has_the_tuples_of_its_revision(database: TestDatabase) {
    let store = database.open().await;
    let tables = tables(&store, MIB);
    let declared = declare(&store).await;
    let is_member = |loaded: &LoadedEntities, id: &str| {
        let graph = loaded.graph(&declared).expect("sound types");
        let (user, buffer) = (Object { object_type: "user", id }, &mut GraphBuffer::default());
        let subject = graph.subject(user, SubjectClaims::default(), DateTime::UNIX_EPOCH, buffer);
        let member = graph.schema().relation("group", "member").expect("a relation");
        subject.has(member, "eng", &[], buffer).expect("few edges")
    };
    let first = tables.table("acme").await.expect("loads");
    assert!(!is_member(&first, "ann"));
    let known = first.graph(&declared).expect("sound types");
    let again = first.graph(&Arc::from(&*declared)).expect("sound types");
    assert!(Arc::ptr_eq(&known, &again), "equal types are compiled once");
    tables.committed("acme", &change_member(&store, "ann", true).await).await;
    let second = tables.table("acme").await.expect("loads");
    assert!(is_member(&second, "ann") && !is_member(&first, "ann"));
    let types = second.graph(&declared).expect("sound types");
    assert!(Arc::ptr_eq(known.schema(), types.schema()), "the types stay compiled");
    // The place of the change is noted, and the graph has both changes.
    tables.note("acme", &change_member(&store, "bob", true).await).await;
    tables.note("acme", &change_member(&store, "ann", false).await).await;
    let third = tables.table("acme").await.expect("loads");
    assert!(is_member(&third, "bob") && !is_member(&third, "ann"));
    assert!(third.weight() > 0 && third.graph(&Arc::from("[]")).is_err());
}
