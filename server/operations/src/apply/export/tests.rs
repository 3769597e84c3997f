//! An export is one snapshot, and a part of it never counts as the whole.

use std::time::Duration;

use bytes::Bytes;
use portcullis_engine::{Effect, ResourcePattern, RuleTuple, json};
use portcullis_model::policy::NewPolicy;
use portcullis_model::resource::{Registration, ResourceRecord};
use portcullis_model::rule::{NewRule, RuleOrigin};
use portcullis_model::{Authorship, Timestamp};
use portcullis_storage::testing::{TestDatabase, on_every_database};
use portcullis_storage::{Store, policies, resources, rules};
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

use super::*;

on_every_database!(
    the_text_is_the_content_in_the_order_of_names,
    an_export_is_one_snapshot_while_others_write,
    who_does_not_take_the_pieces_loses_the_export_and_frees_its_connection,
    who_does_not_take_a_piece_loses_the_export_long_before_its_end,
);

/// Policies whose texts are several pieces.
const MANY: u128 = 40;

fn by() -> Authorship {
    Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) }
}

async fn insert_policy(tx: &mut Tx, id: u128, name: &str, value: &str) {
    let body = format!(
        r#"{{"name": "{name}", "resource": "doc:*", "effect": "deny", "priority": 1, "rule_data":
        {{"type": "CONDITION", "attribute": "user.a", "operator": "eq", "value": "{value}"}}}}"#
    );
    let body = json::parse(body.as_bytes()).expect("JSON");
    let policy = NewPolicy::parse(&body).expect("valid");
    let policy = policy.into_record(Uuid::from_u128(id), "acme", &by());
    policies::insert(tx, &policy).await.expect("works");
}

async fn insert_rule(tx: &mut Tx, id: u128, obj: &str, sub: &str, origin: RuleOrigin) {
    let obj = ResourcePattern::parse(obj).expect("a pattern");
    let (sub, dom, act) = (sub.to_owned(), "acme".to_owned(), "read".to_owned());
    let new = NewRule { tuple: RuleTuple { sub, dom, obj, act }, effect: Effect::Allow };
    let rule = new.into_record(Uuid::from_u128(id), origin, &by());
    assert!(rules::insert(tx, &rule).await.expect("works"));
}

/// A client that takes pieces, and what stops the export.
struct Client {
    pieces: mpsc::Receiver<Option<Bytes>>,
    stop: watch::Sender<Option<Stop>>,
    revision: u64,
}

impl Client {
    /// Takes a piece; `None` after the last one.
    async fn next(&mut self) -> Option<Vec<u8>> {
        Some(self.pieces.recv().await.flatten()?.to_vec())
    }

    /// Takes what is left of an export.
    async fn rest(&mut self) -> String {
        let mut text = Vec::new();
        while let Some(piece) = self.next().await {
            text.extend(piece);
        }
        String::from_utf8(text).expect("UTF-8")
    }
}

/// Begins an export for a client that has `stall` for each piece.
async fn begun(
    store: &Store,
    stall: Duration,
) -> (Client, impl Future<Output = Result<(), BrokenOff>> + use<>) {
    let tx = store.begin_read("acme").await.expect("begins");
    let snapshot = Snapshot::begin(tx, None, "acme".to_owned()).await.expect("begins");
    let ((sender, pieces), (stop, stopped)) = (mpsc::channel(1), watch::channel(None));
    let client = Client { pieces, stop, revision: snapshot.revision };
    (client, snapshot.write(PieceWriter::new(sender, stopped, stall)))
}

/// More than a test lasts.
const FAR: Duration = Duration::from_secs(600);

