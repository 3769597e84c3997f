//! The storage suite: what every database behind [`Store`] must do.

use portcullis_engine::{Effect, Json, RuleTuple, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::model::policy::NewPolicy;
use crate::model::resource::Registration;
use crate::model::rule::{NewRule, Origin, RuleRecord};
use crate::model::{Authorship, Timestamp};

async fn open(dir: &TempDir) -> Store {
    let path = dir.path().join("test.db");
    Store::open(&format!("sqlite://{}", path.display())).await.expect("opens")
}

fn by() -> Authorship {
    Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) }
}

fn rule(id: u128, obj: &str) -> RuleRecord {
    let tuple = RuleTuple {
        sub: "reader".to_owned(),
        dom: "acme".to_owned(),
        obj: ResourcePattern::parse(obj).expect("a pattern"),
        act: "read".to_owned(),
    };
    NewRule { tuple, effect: Effect::Allow }.into_record(
        Uuid::from_u128(id),
        Origin::Explicit,
        &by(),
    )
}

fn object(text: &str) -> Json<'static> {
    json::parse(text.as_bytes()).expect("JSON").into_owned()
}

async fn insert(store: &Store, tenant: &str, rule: &RuleRecord) -> Committed {
    let mut tx = store.write(tenant, 0).await.expect("begins");
    assert!(rules::insert(&mut tx, rule).await.expect("works"), "the tuple must be free");
    tx.commit().await.expect("commits")
}

#[tokio::test]
async fn a_commit_raises_the_revision_by_one_whatever_it_holds() {
    let dir = TempDir::new().expect("a directory");
    let store = open(&dir).await;
    assert_eq!(insert(&store, "acme", &rule(1, "doc:read")).await.revision, 1);
    let mut tx = store.write("acme", 0).await.expect("begins");
    for id in 2..5 {
        rules::insert(&mut tx, &rule(id, &format!("doc:{id}"))).await.expect("works");
    }
    let committed = tx.commit().await.expect("commits");
    assert_eq!((committed.revision, committed.touched.map(|touched| touched.len())), (2, Some(3)));
    let nothing = store.write("acme", 0).await.expect("begins").commit().await.expect("commits");
    assert_eq!((nothing.revision, nothing.touched), (2, None));
    assert_eq!(insert(&store, "other", &rule(1, "doc:read")).await.revision, 1);
}

#[tokio::test]
async fn what_is_dropped_is_rolled_back_and_what_is_committed_survives_a_restart() {
    let dir = TempDir::new().expect("a directory");
    let store = open(&dir).await;
    insert(&store, "acme", &rule(1, "doc:read")).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    rules::insert(&mut tx, &rule(2, "doc:write")).await.expect("works");
    drop(tx);
    store.close().await;
    let store = open(&dir).await;
    let mut tx = store.read("acme").await.expect("begins");
    assert!(rules::find(&mut tx, Uuid::from_u128(1)).await.expect("works").is_some());
    assert!(rules::find(&mut tx, Uuid::from_u128(2)).await.expect("works").is_none());
    assert_eq!(tenants::revision(&mut tx).await.expect("works"), 1);
}

#[tokio::test]
async fn tenants_with_the_same_ids_and_tuples_do_not_meet() {
    let dir = TempDir::new().expect("a directory");
    let store = open(&dir).await;
    let own = rule(1, "doc:read");
    insert(&store, "a", &own).await;
    insert(&store, "b", &own).await;
    let mut tx = store.write("a", 0).await.expect("begins");
    let mut changed = own.clone();
    changed.effect = Effect::Deny;
    assert!(rules::update(&mut tx, &own, &changed).await.expect("works"));
    tx.commit().await.expect("commits");
    let mut tx = store.write("a", 0).await.expect("begins");
    rules::delete(&mut tx, &changed).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.read("b").await.expect("begins");
    let found = rules::find(&mut tx, own.id).await.expect("works").expect("untouched");
    assert_eq!(found.effect, Effect::Allow);
    assert_eq!(rules::matching(&mut tx, "doc:read").await.expect("works").len(), 1);
}

