//! Quotas are exact, also under concurrency, and the numbers are those of the records.

use portcullis_engine::{Effect, ResourcePattern, RuleTuple, json};
use portcullis_model::policy::{NewPolicy, PolicyUpdate};
use portcullis_model::quota::Quotas;
use portcullis_model::resource::Registration;
use portcullis_model::rule::{NewRule, RuleOrigin};
use portcullis_model::service_key::NewServiceKey;
use portcullis_model::webhook::{EventType, WebhookRecord};
use portcullis_model::{Authorship, Timestamp};
use uuid::Uuid;

use super::*;
use crate::content::{policies, resources, rules};
use crate::delivery::webhooks;
use crate::store::{Store, StoreLimits};
use crate::tenancy::service_keys;
use crate::testing::{TestDatabase, on_every_database};

on_every_database!(
    a_quota_is_exact_however_many_write_at_once,
    without_quotas_each_write_succeeds,
    who_is_above_a_quota_may_keep_and_delete_but_not_add,
    each_kind_of_record_has_its_quota,
    the_numbers_are_those_of_the_records,
    bytes_count_when_they_grow,
);

const TENANT: &str = "acme";

fn by() -> Authorship {
    Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) }
}

fn rule(id: u128) -> RuleRecord {
    let tuple = RuleTuple {
        sub: format!("rôle-{id}"),
        dom: "acme".to_owned(),
        obj: ResourcePattern::parse("doc:read").expect("a pattern"),
        act: "read".to_owned(),
    };
    let new = NewRule { tuple, effect: Effect::Allow };
    new.into_record(Uuid::from_u128(id), RuleOrigin::Explicit, &by())
}

fn policy(id: u128) -> PolicyRecord {
    let body = r#"{"name": "p", "description": "ü", "resource": "doc:*", "effect": "deny", "priority": 1,
        "rule_data": {"type": "CONDITION", "attribute": "user.a", "operator": "exists"}}"#;
    let body = json::parse(body.as_bytes()).expect("JSON");
    NewPolicy::parse(&body).expect("valid").into_record(Uuid::from_u128(id), TENANT, &by())
}

fn resource(id: u128, roles: &[&str]) -> ResourceRecord {
    let registration = Registration {
        name: format!("doc-{id}:read"),
        display_name: Some("Lesén".to_owned()),
        service_name: None,
        default_roles: roles.iter().map(|role| (*role).to_owned()).collect(),
    };
    ResourceRecord {
        id: Uuid::from_u128(id),
        tenant_id: TENANT.to_owned(),
        registration,
        created_at: by().at,
        updated_at: None,
        managed_by: None,
    }
}

fn webhook(id: u128) -> WebhookRecord {
    WebhookRecord {
        id: Uuid::from_u128(id),
        url: "https://hooks.example/".to_owned(),
        events: vec![EventType::AccessDenied],
        tenant_id: TENANT.to_owned(),
        created_by: "ann".to_owned(),
        created_at: by().at,
        updated_at: None,
        managed_by: None,
    }
}

fn with(store: Store, quotas: Quotas) -> Store {
    store.with_limits(StoreLimits { quotas, ..StoreLimits::default() })
}

/// Inserts the rules with these ids in one transaction.
async fn insert_rules(store: &Store, ids: std::ops::Range<u128>) -> Result<(), StoreError> {
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    for id in ids {
        assert!(rules::insert(&mut tx, &rule(id)).await.expect("works"));
    }
    tx.commit().await.map(drop)
}

/// Returns the numbers of the tenant.
async fn used(store: &Store) -> PerQuota<i64> {
    const SQL: &str = "SELECT used_webhooks, used_policies, used_rules, used_resources, \
        used_service_keys, used_resolvers, used_entities, used_relations, used_bytes FROM tenants WHERE id = $1";
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    let used = fetch_optional!(tx, Used, SQL, TENANT).expect("works").expect("a tenant");
    let used: [i64; 9] = used.into();
    let used = Quota::VARIANTS.iter().zip(used);
    used.fold(PerQuota::default(), |all, (quota, used)| all.with(*quota, used))
}