async fn the_text_is_the_content_in_the_order_of_names(database: TestDatabase) {
    let store = database.open().await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    for (id, name) in [(1, "b:read"), (2, "B:read"), (3, "a:read")] {
        let registration = Registration {
            name: name.to_owned(),
            display_name: None,
            service_name: None,
            default_roles: Vec::new(),
        };
        let record = ResourceRecord {
            id: Uuid::from_u128(id),
            tenant_id: "acme".to_owned(),
            registration,
            created_at: by().at,
            updated_at: None,
            managed_by: None,
        };
        resources::upsert(&mut tx, None, &record, &by()).await.expect("works");
    }
    insert_rule(&mut tx, 4, "doc:read", "ann", RuleOrigin::Explicit).await;
    insert_rule(&mut tx, 5, "*", "zoe", RuleOrigin::Explicit).await;
    insert_rule(&mut tx, 6, "a:read", "staff", RuleOrigin::DefaultRole).await;
    insert_policy(&mut tx, 7, "p", "x").await;
    insert_policy(&mut tx, 8, "P", "y").await;
    insert_policy(&mut tx, 9, "p", "z").await;
    tx.commit().await.expect("commits");
    let policy = |name: &str, value: &str| {
        format!(
            r#"{{"name":"{name}","resource":"doc:*","effect":"deny","priority":1,"rule_data":{{"type":"CONDITION","attribute":"user.a","operator":"eq","value":"{value}"}}}}"#
        )
    };
    let expected = format!(
        r#"{{"revision":1,"bundle":{{"resources":[{{"name":"B:read"}},{{"name":"a:read"}},{{"name":"b:read"}}],"rules":[{{"sub":"zoe","obj":"*","act":"read","effect":"allow"}},{{"sub":"ann","obj":"doc:read","act":"read","effect":"allow"}}],"roles":[],"types":[],"conditions":[],"policies":[{},{},{}],"resolvers":[],"webhooks":[],"settings":{},"cases":[],"users":[]}}}}"#,
        policy("P", "y"),
        policy("p", "x"),
        policy("p", "z"),
        serde_json::to_string(&portcullis_model::settings::TenantSettings::default())
            .expect("JSON"),
    );
    let (mut client, work) = begun(&store, FAR).await;
    let (text, done) = tokio::join!(client.rest(), work);
    done.expect("it ends");
    assert_eq!((client.revision, text), (1, expected));
}

async fn fill(store: &Store, value: &str) {
    let mut tx = store.write("acme", 0).await.expect("begins");
    for id in 0..MANY {
        insert_policy(&mut tx, id + 1, &format!("p{id:03}"), &value.repeat(PIECE / 4)).await;
    }
    tx.commit().await.expect("commits");
}

async fn an_export_is_one_snapshot_while_others_write(database: TestDatabase) {
    let store = database.open().await;
    fill(&store, "v").await;
    let (mut client, work) = begun(&store, FAR).await;
    let work = tokio::spawn(work);
    let first = client.next().await.expect("a piece");
    let mut tx = store.write("acme", 0).await.expect("begins");
    for id in 0..MANY {
        let policy = policies::find(&mut tx, Uuid::from_u128(id + 1)).await.expect("works");
        policies::delete(&mut tx, &policy.expect("is there"), &by()).await.expect("works");
    }
    tx.commit().await.expect("commits while the export reads");
    let text = String::from_utf8(first).expect("UTF-8") + &client.rest().await;
    work.await.expect("no panic").expect("it ends");
    let exported: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let policies = exported["bundle"]["policies"].as_array().expect("a list");
    assert_eq!((policies.len() as u128, &exported["revision"]), (MANY, &1.into()));
}

async fn who_does_not_take_the_pieces_loses_the_export_and_frees_its_connection(
    database: TestDatabase,
) {
    let store = database.open().await;
    fill(&store, "v").await;
    // More exports than there are connections: each gives its own back.
    for _ in 0..20 {
        let (client, work) = begun(&store, FAR).await;
        client.stop.send_replace(Some(Stop::TimeIsOver));
        assert!(matches!(work.await, Err(BrokenOff::Stopped(Stop::TimeIsOver))));
        let (client, work) = begun(&store, FAR).await;
        let Client { pieces, stop: _stop, .. } = client;
        drop(pieces);
        assert!(matches!(work.await, Err(BrokenOff::Stopped(Stop::Gone))));
    }
}

async fn who_does_not_take_a_piece_loses_the_export_long_before_its_end(database: TestDatabase) {
    let store = database.open().await;
    fill(&store, "v").await;
    let (_client, work) = begun(&store, Duration::ZERO).await;
    let stopped = tokio::time::timeout(FAR, work).await.expect("it waits for no more pieces");
    assert!(matches!(stopped, Err(BrokenOff::Stopped(Stop::TooSlow))));
}