#[tokio::test]
async fn a_tuple_has_one_rule() {
    let dir = TempDir::new().expect("a directory");
    let store = open(&dir).await;
    insert(&store, "acme", &rule(1, "doc:read")).await;
    insert(&store, "acme", &rule(2, "doc:write")).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    assert!(!rules::insert(&mut tx, &rule(3, "doc:read")).await.expect("works"));
    let moved = RuleRecord { id: Uuid::from_u128(2), ..rule(2, "doc:read") };
    let refused = !rules::update(&mut tx, &rule(2, "doc:write"), &moved).await.expect("works");
    assert!(refused);
    assert_eq!(tx.commit().await.expect("commits").revision, 2, "nothing changed");
}

#[tokio::test]
async fn a_plan_gets_the_patterns_that_match_and_the_policies_that_count() {
    let dir = TempDir::new().expect("a directory");
    let store = open(&dir).await;
    let mut tx = store.write("acme", 0).await.expect("begins");
    for (id, obj) in [(1, "doc:read"), (2, "doc:*"), (3, "*"), (4, "doc:write"), (5, "docs:*")] {
        rules::insert(&mut tx, &rule(id, obj)).await.expect("works");
    }
    let tree = r#"{"type": "CONDITION", "attribute": "user.a", "operator": "exists"}"#;
    for (id, resource, enabled) in
        [(11, "doc:read", true), (12, "doc:*", true), (13, "doc:read", false), (14, "x:y", true)]
    {
        let body = format!(
            r#"{{"name": "p", "resource": "{resource}", "effect": "deny", "priority": 1,
                "rule_data": {tree}, "enabled": {enabled}}}"#
        );
        let policy = NewPolicy::parse(&object(&body)).expect("valid");
        let record = policy.into_record(Uuid::from_u128(id), "acme", &by());
        policies::insert(&mut tx, &record).await.expect("works");
    }
    let deleted =
        policies::find(&mut tx, Uuid::from_u128(12)).await.expect("works").expect("there");
    policies::delete(&mut tx, &deleted, Timestamp::from_millis(2)).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.read("acme").await.expect("begins");
    let rules = rules::of_plan(&mut tx, "doc:read").await.expect("works");
    assert_eq!(rules.iter().map(|rule| rule.id.as_u128()).collect::<Vec<_>>(), [1, 2, 3]);
    let policies = policies::of_plan(&mut tx, "doc:read").await.expect("works");
    assert_eq!(policies.iter().map(|policy| policy.id.as_u128()).collect::<Vec<_>>(), [11]);
    assert!(policies[0].condition.is_ok());
    let listed = policies::list(&mut tx, Some("doc:read"), None).await.expect("works");
    assert_eq!(listed.len(), 2, "a disabled policy is listed, a deleted one is not");
    let filtered = policies::list(&mut tx, None, Some(Effect::Allow)).await.expect("works");
    assert!(filtered.is_empty());
}

#[tokio::test]
async fn a_registration_comes_back_as_it_went_in() {
    let dir = TempDir::new().expect("a directory");
    let store = open(&dir).await;
    let body =
        r#"{"name": "doc:read", "displayName": "Dokument \"lesen\"", "defaultRoles": ["a", "ö"]}"#;
    let registration = Registration::parse(&object(body)).expect("valid");
    let mut tx = store.write("acme", 0).await.expect("begins");
    let ids = crate::ids::Ids::new();
    let (record, created) =
        crate::registration::register(&mut tx, registration.clone(), "acme", &by(), &ids)
            .await
            .expect("works");
    tx.commit().await.expect("commits");
    assert!(created);
    let mut tx = store.read("acme").await.expect("begins");
    let found = resources::find(&mut tx, record.id).await.expect("works").expect("there");
    assert_eq!(found.registration, registration);
    assert_eq!((found.created_at.millis(), found.updated_at), (1_000, None));
}

#[tokio::test]
async fn the_read_transaction_cannot_write() {
    let dir = TempDir::new().expect("a directory");
    let store = open(&dir).await;
    insert(&store, "acme", &rule(1, "doc:read")).await;
    let mut tx = store.read("acme").await.expect("begins");
    assert!(rules::insert(&mut tx, &rule(2, "doc:write")).await.is_err());
}

#[tokio::test]
async fn a_url_of_another_database_or_an_unusable_path_is_an_error() {
    for url in ["mysql://x", "postgres", "sqlite:///nonexistent/dir/x.db", "sqlite:///proc/x.db"] {
        assert!(Store::open(url).await.is_err(), "{url}");
    }
}