/// Twenty writers with three rules each. Returns the number of those that succeeded.
async fn successes(store: &Store) -> usize {
    let writers = (0..20).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move { insert_rules(&store, 3 * writer..3 * writer + 3).await })
    });
    let mut successes = 0;
    for writer in writers.collect::<Vec<_>>() {
        match writer.await.expect("no panic") {
            Ok(()) => successes += 1,
            Err(StoreError::Quota(excess)) => {
                let expected =
                    QuotaExcess { quota: Quota::Rules, limit: 20, used: 18, pattern: None };
                assert_eq!(excess, expected);
            }
            Err(error) => panic!("{error}"),
        }
    }
    successes
}

async fn a_quota_is_exact_however_many_write_at_once(database: TestDatabase) {
    let quotas = Quotas::NONE.with(Quota::Rules, Some(20));
    let store = with(database.open().await, quotas);
    assert_eq!(successes(&store).await, 6);
    assert_eq!(used(&store).await.get(Quota::Rules), 18);
    insert_rules(&store, 100..102).await.expect("exactly the quota");
}

async fn without_quotas_each_write_succeeds(database: TestDatabase) {
    let store = database.open().await;
    assert_eq!(successes(&store).await, 20);
    assert_eq!(used(&store).await.get(Quota::Rules), 60);
}

async fn who_is_above_a_quota_may_keep_and_delete_but_not_add(database: TestDatabase) {
    let store = database.open().await;
    insert_rules(&store, 0..10).await.expect("no quota yet");
    let store = with(store, Quotas::NONE.with(Quota::Rules, Some(5)));
    let refused = insert_rules(&store, 10..11).await;
    let expected = QuotaExcess { quota: Quota::Rules, limit: 5, used: 10, pattern: None };
    assert!(matches!(refused, Err(StoreError::Quota(excess)) if excess == expected));
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    let changed = RuleRecord { effect: Effect::Deny, ..rule(1) };
    assert!(rules::update(&mut tx, &rule(1), &changed, &by()).await.expect("works"));
    rules::delete(&mut tx, &rule(2), &by()).await.expect("works");
    tx.commit().await.expect("commits");
    // A transaction that adds as much as it deletes is allowed, too.
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    rules::delete(&mut tx, &rule(3), &by()).await.expect("works");
    assert!(rules::insert(&mut tx, &rule(20)).await.expect("works"));
    tx.commit().await.expect("commits");
    assert_eq!(used(&store).await.get(Quota::Rules), 9);
    // Work of the service itself is not refused.
    let mut tx = store.write_as(TENANT).await.expect("begins");
    assert!(rules::insert(&mut tx, &rule(21)).await.expect("works"));
    tx.commit().await.expect("commits");
}

async fn each_kind_of_record_has_its_quota(database: TestDatabase) {
    let zero =
        Quota::VARIANTS.iter().fold(Quotas::NONE, |quotas, quota| quotas.with(*quota, Some(0)));
    let zero = zero.with(Quota::StoredBytes, None).with(Quota::PlanBytes, None);
    let store = with(database.open().await, zero);
    let (key, _) = NewServiceKey::named("ci").issue(Uuid::from_u128(7), &by());
    for quota in Quota::VARIANTS.iter().copied() {
        let mut tx = store.write(TENANT, 0).await.expect("begins");
        let written = match quota {
            Quota::Webhooks => webhooks::insert(&mut tx, &webhook(1), b"s").await,
            Quota::Policies => policies::insert(&mut tx, &policy(1)).await,
            Quota::Rules => rules::insert(&mut tx, &rule(1)).await.map(drop),
            Quota::Resources => resources::upsert(&mut tx, None, &resource(1, &[]), &by()).await,
            Quota::ServiceKeys => service_keys::insert(&mut tx, &key).await,
            // Other tests have them.
            Quota::Resolvers
            | Quota::Entities
            | Quota::Relations
            | Quota::StoredBytes
            | Quota::PlanBytes => continue,
        };
        written.expect("works");
        let refused = tx.commit().await.map(drop);
        let expected = QuotaExcess { quota, limit: 0, used: 0, pattern: None };
        assert!(matches!(refused, Err(StoreError::Quota(excess)) if excess == expected));
    }
    assert_eq!(used_or_nothing(&store).await, PerQuota::default());
}

