use portcullis_directory::{Tuple, TupleTable};
use portcullis_engine::json;
use portcullis_model::Authorship;
use portcullis_model::entity::{EntitiesBody, NewEntity};
use portcullis_model::input::DeclaredBody;
use portcullis_model::types::TypeBody;
use uuid::Uuid;

use super::*;
use crate::content::types;
use crate::people::entities::{EntityOrigin, Upsert};
use crate::people::syncs::SyncEnd;
use crate::people::{entities, syncs as directory_syncs};
use crate::testing::{TestDatabase, on_every_database};
use crate::transactions::tx::Inner;
use crate::{Committed, Store, StoreError, Tx};

on_every_database!(
    tuples_are_listed_by_each_part_and_stay_in_their_tenant,
    what_does_not_change_raises_no_revision,
    a_renamed_relation_keeps_its_tuples,
    a_table_has_the_tuples_of_every_page_and_what_changed,
    entities_take_their_tuples_along,
    a_sync_deletes_what_it_did_not_name,
    shapes_count_tuples_that_are_alike,
    shapes_are_deleted_of_their_source_alone,
    a_look_up_is_planned_for_the_table_as_it_is,
);

const TENANT: &str = "acme";
const MEMBER: RelationNumber = RelationNumber(1);
const VIEWER: RelationNumber = RelationNumber(2);

/// Returns a tuple of `<object> <number> <subject>[#<number>]`.
fn tuple(text: &str) -> NumberedTuple {
    let words: Vec<&str> = text.split(' ').collect();
    let name = |text| ObjectName::parse(text).expect("a name");
    let number = |text: &str| RelationNumber(text.parse().expect("a number"));
    let (subject, related) =
        words[2].split_once('#').map_or((words[2], None), |(a, b)| (a, Some(b)));
    let key = TupleKey {
        object: name(words[0]),
        relation: number(words[1]),
        subject: name(subject),
        subject_relation: related.map(number),
    };
    NumberedTuple { key, expires_at: None }
}

fn tuples(texts: &[&str]) -> Vec<NumberedTuple> {
    texts.iter().map(|text| tuple(text)).collect()
}

fn keys(texts: &[&str]) -> Vec<TupleKey> {
    tuples(texts).into_iter().map(|tuple| tuple.key).collect()
}

async fn declare(tx: &mut Tx, kind: &str, relations: &str) {
    let json = json::parse(relations.as_bytes()).expect("JSON");
    let new = TypeBody::parse(&json).and_then(|body| body.into_type(kind)).expect("a type");
    let by = Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) };
    types::store(tx, &new.into_record(&by)).await.expect("works");
}

