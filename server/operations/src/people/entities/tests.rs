//! Changes of one entity at the same time, by two processes.

use portcullis_engine::{Json, json};
use portcullis_storage::Store;
use portcullis_storage::testing::{TestDatabase, on_every_database};

use super::*;

on_every_database!(changes_at_the_same_time_lose_none);

const PLAN: (&str, &str) = ("document", "plan");

/// The change that adds a reader.
fn share(with: &str) -> EntityPatch {
    let body = format!(r#"{{"add": {{"readers": ["{with}"]}}}}"#);
    EntityPatch::parse(&json::parse(body.as_bytes()).expect("JSON"), PLAN).expect("sound")
}

async fn patched(tx: &mut Tx, change: &EntityPatch) -> EntityRecord {
    patch_in(tx, PLAN, &Precondition::None, change).await.expect("works")
}

async fn begun(store: &Store) -> Tx {
    store.write("acme", 0).await.expect("begins")
}

fn readers(record: &EntityRecord) -> Vec<&str> {
    let readers = record.properties.get("readers").and_then(Json::as_array).unwrap_or_default();
    readers.iter().filter_map(Json::as_str).collect()
}

async fn changes_at_the_same_time_lose_none(database: TestDatabase) {
    let (here, there) = (database.open().await, database.open().await);
    let mut tx = begun(&here).await;
    let body = EntityBody::parse(&json::parse(b"{}").expect("JSON"), PLAN).expect("sound");
    write_one(&mut tx, &body.entity, EntityOrigin::default()).await.expect("works");
    tx.commit().await.expect("commits");

    let (ann, bob) = (share("ann"), share("bob"));
    let mut snapshot = here.begin_read("acme").await.expect("begins");
    let stale = entities::find(&mut snapshot, PLAN.0, PLAN.1).await.expect("works");
    let mut first = begun(&here).await;
    let mut second = Box::pin(async {
        let mut tx = begun(&there).await;
        let record = patched(&mut tx, &bob).await;
        tx.commit().await.expect("commits");
        record
    });
    patched(&mut first, &ann).await;
    // It has the time of a hundred reads, and waits before its own.
    let reads = async {
        for _ in 0..100 {
            here.begin_read("acme").await.expect("begins").end().await.expect("ends");
        }
    };
    tokio::select! {
        _ = &mut second => panic!("the first change has locked the tenant"),
        () = reads => {}
    }
    first.commit().await.expect("commits");
    assert_eq!(readers(&second.await), ["ann", "bob"]);

    // Whoever reads before the lock loses a change: the test can fail.
    let stale = bob.applied_to(stale.expect("is there")).expect("fits");
    assert_eq!(stale.properties.get("readers").and_then(Json::as_array).map(<[_]>::len), Some(1));
}
