//! The numbers are those of the records, whatever writes them, and the quota refuses what grows.

use portcullis_engine::{Effect, ResourcePattern, RuleTuple, json};
use portcullis_model::policy::{NewPolicy, PolicyRecord};
use portcullis_model::quota::Quotas;
use portcullis_model::rule::{NewRule, RuleOrigin, RuleRecord};
use portcullis_model::{Authorship, Timestamp};
use uuid::Uuid;

use super::*;
use crate::content::bulk::{RecordWrite, write_policies, write_rules};
use crate::content::quotas::{policy_bytes, rule_bytes};
use crate::content::{policies, rules};
use crate::store::{Store, StoreLimits};
use crate::testing::{TestDatabase, on_every_database};
use crate::transactions::macros::fetch_all;

on_every_database!(
    the_numbers_are_those_of_the_records,
    each_pattern_has_the_quota_and_who_is_above_it_may_shrink,
);

const TENANT: &str = "acme";

fn by() -> Authorship {
    Authorship { actor: "ann".to_owned(), at: Timestamp::from_millis(1_000) }
}

fn rule(id: u128, obj: &str) -> RuleRecord {
    let obj = ResourcePattern::parse(obj).expect("a pattern");
    let (dom, act) = ("acme".to_owned(), "read".to_owned());
    let new = NewRule {
        tuple: RuleTuple { sub: format!("rôle-{id}"), dom, obj, act },
        effect: Effect::Allow,
    };
    new.into_record(Uuid::from_u128(id), RuleOrigin::Explicit, &by())
}

fn policy(id: u128, resource: &str, name: &str) -> PolicyRecord {
    let body = format!(
        r#"{{"name": "{name}", "description": "ü", "resource": "{resource}", "effect": "deny", "priority": 1,
        "rule_data": {{"type": "CONDITION", "attribute": "user.a", "operator": "exists"}}}}"#
    );
    let body = json::parse(body.as_bytes()).expect("JSON");
    NewPolicy::parse(&body).expect("valid").into_record(Uuid::from_u128(id), TENANT, &by())
}

/// Returns the stored numbers.
async fn sizes(store: &Store) -> Vec<(String, i64)> {
    const SQL: &str = "SELECT pattern, bytes FROM plan_sizes WHERE tenant_id = $1 ORDER BY pattern";
    let mut tx = store.begin_read(TENANT).await.expect("begins");
    fetch_all!(tx, (String, i64), SQL, TENANT).expect("works")
}

fn expected(sizes: &[(&str, i64)]) -> Vec<(String, i64)> {
    sizes.iter().map(|(pattern, bytes)| ((*pattern).to_owned(), *bytes)).collect()
}

/// Writes by every function that writes rules or policies, in one transaction for each step.
async fn fill(store: &Store) {
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    assert!(rules::insert(&mut tx, &rule(1, "*")).await.expect("works"));
    assert!(!rules::insert(&mut tx, &rule(1, "*")).await.expect("exists already"));
    policies::insert(&mut tx, &policy(2, "*", "p")).await.expect("works");
    let many = (100..350).map(|id| RecordWrite::Insert(rule(id, &format!("doc-{id}:*"))));
    write_rules(&mut tx, &many.collect::<Vec<_>>(), &by()).await.expect("works");
    let both = [3, 4].map(|id| RecordWrite::Insert(policy(id, "a:b", "p")));
    write_policies(&mut tx, &both, &by()).await.expect("works");
    tx.commit().await.expect("commits");
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    let moved = RuleRecord { tuple: rule(1, "c:d").tuple, ..rule(1, "*") };
    assert!(rules::update(&mut tx, &rule(1, "*"), &moved, &by()).await.expect("works"));
    let longer = PolicyRecord { name: "a longer name".to_owned(), ..policy(3, "a:b", "p") };
    policies::update(&mut tx, &policy(3, "a:b", "p"), &longer, &by()).await.expect("works");
    policies::delete(&mut tx, &policy(4, "a:b", "p"), &by()).await.expect("works");
    let gone = (100..349).map(|id| RecordWrite::Delete(rule(id, &format!("doc-{id}:*"))));
    write_rules(&mut tx, &gone.collect::<Vec<_>>(), &by()).await.expect("works");
    rules::delete(&mut tx, &rule(77, "*"), &by()).await.expect("nothing to delete");
    tx.commit().await.expect("commits");
}