/// Returns a store with the relations 1, `member` of groups, and 2, `viewer` of documents.
async fn open(database: &TestDatabase) -> Store {
    let store = database.open().await;
    let mut tx = store.write(TENANT, 7).await.expect("begins");
    declare(&mut tx, "group", r#"{"relations": {"member": "[user, group#member]"}}"#).await;
    declare(&mut tx, "document", r#"{"relations": {"viewer": "[user, group#member]"}}"#).await;
    tx.commit().await.expect("commits");
    store
}

async fn put(store: &Store, texts: &[&str], origin: EntityOrigin<'_>) -> (Vec<bool>, Committed) {
    let mut tx = store.write(TENANT, 7).await.expect("begins");
    let written = write(&mut tx, &tuples(texts), origin).await.expect("works");
    (written, tx.commit().await.expect("commits"))
}

/// Lists what fits in pages of two tuples.
async fn listed(store: &Store, tenant: &str, filter: TupleFilter<'_>) -> Vec<String> {
    let mut tx = store.begin_read(tenant).await.expect("begins");
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = list(&mut tx, &filter, &after, 2).await.expect("works");
        let last = page.records.last().map(|record| record.place.clone()).unwrap_or_default();
        all.extend(page.records.into_iter().map(|one| {
            let userset = one.subject_relation.map(|name| format!("#{name}")).unwrap_or_default();
            format!("{} {} {}{userset}", one.object, one.relation, one.subject)
        }));
        if !page.more {
            return all;
        }
        after = last;
    }
}

const SHARES: [&str; 5] = [
    "document:d1 2 user:ann",
    "document:d1 2 group:eng#1",
    "document:d2 2 group:eng#1",
    "group:eng 1 user:ann",
    "group:eng 1 user:bob",
];

async fn tuples_are_listed_by_each_part_and_stay_in_their_tenant(database: TestDatabase) {
    let store = open(&database).await;
    let hr = EntityOrigin { source: Some("hr"), sync: None };
    put(&store, &SHARES[..3], EntityOrigin::default()).await;
    put(&store, &SHARES[3..], hr).await;
    let d1 = ["document:d1 viewer group:eng#member", "document:d1 viewer user:ann"];
    let members = ["group:eng member user:ann", "group:eng member user:bob"];
    let all = [&d1[..], &["document:d2 viewer group:eng#member"], &members].concat();
    let none = TupleFilter::default();
    for (filter, expected) in [
        (none, &all[..]),
        (TupleFilter { object: Some(("document", "d1")), ..none }, &d1),
        (TupleFilter { object_type: Some("document"), ..none }, &all[..3]),
        (TupleFilter { relations: Some(&[MEMBER]), ..none }, &members),
        (TupleFilter { relations: Some(&[MEMBER, VIEWER]), ..none }, &all),
        (TupleFilter { relations: Some(&[]), ..none }, &[]),
        (TupleFilter { subject: Some(("group", "eng")), ..none }, &[d1[0], all[2]]),
        (TupleFilter { source: Some("hr"), ..none }, &members),
        (
            TupleFilter { subject: Some(("user", "ann")), object_type: Some("group"), ..none },
            &members[..1],
        ),
    ] {
        assert_eq!(listed(&store, TENANT, filter).await, expected, "{filter:?}");
    }
    assert_eq!(listed(&store, "other", none).await, [""; 0]);
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    let filter = TupleFilter { object_type: Some("document"), ..none };
    assert_eq!(delete_matching(&mut tx, &filter, 2).await.expect("works"), (2, true));
    assert_eq!(delete_matching(&mut tx, &filter, 2).await.expect("works"), (1, false));
    tx.commit().await.expect("commits");
    assert_eq!(listed(&store, TENANT, none).await, members);
}

async fn what_does_not_change_raises_no_revision(database: TestDatabase) {
    let store = open(&database).await;
    let (written, first) = put(&store, &SHARES[..2], EntityOrigin::default()).await;
    assert_eq!(written, [true, true]);
    assert_eq!(first.entities.map(|position| position.revision), Some(1));
    let (written, second) = put(&store, &SHARES[..2], EntityOrigin::default()).await;
    assert_eq!((written, second.entities), (vec![false, false], None));
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    let expiring =
        NumberedTuple { expires_at: Some(Timestamp::from_millis(9)), ..tuple(SHARES[0]) };
    let origin = EntityOrigin::default();
    assert_eq!(write(&mut tx, &[expiring], origin).await.expect("works"), [true]);
    let gone = keys(&[SHARES[0], SHARES[4]]);
    assert_eq!(delete(&mut tx, &gone).await.expect("works"), [true, false]);
    let committed = tx.commit().await.expect("commits");
    assert_eq!(committed.entities.map(|position| position.revision), Some(2));
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let state = state(&mut tx).await.expect("works");
    assert_eq!((state.relations, state.entities), (1, 0));
}

async fn a_renamed_relation_keeps_its_tuples(database: TestDatabase) {
    let store = open(&database).await;
    put(&store, &SHARES[..1], EntityOrigin::default()).await;
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    let renamed = r#"{"relations": {"owner": "[user]", "reader": {"from": "[user]", "renamed_from": "viewer"}}}"#;
    declare(&mut tx, "document", renamed).await;
    // It was renamed before: the number of `owner` is not that of a relation that had another name.
    declare(&mut tx, "document", renamed).await;
    let numbered = types::relations(&mut tx).await.expect("works");
    let numbers: Vec<u16> = numbered[0].relations.iter().map(|(number, _)| number.0).collect();
    assert_eq!((&*numbered[0].kind, numbers), ("document", vec![3, 2]));
    tx.commit().await.expect("commits");
    let all = listed(&store, TENANT, TupleFilter::default()).await;
    assert_eq!(all, ["document:d1 reader user:ann"]);
}

fn sorted(table: &TupleTable) -> Vec<String> {
    let mut all: Vec<String> = table.iter().map(|tuple: Tuple<'_>| format!("{tuple:?}")).collect();
    all.sort_unstable();
    all
}

async fn a_table_has_the_tuples_of_every_page_and_what_changed(database: TestDatabase) {
    let store = open(&database).await;
    let all: Vec<String> =
        (0..10_500).map(|n| format!("document:1:é\n{n} 2 user:u{}", n % 7)).collect();
    for part in all.chunks(1_000) {
        let texts: Vec<&str> = part.iter().map(String::as_str).collect();
        put(&store, &texts, EntityOrigin::default()).await;
    }
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    let before = table(&mut tx).await.expect("works").expect("fits");
    assert_eq!(before.len(), 10_500);
    let revision = state(&mut tx).await.expect("works").position.revision;
    tx.end().await.expect("ends");
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    let expires_at = Some(Timestamp::from_millis(-5));
    let expiring = NumberedTuple { expires_at, ..tuple("group:eng 1 group:ops#1") };
    let written = [expiring, tuple("document:x 2 user:ann")];
    write(&mut tx, &written, EntityOrigin::default()).await.expect("works");
    delete(&mut tx, &keys(&[&all[3]])).await.expect("works");
    let changed = changed_table(&mut tx, &before, revision).await.expect("works");
    let changed = changed.expect("few changes").expect("fits");
    let whole = table(&mut tx).await.expect("works").expect("fits");
    assert_eq!((changed.len(), sorted(&changed)), (10_501, sorted(&whole)));
    let expiring = whole.iter().find(|tuple| tuple.relation == MEMBER).expect("there");
    assert_eq!(expiring.expires_at.map(|at| at.timestamp_millis()), Some(-5));
    assert_eq!(expiring.subject_relation, Some(MEMBER));
}

async fn write_entities(store: &Store, sent: &str, origin: EntityOrigin<'_>) {
    let json = json::parse(sent.as_bytes()).expect("JSON");
    let entities: Vec<NewEntity> = EntitiesBody::parse(&json).expect("sound").entities;
    let mut tx = store.write(TENANT, 7).await.expect("begins");
    let upsert = Upsert::compare(&mut tx, &entities, origin).await.expect("works");
    upsert.write(&mut tx).await.expect("works");
    tx.commit().await.expect("commits");
}

async fn entities_take_their_tuples_along(database: TestDatabase) {
    let store = open(&database).await;
    put(&store, &SHARES, EntityOrigin::default()).await;
    let hr = EntityOrigin { source: Some("hr"), sync: None };
    write_entities(&store, r#"{"entities": [{"type": "user", "id": "bob"}]}"#, hr).await;
    write_entities(
        &store,
        r#"{"entities": [{"type": "group", "id": "eng"}]}"#,
        EntityOrigin::default(),
    )
    .await;
    // The end of a sync deletes entities, too.
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    let id = Uuid::from_u128(7);
    directory_syncs::begin(&mut tx, &entities::syncs::SYNCS, "hr", id).await.expect("works");
    assert_eq!(
        entities::syncs::finish(&mut tx, SyncEnd { source: "hr", id, most: 9 })
            .await
            .expect("works"),
        Ok(1)
    );
    tx.commit().await.expect("commits");
    assert_eq!(listed(&store, TENANT, TupleFilter::default()).await.len(), 4);
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    assert!(entities::delete(&mut tx, "group", "eng").await.expect("works"));
    tx.commit().await.expect("commits");
    let left = listed(&store, TENANT, TupleFilter::default()).await;
    assert_eq!(left, ["document:d1 viewer user:ann"]);
    // More of them than one call may delete.
    write_entities(&store, r#"{"entities": [{"type": "user", "id": "ann"}]}"#, hr).await;
    let many: Vec<String> = (0..10_000).map(|n| format!("document:x{n} 2 user:ann")).collect();
    for part in many.chunks(1_000) {
        let texts: Vec<&str> = part.iter().map(String::as_str).collect();
        put(&store, &texts, EntityOrigin::default()).await;
    }
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    let refused = entities::delete(&mut tx, "user", "ann").await;
    assert!(matches!(refused, Err(StoreError::TooManyTuples { limit: 10_000 })), "{refused:?}");
}

async fn a_sync_deletes_what_it_did_not_name(database: TestDatabase) {
    let store = open(&database).await;
    let hr = EntityOrigin { source: Some("hr"), sync: None };
    put(&store, &SHARES[..1], EntityOrigin::default()).await;
    put(&store, &SHARES[1..], hr).await;
    let id = Uuid::from_u128(7);
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    directory_syncs::begin(&mut tx, &syncs::SYNCS, "hr", id).await.expect("works");
    let sync = EntityOrigin { source: Some("hr"), sync: Some(id) };
    let written = write(&mut tx, &tuples(&SHARES[1..2]), sync).await.expect("works");
    assert_eq!(written, [false]);
    let open = directory_syncs::OpenSync { id, records: 4 };
    let current = directory_syncs::current(&mut tx, &syncs::SYNCS, "hr").await;
    assert_eq!(current.expect("works"), Some(open));
    assert_eq!(
        syncs::finish(&mut tx, SyncEnd { source: "hr", id, most: 2 }).await.expect("works"),
        Err(3)
    );
    assert_eq!(
        syncs::finish(&mut tx, SyncEnd { source: "hr", id, most: 3 }).await.expect("works"),
        Ok(3)
    );
    assert_eq!(directory_syncs::count(&mut tx, &syncs::SYNCS).await.expect("works"), 0);
    tx.commit().await.expect("commits");
    let left = listed(&store, TENANT, TupleFilter::default()).await;
    assert_eq!(left, ["document:d1 viewer group:eng#member", "document:d1 viewer user:ann"]);
}

async fn shapes_count_tuples_that_are_alike(database: TestDatabase) {
    let store = open(&database).await;
    put(&store, &SHARES, EntityOrigin::default()).await;
    put(&store, &["document:d3 2 user:ann", "document:d3 2 user:*"], EntityOrigin::default()).await;
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let mut counted = shapes(&mut tx, "document", Some("hr")).await.expect("works");
    counted.sort_unstable_by_key(|shape| (shape.is_everybody, shape.subject_type.clone()));
    let shape = |subject_type: &str, is_everybody, subject_relation, count| TupleShape {
        object_type: "document".to_owned(),
        relation: VIEWER,
        subject_type: subject_type.to_owned(),
        is_everybody,
        subject_relation,
        count,
        of_source: 0,
    };
    let expected = [
        shape("group", false, Some(MEMBER), 2),
        shape("user", false, None, 2),
        shape("user", true, None, 1),
    ];
    assert_eq!(counted, expected);
    assert_eq!(shapes(&mut tx, "folder", None).await.expect("works"), []);
}

async fn shapes_are_deleted_of_their_source_alone(database: TestDatabase) {
    let store = open(&database).await;
    put(&store, &SHARES, EntityOrigin { source: Some("hr"), sync: None }).await;
    put(&store, &["document:d9 2 group:eng#1"], EntityOrigin::default()).await;
    let mut tx = store.write(TENANT, 8).await.expect("begins");
    assert_eq!(count_of(&mut tx, "hr").await.expect("works"), SHARES.len());
    let counted = shapes(&mut tx, "document", Some("hr")).await.expect("works");
    let of_groups: Vec<TupleShape> =
        counted.into_iter().filter(|shape| shape.subject_relation.is_some()).collect();
    assert_eq!((of_groups.len(), of_groups[0].count, of_groups[0].of_source), (1, 3, 2));
    assert_eq!(delete_shapes(&mut tx, "hr", &of_groups).await.expect("works"), 2);
    tx.commit().await.expect("commits");
    let filter = TupleFilter { object_type: Some("document"), ..TupleFilter::default() };
    let left = listed(&store, TENANT, filter).await;
    assert!(left.contains(&"document:d9 viewer group:eng#member".to_owned()), "{left:?}");
    assert_eq!(left.iter().filter(|tuple| tuple.contains("group:eng")).count(), 1, "{left:?}");
}

/// A plan that PostgreSQL keeps from the time when the table was empty walks the tenant when it is full.
async fn a_look_up_is_planned_for_the_table_as_it_is(database: TestDatabase) {
    let store = open(&database).await;
    let mut tx = store.write(TENANT, 7).await.expect("begins");
    for number in 0..10 {
        let tuple = tuples(&[&format!("document:d{number} 2 user:ann")]);
        write(&mut tx, &tuple, EntityOrigin::default()).await.expect("works");
    }
    let Inner::Postgres(connection) = &mut tx.inner else { return };
    let kept: Vec<(String,)> = sqlx::query_as("SELECT statement FROM pg_prepared_statements")
        .fetch_all(&mut **connection)
        .await
        .expect("works");
    let has_look_up = kept.iter().any(|(text,)| text.contains("CROSS JOIN LATERAL"));
    assert!(!kept.is_empty() && !has_look_up, "{kept:?}");
}
