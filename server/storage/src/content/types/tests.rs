use portcullis_engine::{KnownProperty, PropertySources, json};
use portcullis_model::Authorship;
use portcullis_model::input::DeclaredBody;
use portcullis_model::quota::{Quota, Quotas};
use portcullis_model::types::TypeBody;

use super::*;
use crate::content::{content_size, plan_records};
use crate::store::StoreLimits;
use crate::testing::{TestDatabase, on_every_database};

on_every_database!(
    a_type_comes_back_as_it_went_in_and_stays_in_its_tenant,
    plans_have_the_sources_of_properties_alone,
    the_bytes_of_types_count,
);

fn record(name: &str, body: &str) -> TypeRecord {
    let json = json::parse(body.as_bytes()).expect("JSON");
    let new = TypeBody::parse(&json).and_then(|body| body.into_type(name)).expect("a type");
    new.into_record(&Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) })
}

const USER: &str = r#"{"about": "Staff", "properties": {
    "level": {"type": "number", "from": "directory"}, "mfa": {"type": "boolean", "from": "token"},
    "teams": {"type": "list<text>", "about": "Of the HR system"}}}"#;

async fn a_type_comes_back_as_it_went_in_and_stays_in_its_tenant(database: TestDatabase) {
    let db = database.open().await;
    let (user, chart) = (record("user", USER), record("chart", "{}"));
    let owned = TypeRecord {
        managed_by: Some("git:a".to_owned()),
        updated_by: Some("bob".to_owned()),
        updated_at: Some(Timestamp::from_millis(2_000)),
        ..chart.clone()
    };
    let mut tx = db.write("acme", 0).await.expect("begins");
    for new in [&user, &chart, &owned] {
        store(&mut tx, new).await.expect("works");
    }
    let committed = tx.commit().await.expect("commits");
    assert_eq!(committed.touched.map(|touched| touched.len()), Some(3));
    let mut tx = db.begin_read("acme").await.expect("begins");
    assert_eq!(all(&mut tx).await.expect("works"), [owned, user.clone()]);
    assert_eq!(find(&mut tx, "user").await.expect("works"), Some(user.clone()));
    let page = list(&mut tx, "chart", 1).await.expect("works");
    assert_eq!((page.records, page.more), (vec![user], false));
    tx.end().await.expect("ends");
    let mut other = db.write("other", 0).await.expect("begins");
    assert_eq!(all(&mut other).await.expect("works"), []);
    assert!(!delete(&mut other, "user").await.expect("works"));
    other.end().await.expect("ends");
    let mut tx = db.write("acme", 0).await.expect("begins");
    assert!(delete(&mut tx, "user").await.expect("works"));
    assert_eq!(find(&mut tx, "user").await.expect("works"), None);
}

async fn plans_have_the_sources_of_properties_alone(database: TestDatabase) {
    let db = database.open().await;
    let mut tx = db.write("acme", 0).await.expect("begins");
    store(&mut tx, &record("chart", r#"{"properties": {"a": {"type": "ip"}}}"#))
        .await
        .expect("works");
    let facts = plan_records::facts(&mut tx).await.expect("works");
    assert!(facts.sources.is_empty(), "{facts:?}");
    store(&mut tx, &record("user", USER)).await.expect("works");
    let [level, mfa] = [("level", PropertySource::Directory), ("mfa", PropertySource::Token)];
    let expected = [("user".to_owned(), [level, mfa].map(|(name, from)| (name.to_owned(), from)))];
    let expected: PropertySources = expected.into_iter().collect();
    let facts = plan_records::facts(&mut tx).await.expect("works");
    assert_eq!(facts.sources, expected);
    let comment = r#"{"properties": {"ticket": {"type": "ref<ticket>"},
        "author": {"type": "ref<user>", "from": "directory"}, "text": {"type": "text"}}}"#;
    store(&mut tx, &record("comment", comment)).await.expect("works");
    let known =
        |name: &str, to: &str, from| (name.to_owned(), KnownProperty { from, to: Some(to.into()) });
    let directory = Some(PropertySource::Directory);
    let comment = vec![known("author", "user", directory), known("ticket", "ticket", None)];
    let user = [level, mfa].map(|(name, from)| (name.to_owned(), from.into())).to_vec();
    let expected = [("comment".to_owned(), comment), ("user".to_owned(), user)];
    let expected: PropertySources = expected.into_iter().collect();
    let facts = plan_records::facts(&mut tx).await.expect("works");
    assert_eq!(facts.sources, expected);
}

async fn the_bytes_of_types_count(database: TestDatabase) {
    let used = async |tx: &mut Tx| {
        const SQL: &str = "SELECT used_bytes FROM tenants WHERE id = $1";
        fetch_optional!(tx, (i64,), SQL, &tx.tenant).expect("works").map(|(bytes,)| bytes)
    };
    let db = database.open().await;
    let mut tx = db.write("acme", 0).await.expect("begins");
    store(&mut tx, &record("user", USER)).await.expect("works");
    let of_definition = content_size::bytes(&mut tx).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = db.write("acme", 0).await.expect("begins");
    let stored = used(&mut tx).await.expect("a tenant");
    assert!(stored > of_definition && of_definition > 100, "{stored} {of_definition}");
    store(&mut tx, &record("user", "{}")).await.expect("works");
    delete(&mut tx, "user").await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = db.begin_read("acme").await.expect("begins");
    assert_eq!(used(&mut tx).await, Some(0));
    tx.end().await.expect("ends");
    let quotas = Quotas::NONE.with(Quota::StoredBytes, Some(of_definition.unsigned_abs()));
    let db = db.with_limits(StoreLimits { quotas, ..StoreLimits::default() });
    let mut tx = db.write("acme", 0).await.expect("begins");
    store(&mut tx, &record("user", USER)).await.expect("works");
    assert!(matches!(tx.commit().await, Err(StoreError::Quota(_))));
}