async fn the_numbers_are_those_of_the_records(database: TestDatabase) {
    let store = database.open().await;
    fill(&store).await;
    let left = [
        ("*", policy_bytes(&policy(2, "*", "p"))),
        ("a:b", policy_bytes(&policy(3, "a:b", "a longer name"))),
        ("c:d", rule_bytes(&rule(1, "c:d"))),
        ("doc-349:*", rule_bytes(&rule(349, "doc-349:*"))),
    ];
    assert_eq!(sizes(&store).await, expected(&left), "a pattern without records has no row");
}

/// Inserts the policies `ids` on `resource` in one transaction.
async fn insert(
    store: &Store,
    ids: std::ops::Range<u128>,
    resource: &str,
) -> Result<(), StoreError> {
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    for id in ids {
        policies::insert(&mut tx, &policy(id, resource, "p")).await.expect("works");
    }
    tx.commit().await.map(drop)
}

#[track_caller]
fn exceeds(written: Result<(), StoreError>, limit: u64, used: u64) {
    let pattern = Some("doc:*".to_owned());
    let expected = QuotaExcess { quota: Quota::PlanBytes, limit, used, pattern };
    assert!(
        matches!(&written, Err(StoreError::Quota(excess)) if *excess == expected),
        "{written:?}"
    );
}

async fn each_pattern_has_the_quota_and_who_is_above_it_may_shrink(database: TestDatabase) {
    let size = policy_bytes(&policy(1, "doc:*", "p")).unsigned_abs();
    let quotas = |policies: u64| {
        let quotas = Quotas::NONE.with(Quota::PlanBytes, Some(policies * size));
        StoreLimits { quotas, ..StoreLimits::default() }
    };
    let store = database.open().await.with_limits(quotas(3));
    insert(&store, 0..3, "doc:*").await.expect("exactly the quota");
    insert(&store, 10..13, "doc:b").await.expect("another resource has the quota, too");
    exceeds(insert(&store, 3..4, "doc:*").await, 3 * size, 3 * size);
    // The operator lowers the quota: what is there stays, and may shrink, go, and change places within the transaction.
    let store = store.with_limits(quotas(1));
    exceeds(insert(&store, 3..4, "doc:*").await, size, 3 * size);
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    let denied = PolicyRecord { effect: Effect::Allow, ..policy(0, "doc:*", "p") };
    policies::update(&mut tx, &policy(0, "doc:*", "p"), &denied, &by()).await.expect("works");
    policies::delete(&mut tx, &policy(1, "doc:*", "p"), &by()).await.expect("works");
    policies::insert(&mut tx, &policy(4, "doc:*", "p")).await.expect("works");
    tx.commit().await.expect("nothing grows");
    let longer = PolicyRecord { name: "pp".to_owned(), ..policy(0, "doc:*", "p") };
    let mut tx = store.write(TENANT, 0).await.expect("begins");
    policies::update(&mut tx, &denied, &longer, &by()).await.expect("works");
    exceeds(tx.commit().await.map(drop), size, 3 * size);
    // Work of the service itself is not refused, and counts.
    let mut tx = store.write_as(TENANT).await.expect("begins");
    policies::insert(&mut tx, &policy(5, "doc:*", "p")).await.expect("works");
    tx.commit().await.expect("commits");
    exceeds(insert(&store, 6..7, "doc:*").await, size, 4 * size);
}