/// Returns the numbers of the tenant; zeros if it does not exist.
async fn used_or_nothing(store: &Store) -> PerQuota<i64> {
    store.write(TENANT, 0).await.expect("begins").commit().await.expect("commits");
    used(store).await
}

async fn the_numbers_are_those_of_the_records(database: TestDatabase) {
    let store = database.open().await;
    insert_rules(&store, 0..5).await.expect("works");
    let (key, _) = NewServiceKey::named("ci").issue(Uuid::from_u128(7), &by());
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    for id in 1..4 {
        policies::insert(&mut tx, &policy(id)).await.expect("works");
        webhooks::insert(&mut tx, &webhook(id), b"s").await.expect("works");
        resources::upsert(&mut tx, None, &resource(id, &["a", "ö"]), &by()).await.expect("works");
    }
    service_keys::insert(&mut tx, &key).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    let update = json::parse(br#"{"name": "a longer name", "description": null}"#).expect("JSON");
    let update = PolicyUpdate::parse(&update).expect("valid");
    let changed = update.applied_to(&policy(1)).expect("fits");
    policies::update(&mut tx, &policy(1), &changed, &by()).await.expect("works");
    policies::delete(&mut tx, &policy(2), &by()).await.expect("works");
    rules::delete(&mut tx, &rule(0), &by()).await.expect("works");
    rules::delete(&mut tx, &rule(77), &by()).await.expect("nothing to delete");
    assert!(webhooks::delete(&mut tx, Uuid::from_u128(1)).await.expect("works"));
    assert!(!webhooks::delete(&mut tx, Uuid::from_u128(9)).await.expect("works"));
    let (old, new) = (resource(1, &["a", "ö"]), resource(1, &[]));
    resources::upsert(&mut tx, Some(&old), &new, &by()).await.expect("works");
    tx.commit().await.expect("commits");
    // The record of a deleted policy is retained.
    let policies = policy_bytes(&changed) + policy_bytes(&policy(2)) + policy_bytes(&policy(3));
    let rules: i64 = (1..5).map(|id| rule_bytes(&rule(id))).sum();
    let resources: i64 =
        [new, resource(2, &["a", "ö"]), resource(3, &["a", "ö"])].iter().map(resource_bytes).sum();
    let expected = PerQuota::default()
        .with(Quota::Webhooks, 2)
        .with(Quota::Policies, 2)
        .with(Quota::Rules, 4)
        .with(Quota::Resources, 3)
        .with(Quota::ServiceKeys, 1)
        .with(Quota::StoredBytes, policies + rules + resources);
    assert_eq!(used(&store).await, expected);
}

async fn bytes_count_when_they_grow(database: TestDatabase) {
    let size = u64::try_from(policy_bytes(&policy(1))).expect("positive");
    let quotas = Quotas::NONE.with(Quota::StoredBytes, Some(size));
    let store = with(database.open().await, quotas);
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    policies::insert(&mut tx, &policy(1)).await.expect("works");
    tx.commit().await.expect("exactly the quota");
    let longer = PolicyRecord { name: "pp".to_owned(), ..policy(1) };
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    policies::update(&mut tx, &policy(1), &longer, &by()).await.expect("works");
    let refused = tx.commit().await.map(drop);
    let expected =
        QuotaExcess { quota: Quota::StoredBytes, limit: size, used: size, pattern: None };
    assert!(matches!(refused, Err(StoreError::Quota(excess)) if excess == expected));
    // The record of a deleted policy is retained, and still counts.
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    policies::delete(&mut tx, &policy(1), &by()).await.expect("works");
    tx.commit().await.expect("commits");
    let kept = i64::try_from(size).expect("small");
    assert_eq!(used(&store).await, PerQuota::default().with(Quota::StoredBytes, kept));
}
